//! How a connection ends: open requests are answered, and the agent is ended.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::Exit;
use super::conductor::{BUDGET, Conductor};
use super::pipes::LAST_OUTPUT;
use super::route::HopIndex;
use crate::native::{self, Ended, Process};
use acp_chain_channel::Peer;
use acp_chain_rpc::{Error, code};

/// How long writing the rest may take at the end.
const FLUSH: Duration = Duration::from_secs(1);

/// How long the proxies may take for the last messages of an agent that has ended.
const SETTLE: Duration = Duration::from_secs(2);

impl Conductor {
    /// The client has left, or we have to stop: ends the agent, too. A client that still reads gets the answers that
    /// it is owed.
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
        tracing::info!("the agent {}", native::describe(ended.status));
        // If we ended it, it did not fail.
        Exit::Ended {
            agent: ended.meant_it().then_some(ended.status),
        }
    }

    /// The agent has ended: passes on its last messages, answers whatever is open, and tells the client why. Takes as
    /// long as the client needs to read that, or until `stop`.
    pub async fn finish_after_agent(&mut self, stop: impl Future<Output = ()>) -> Exit {
        self.settle().await;
        let reads = self.agent.outgoing.is_open();
        self.agent.outgoing.close();
        let ended = end(&mut self.process, true).await;
        let error = self.cause_of_end(ended, reads).await;
        tracing::error!("{error}");
        self.router.lose(Peer::Agent, &error);
        self.settle().await;
        let _ = timeout(SETTLE, self.hear_out()).await;
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

    /// Lets the proxies finish with the messages that have come in, for a while.
    async fn settle(&mut self) {
        let finish = async {
            while !self.router.is_idle() {
                self.router.pump(BUDGET);
                // Proxies may go on for ever; their time must be able to run out.
                tokio::task::yield_now().await;
                if !self.router.is_ready() && !self.router.is_idle() {
                    let (_, _, busy, ..) = self.router.split();
                    let finished = busy.await;
                    self.router.advance(Instant::now());
                    self.router.finished(finished);
                }
            }
        };
        if timeout(SETTLE, finish).await.is_err() {
            tracing::warn!("the proxies were not done with everything at the end");
        }
    }

    /// Lets native proxies give the answers that the client still waits for.
    async fn hear_out(&mut self) {
        while self.router.waits_for_natives() && self.router.is_owed(Peer::Client) {
            self.router.pump(BUDGET);
            self.obey();
            self.turn().await;
        }
    }

    /// Lets native proxies go, one after the other, and passes on the last output of each.
    async fn close_inputs(&mut self, natives: Vec<HopIndex>) {
        for hop in natives {
            self.pipes.close_input(hop);
            let last_words = async {
                while self.pipes.is_running(hop) {
                    self.router.pump(BUDGET);
                    self.turn().await;
                }
            };
            if timeout(LAST_OUTPUT, last_words).await.is_err() {
                self.pipes.end(hop);
            }
        }
    }

    async fn cause_of_end(&mut self, ended: Option<Ended>, reads: bool) -> Error {
        let how = match ended {
            Some(ended) if ended.by_itself => native::describe(ended.status),
            _ if !reads => "closed its input".to_owned(),
            _ => "closed its output".to_owned(),
        };
        let printed = match &mut self.process {
            Some(process) => process.last_words().await,
            None => String::new(),
        };
        let error = Error::new(code::INTERNAL_ERROR, format!("acp-chain: the agent {how}"));
        match printed.is_empty() {
            true => error,
            false => error.with_data(&serde_json::json!({ "stderr": printed })),
        }
    }
}

async fn end(process: &mut Option<Process>, patience: bool) -> Option<Ended> {
    match process {
        Some(process) => process.end(patience).await.ok(),
        None => None,
    }
}
