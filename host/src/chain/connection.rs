//! One client's connection: reads, routes and writes until either end is gone.
//!
//! Nothing behind the client runs before its `initialize` is there. Memory stays bounded by what
//! is read: while a side does not take what it is sent, nothing more is read from the other.

use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

use super::lobby::Lobby;
use super::lost::{Lost, read};
use super::start::Reader;
use super::{AgentLink, Chain, Router, StartError};
use crate::channel::Peer;
use crate::native::{self, Process};
use crate::rpc::{Error, Id, LineReader, Outbox, code};
use crate::trace::Trace;

/// While so many bytes wait for one side, the other is not read.
const HIGH_WATER: usize = 1 << 20;

/// While so many bytes wait for a side, that side itself is not read either: it asks without
/// taking answers.
const FLOOD: usize = 64 << 20;

/// Messages that proxies handle before input and output get their turn again.
const BUDGET: usize = 256;

/// How long the agent may work on open requests when the client has closed its side.
const DRAIN: Duration = Duration::from_secs(2);

/// How long the output of an agent that has exited may take to end.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// How long what is left may take to be written at the end.
const FLUSH: Duration = Duration::from_secs(1);

/// The two streams of the client.
pub struct Client {
    /// What the client writes.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// What the client reads.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// How a connection works.
#[derive(Debug)]
pub struct Settings {
    /// The longest message that is taken, in bytes.
    pub message_limit: usize,
    /// Where every leg of every message is written.
    pub trace: Option<Trace>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            message_limit: 64 << 20,
            trace: None,
        }
    }
}

/// How a connection ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The code to exit with: the agent's own, or that of a chain that never began.
    pub code: u8,
}

/// Serves a client until it closes its side, the agent ends, or `stop` is done.
///
/// `start` is called at the client's `initialize`, and again at the next one if it fails.
pub async fn serve(
    client: Client,
    mut start: impl AsyncFnMut() -> Result<Chain, StartError>,
    stop: impl Future<Output = ()>,
    settings: Settings,
) -> Exit {
    let mut stop = pin!(stop);
    let mut reader = LineReader::new(client.output, settings.message_limit);
    let mut lobby = Lobby {
        input: client.input,
        outbox: Outbox::default(),
    };
    let mut exit = Exit::default();
    let (initialize, chain) = loop {
        let waited = tokio::select! {
            initialize = lobby.wait(&mut reader) => initialize,
            () = &mut stop => None,
        };
        let Some(initialize) = waited else {
            return exit;
        };
        let started = tokio::select! {
            started = start() => started,
            () = &mut stop => return exit,
        };
        match started {
            Ok(chain) => break (initialize, chain),
            Err(error) => {
                tracing::error!("the chain did not start: {error}");
                exit.code = error.exit_code;
                let text = format!("acp-chain: {error}");
                let id = initialize.id().unwrap_or_else(Id::null);
                lobby
                    .tell(&id, &Error::new(code::INTERNAL_ERROR, text))
                    .await;
            }
        }
    };
    let AgentLink {
        output,
        input,
        process,
    } = chain.agent;
    let mut router = Router::new(chain.proxies, settings.trace);
    router.receive(Peer::Client, initialize);
    let mut session = Connection {
        router,
        client: Side {
            input: Some(lobby.input),
            reader,
            ended: false,
        },
        agent: Side {
            input: Some(input),
            reader: LineReader::new(output, settings.message_limit),
            ended: false,
        },
        process,
        last_output: None,
    };
    // Requests may have come in one burst with `initialize`.
    session.take_frames(Peer::Client);
    session.run(stop).await
}

/// What there was to do.
enum Turn {
    Wrote(Peer, std::io::Result<()>),
    Read(Peer, std::io::Result<bool>),
    Finished(super::router::Finished),
    Exited,
    More,
}

/// One end: what we write to, what we read from.
struct Side {
    input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    reader: Reader,
    ended: bool,
}

struct Connection {
    router: Router,
    client: Side,
    agent: Side,
    process: Option<Process>,
    /// Until when output of an agent that has exited is waited for.
    last_output: Option<Instant>,
}

impl Connection {
    async fn run(mut self, mut stop: std::pin::Pin<&mut impl Future<Output = ()>>) -> Exit {
        let mut drained = None;
        let patience = loop {
            self.router.pump(BUDGET);
            if self.agent.ended {
                return self.mourn().await;
            }
            if self.client.input.is_none() {
                break true;
            }
            if self.client.ended {
                let owed = self.router.is_owed(Peer::Client) || self.router.is_ready();
                if !owed && self.router.outbox(Peer::Client).is_empty() {
                    break true;
                }
                drained.get_or_insert_with(|| Instant::now() + DRAIN);
            }
            tokio::select! {
                biased;
                () = &mut stop => break false,
                () = at(drained) => break true,
                () = at(self.last_output) => self.agent.ended = true,
                () = self.turn() => {}
            }
        };
        self.close(patience).await
    }

    /// Waits for anything to do, and does it.
    async fn turn(&mut self) {
        let to_client = self.router.outbox(Peer::Client).len();
        let to_agent = self.router.outbox(Peer::Agent).len();
        let room = self.router.waiting() < HIGH_WATER;
        let read_client = room && !self.client.ended && to_agent < HIGH_WATER && to_client < FLOOD;
        let read_agent = room && !self.agent.ended && to_client < HIGH_WATER && to_agent < FLOOD;
        let more = self.router.is_ready();
        let event = {
            let (client_box, agent_box, busy) = self.router.split();
            tokio::select! {
                written = write(&mut self.client.input, client_box) => Turn::Wrote(Peer::Client, written),
                written = write(&mut self.agent.input, agent_box) => Turn::Wrote(Peer::Agent, written),
                filled = self.client.reader.fill(), if read_client => Turn::Read(Peer::Client, filled),
                filled = self.agent.reader.fill(), if read_agent => Turn::Read(Peer::Agent, filled),
                () = exited(&mut self.process), if self.last_output.is_none() => Turn::Exited,
                finished = busy => Turn::Finished(finished),
                () = std::future::ready(()), if more => Turn::More,
            }
        };
        match event {
            Turn::Wrote(_, Ok(())) | Turn::More => {}
            Turn::Wrote(peer, Err(error)) => {
                tracing::info!("the {} takes nothing any more: {error}", peer.as_str());
                self.side(peer).input = None;
                let text = format!("acp-chain: the {} takes nothing any more", peer.as_str());
                let error = Error::new(code::INTERNAL_ERROR, text);
                self.router.stop_writing(peer, &error);
            }
            Turn::Read(peer, filled) => {
                let more = filled.unwrap_or_else(|error| {
                    tracing::warn!("the {} cannot be read: {error}", peer.as_str());
                    false
                });
                self.take_frames(peer);
                if !more {
                    self.ended(peer);
                }
            }
            Turn::Finished(finished) => self.router.finished(finished),
            Turn::Exited => {
                // What it started may keep its output open; what it wrote itself is still read.
                if let Some(process) = &mut self.process {
                    process.kill();
                }
                self.last_output = Some(Instant::now() + LAST_OUTPUT);
            }
        }
    }

    fn side(&mut self, peer: Peer) -> &mut Side {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
        }
    }

    fn take_frames(&mut self, peer: Peer) {
        while let Some(frame) = self.side(peer).reader.next_frame() {
            match read(frame) {
                Ok(message) => self.router.receive(peer, message),
                Err(lost) => self.take_lost(peer, &lost),
            }
        }
    }

    fn take_lost(&mut self, from: Peer, lost: &Lost) {
        tracing::warn!("a line of the {} is lost: {}", from.as_str(), lost.error);
        if lost.response
            && let Some(id) = &lost.id
        {
            let text = format!(
                "acp-chain: the answer of the {} is lost: {}",
                from.as_str(),
                lost.error.message
            );
            if self
                .router
                .lose_answer(from, id, &Error::new(code::INTERNAL_ERROR, text))
            {
                return;
            }
        }
        match lost.id_for_sender(from) {
            Some(id) if !lost.response => self.router.tell(from, Some(&id), &lost.error),
            Some(_) if from == Peer::Client => self.router.tell(from, None, &lost.error),
            _ => {}
        }
    }

    fn ended(&mut self, peer: Peer) {
        self.side(peer).ended = true;
        if peer == Peer::Client {
            let text = "acp-chain: the client has closed its side";
            // It still reads answers; but it will answer nothing any more.
            self.router
                .lose_answers(peer, &Error::new(code::INTERNAL_ERROR, text));
        }
    }

    /// The client has left, or we are to stop: the agent goes too.
    async fn close(mut self, patience: bool) -> Exit {
        self.agent.input = None;
        let status = match &mut self.process {
            Some(process) => process.end(patience).await,
            None => None,
        };
        self.flush_client().await;
        // Ended by us, it did not fail.
        let ours = status.is_some_and(|status| status.code().is_none());
        Exit {
            code: status.filter(|_| !ours).map_or(0, native::exit_code),
        }
    }

    /// The agent has ended: whatever is open is answered, and the client told why.
    async fn mourn(mut self) -> Exit {
        let status = match &mut self.process {
            // Its output is closed; it gets a moment to be gone.
            Some(process) => process.end(true).await,
            None => None,
        };
        let error = self.obituary(status).await;
        tracing::error!("{error}");
        self.router.lose(Peer::Agent, &error);
        self.router.pump(BUDGET);
        self.router.settle_debts(Peer::Client, &error);
        self.flush_client().await;
        Exit {
            code: status.map_or(0, native::exit_code),
        }
    }

    async fn obituary(&mut self, status: Option<ExitStatus>) -> Error {
        let how = status.map_or_else(|| "closed its output".to_owned(), native::describe);
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

    async fn flush_client(&mut self) {
        let outbox = self.router.outbox(Peer::Client);
        if let Some(input) = &mut self.client.input {
            let write = async {
                input.write_all_buf(outbox).await?;
                input.flush().await
            };
            let _ = tokio::time::timeout(FLUSH, write).await;
        }
    }
}

/// Done when the process has ended. Cancel safe.
async fn exited(process: &mut Option<Process>) {
    match process {
        Some(process) => drop(process.wait().await),
        None => std::future::pending().await,
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Writes some of what waits. Does not return while nothing does. Cancel safe.
async fn write(
    input: &mut Option<Box<dyn AsyncWrite + Send + Unpin>>,
    outbox: &mut Outbox,
) -> std::io::Result<()> {
    match input {
        Some(input) if !outbox.is_empty() => {
            if input.write_buf(outbox).await? == 0 {
                return Err(std::io::ErrorKind::WriteZero.into());
            }
            if outbox.is_empty() {
                input.flush().await?;
            }
            Ok(())
        }
        _ => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_send<T: Send>(_: &T) {}

    #[test]
    fn a_connection_may_be_served_on_any_runtime() {
        let client = Client {
            output: Box::new(tokio::io::empty()),
            input: Box::new(tokio::io::sink()),
        };
        let start = async || {
            Err(StartError {
                message: String::new(),
                exit_code: 1,
            })
        };
        assert_send(&serve(
            client,
            start,
            std::future::pending(),
            Settings::default(),
        ));
    }
}
