//! How a connection ends: open requests are answered, and the agent is ended.

use std::time::Duration;

use futures_util::future::OptionFuture;
use tokio::time::{Instant, timeout};

use super::Exit;
use super::conductor::{BUDGET, Conductor};
use super::pipes::LAST_OUTPUT;
use super::values::Values;
use acp_chain_channel::Peer;
use acp_chain_process::{Process, ProcessEnd, describe};
use acp_chain_router::HopIndex;
use acp_chain_rpc::{Error, code};

/// How long writing the remaining output may take.
const FLUSH: Duration = Duration::from_secs(1);

/// How long the proxies may take for the last messages of an agent that has ended.
const SETTLE: Duration = Duration::from_secs(2);

impl Conductor {
    /// Ends the connection after the client has left, or the host has to stop: answers the client's open requests, and
    /// ends the agent.
    pub async fn close(&mut self, patience: bool) -> Exit {
        self.router.log_tallies();
        self.client.ended = true;
        let text = "acp-chain: the connection ended before there was an answer";
        let error = Error::new(code::REQUEST_CANCELLED, text);
        self.router.answer_all_open(Peer::Client, &error);
        if patience {
            self.close_inputs(self.router.natives()).await;
            let outbox = self.router.outbox(Peer::Agent);
            let _ = timeout(FLUSH, self.agent.outgoing.write_all(outbox)).await;
        }
        let outbox = self.router.outbox(Peer::Client);
        let flush = timeout(FLUSH, self.client.outgoing.write_all(outbox));
        self.agent.outgoing.close();
        let ending = end(&mut self.process, patience);
        let (ended, (), _) = tokio::join!(ending, self.pipes.close(), flush);
        let Some(ended) = ended else {
            return Exit::Ended { agent: None };
        };
        tracing::info!("the agent {}", describe(ended.status));
        // An agent that the host ended did not fail.
        Exit::Ended {
            agent: ended.has_own_status().then_some(ended.status),
        }
    }

    /// Ends the connection after the agent has ended: passes on its last messages, and answers all open requests with
    /// the cause. Takes as long as the client needs to read that, or until `stop`.
    pub async fn finish_after_agent(&mut self, stop: impl Future<Output = ()>) -> Exit {
        self.settle().await;
        let reads = self.agent.outgoing.is_open();
        self.agent.outgoing.close();
        let ended = end(&mut self.process, true).await;
        let error = self.cause_of_end(ended, reads).await;
        tracing::error!("{error}");
        self.router.lose(Peer::Agent, &error);
        self.settle().await;
        let _ = timeout(SETTLE, self.await_native_answers()).await;
        let natives = self.router.natives();
        self.close_inputs(natives.into_iter().rev().collect()).await;
        self.router.log_tallies();
        self.pipes.close().await;
        self.router.answer_all_open(Peer::Client, &error);
        tokio::select! {
            _ = self.client.outgoing.write_all(self.router.outbox(Peer::Client)) => {}
            () = stop => {}
        }
        Exit::Ended {
            agent: ended.map(|ended| ended.status),
        }
    }

    /// Lets the proxies finish the messages that have arrived, for [`SETTLE`] at most.
    async fn settle(&mut self) {
        let finish = async {
            self.ask_for_proxies();
            while !self.is_idle() {
                self.router.pump(BUDGET);
                self.ask_for_proxies();
                // Proxies may never finish; the timeout needs a chance to run.
                tokio::task::yield_now().await;
                if self.router.is_ready() || self.is_idle() {
                    continue;
                }
                let (_, _, busy, ..) = self.router.split();
                let values = self.values.as_mut().map(Values::next);
                tokio::select! {
                    finished = busy => {
                        self.router.advance(Instant::now());
                        self.router.finished(finished);
                    }
                    Some(outcome) = OptionFuture::from(values) => self.value_came(outcome),
                    (number, place) = self.files.next() => self.router.located(number, place),
                }
            }
        };
        if timeout(SETTLE, finish).await.is_err() {
            tracing::warn!("the proxies did not finish all messages in time at the end");
        }
    }

    /// Waits until native proxies have answered the requests that the client still waits for.
    async fn await_native_answers(&mut self) {
        while self.router.waits_for_natives() && self.router.is_owed(Peer::Client) {
            self.router.pump(BUDGET);
            self.carry_out_orders();
            self.turn().await;
        }
    }

    /// Closes the inputs of native proxies, one after the other, and passes on the last output of each.
    async fn close_inputs(&mut self, natives: Vec<HopIndex>) {
        for hop in natives {
            self.pipes.close_input(hop);
            let last_output = async {
                while self.pipes.is_running(hop) {
                    self.router.pump(BUDGET);
                    self.turn().await;
                }
            };
            if timeout(LAST_OUTPUT, last_output).await.is_err() {
                self.pipes.end(hop);
            }
        }
    }

    async fn cause_of_end(&mut self, ended: Option<ProcessEnd>, reads: bool) -> Error {
        let how = match ended {
            Some(ended) if ended.ended_first => describe(ended.status),
            _ if !reads => "closed its input".to_owned(),
            _ => "closed its output".to_owned(),
        };
        let printed = match &mut self.process {
            Some(process) => process.last_words().await,
            None => String::new(),
        };
        let error = Error::new(code::INTERNAL_ERROR, format!("acp-chain: the agent {how}"));
        let mut data = serde_json::Map::new();
        if !printed.is_empty() {
            data.insert("stderr".to_owned(), printed.into());
        }
        // Some agents ask there for what they lack.
        let lines: Vec<_> = self.printed.drain(..).rev().collect();
        if !lines.is_empty() {
            data.insert("stdout".to_owned(), lines.join("\n").into());
        }
        if data.is_empty() {
            error
        } else {
            error.with_data(&data)
        }
    }
}

async fn end(process: &mut Option<Process>, patience: bool) -> Option<ProcessEnd> {
    match process {
        Some(process) => process.end(patience).await.ok(),
        None => None,
    }
}
