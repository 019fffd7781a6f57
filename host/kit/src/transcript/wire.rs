//! A chain in this process, and its two ends. Received messages that have not been processed are bounded: at the bound,
//! the chain waits.

use std::fmt::Display;
use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

use super::json::plain;
use super::play::Tested;
use crate::observed::{Observations, ObservedSource};
use acp_chain_channel::limits::LINE;
use acp_chain_channel::{Failure, FailurePolicy};
use acp_chain_conductor::{
    self as chain, Chain, ChildIo, Member, Proxy, Settings, StartError, StoredValues, Terms,
};
use acp_chain_rpc::transport::{LineReader, Transport};
use acp_chain_rpc::{self as rpc, Id, Message, code};
use acp_chain_sandbox::Guest;

/// The time that passes when everything is idle.
pub const REST: Duration = Duration::from_millis(1);

/// The maximum duration of a proxy's restart: the chain waits at most ten seconds before it.
pub const RESTART: Duration = Duration::from_secs(11);

/// The capacity of a stream, in bytes: more than any line.
const PIPE: usize = 2 * LINE;

/// The maximum number of unprocessed messages.
pub const READ: usize = 1024;

/// The maximum number of received bytes between two releases, and of unprocessed bytes.
const MOST: usize = 256 << 20;

/// The unit, in bytes, in which unprocessed messages are counted.
const UNIT: usize = 1024;

/// An unprocessed message, and its share of [`MOST`].
type UnprocessedMessage = (Message, OwnedSemaphorePermit);

/// One end of the chain: sends lines, and receives messages.
pub struct Wire {
    writer: WriteHalf<DuplexStream>,
    lines: mpsc::Receiver<UnprocessedMessage>,
    /// The number of bytes received since the last release.
    held: usize,
}

/// The chain accepts no more messages.
pub struct Blocked;

/// A runtime whose time is simulated.
pub fn runtime() -> io::Result<Runtime> {
    let mut runtime = Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build()
}

/// Starts a component, and observes it. Without `on_failure`, the component's own policy applies.
pub async fn start(
    guest: Guest,
    on_failure: Option<FailurePolicy>,
    observations: Observations,
) -> Result<Proxy, Failure> {
    let mut terms = Terms {
        limits: guest.limits.clone(),
        grant: guest.grant.clone(),
        on_failure: FailurePolicy::default(),
        sleep_after: None,
    };
    let name = guest.name.clone();
    let source = ObservedSource {
        guest,
        observations,
    };
    let mut proxy = Proxy::start(&name, source, terms.clone()).await?;
    terms.on_failure = on_failure.unwrap_or(proxy.registration.on_failure);
    proxy.terms = terms;
    Ok(proxy)
}

/// Starts components, the client's neighbour first, each with what `watch` observes it with. Guards come last, unless
/// the chain is as written. The error is the proxy that does not start, and why.
pub async fn members(
    proxies: Vec<Tested>,
    is_as_written: bool,
    watch: impl Fn(&str) -> Observations,
) -> Result<Vec<Member>, (String, Failure)> {
    let mut members = Vec::new();
    for tested in proxies {
        let name = tested.guest.name.to_string();
        let watch = watch(&name);
        let started = start(tested.guest, tested.on_failure, watch).await;
        let proxy = started.map_err(|failure| (name, failure))?;
        members.push(Member::from(proxy));
    }
    if !is_as_written {
        members.sort_by_key(Member::is_guard);
    }
    Ok(members)
}

/// Serves a chain in a new task. Returns the client's and the agent's end.
pub fn serve(members: Vec<Member>, values: StoredValues) -> [Wire; 2] {
    let (client, clients) = Wire::new();
    let (agent, agents) = Wire::new();
    let (reader, writer) = split(clients);
    let (output, input) = split(agents);
    let mut chain = Some(Chain {
        values: Some(values),
        ..Chain::new(members, ChildIo::over(output, input))
    });
    let start = async move |_| {
        chain.take().ok_or_else(|| StartError {
            message: "this chain starts once".to_owned(),
            code: code::INTERNAL_ERROR,
        })
    };
    let clients = Transport::lines(reader, writer, LINE);
    let settings = Settings {
        simulates_hooks: true,
        ..Settings::default()
    };
    tokio::spawn(chain::serve(clients, start, pending(), settings));
    [client, agent]
}

impl Wire {
    /// An end, and the host's side of its streams. Reads in a new task.
    fn new() -> (Self, DuplexStream) {
        let (ours, theirs) = duplex(PIPE);
        let (reader, writer) = split(ours);
        let (sender, lines) = mpsc::channel(READ);
        tokio::spawn(read(reader, sender));
        let wire = Self {
            writer,
            lines,
            held: 0,
        };
        (wire, theirs)
    }

    /// Sends a request, with this JSON as its id. Like the others, fails if the chain does not accept it before time
    /// passes.
    pub async fn ask(
        &mut self,
        id: &str,
        method: &str,
        params: &impl Display,
    ) -> Result<(), Blocked> {
        let head = format!("\"id\":{id},\"method\":{}", plain(method));
        self.say(&head, "params", params).await
    }

    /// Sends a notification.
    pub async fn tell(&mut self, method: &str, params: &impl Display) -> Result<(), Blocked> {
        let head = format!("\"method\":{}", plain(method));
        self.say(&head, "params", params).await
    }

    /// Answers a request. `slot` is the member of the body.
    pub async fn answer(
        &mut self,
        id: &Id,
        slot: &str,
        body: &impl Display,
    ) -> Result<(), Blocked> {
        let head = format!("\"id\":{}", id.as_str());
        self.say(&head, slot, body).await
    }

    async fn say(&mut self, head: &str, slot: &str, body: &impl Display) -> Result<(), Blocked> {
        let line = format!("{{\"jsonrpc\":\"2.0\",{head},\"{slot}\":{body}}}\n");
        match timeout(REST, self.writer.write_all(line.as_bytes())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Blocked),
        }
    }

    /// The next received message; `None` if there is none, or if the end is full.
    pub fn receive(&mut self) -> Option<Message> {
        if self.is_full() {
            return None;
        }
        let (message, _) = self.lines.try_recv().ok()?;
        self.held += message.len();
        Some(message)
    }

    /// Waits for the next received message; `None` if the chain has closed this end. Cancel safe.
    pub async fn next(&mut self) -> Option<Message> {
        let (message, _) = self.lines.recv().await?;
        Some(message)
    }

    /// Whether the received bytes must be released before more messages are returned.
    pub fn is_full(&self) -> bool {
        self.held >= MOST
    }

    /// Releases the received bytes.
    pub fn release(&mut self) {
        self.held = 0;
    }
}

/// Reads until the chain closes its stream.
async fn read(reader: ReadHalf<DuplexStream>, sender: mpsc::Sender<UnprocessedMessage>) {
    let room = Arc::new(Semaphore::new(MOST / UNIT));
    let mut reader = LineReader::new(reader, 2 * LINE);
    while let Ok(true) = reader.fill().await {
        while let Some(frame) = reader.next_frame() {
            // The host sends only valid messages.
            let Ok(message) = rpc::read(frame) else {
                continue;
            };
            // No message needs more than all units.
            let units = u32::try_from(message.len().div_ceil(UNIT)).unwrap_or(u32::MAX);
            let Ok(taken) = room.clone().acquire_many_owned(units).await else {
                return;
            };
            if sender.send((message, taken)).await.is_err() {
                return;
            }
        }
    }
}
