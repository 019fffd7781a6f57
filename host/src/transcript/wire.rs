//! A chain in this process, and each of its ends: lines go out, and messages come in. Received messages that have not
//! been processed are bounded; past the bound, the chain waits.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::chain::{self, Chain, ChildIo, Member, Proxy, Settings, StartError, Terms};
use crate::channel::{Failure, FailurePolicy, Source};
use crate::limits::LINE;
use crate::rpc::{self, Message, code};
use crate::sandbox::Guest;
use crate::transport::{LineReader, Transport};

/// How long a proxy that failed may take to be restarted: the chain waits ten seconds at most.
pub const RESTART: Duration = Duration::from_secs(11);

/// The capacity of a stream: more than any line.
const PIPE: usize = 2 * LINE;

/// The maximum number of unprocessed messages; past it, the chain waits.
pub const READ: usize = 1024;

/// The maximum number of bytes that may be received at once, and of unprocessed ones.
const MOST: usize = 256 << 20;

/// The unit in which messages are counted.
const UNIT: usize = 1024;

/// An unprocessed message, and the room that it takes.
type Heard = (Message, OwnedSemaphorePermit);

/// One end, from its player's side.
pub struct Wire {
    writer: WriteHalf<DuplexStream>,
    lines: mpsc::Receiver<Heard>,
    /// The bytes received since the last release.
    held: usize,
}

/// Starts a component, as a source that looks at what it does. Without a failure policy it has its own.
pub async fn start<S: Source + 'static>(
    guest: Guest,
    on_failure: Option<FailurePolicy>,
    look: impl FnOnce(Guest) -> S,
) -> Result<Proxy, Failure> {
    let mut terms = Terms {
        limits: guest.limits.clone(),
        grant: guest.grant.clone(),
        on_failure: FailurePolicy::default(),
        sleep_after: None,
    };
    let name = guest.name.clone();
    let mut proxy = Proxy::start(&name, look(guest), terms.clone()).await?;
    terms.on_failure = on_failure.unwrap_or(proxy.started.registration.on_failure);
    proxy.terms = terms;
    Ok(proxy)
}

/// Serves a chain in a task of its own. Returns the ends of its client and its agent.
pub fn serve(members: Vec<Member>) -> [Wire; 2] {
    let (client, clients) = Wire::new();
    let (agent, agents) = Wire::new();
    let (reader, writer) = split(clients);
    let (output, input) = split(agents);
    let mut chain = Some(Chain::new(members, ChildIo::over(output, input)));
    let start = async move |_| {
        chain.take().ok_or_else(|| StartError {
            message: "this chain starts once".to_owned(),
            code: code::INTERNAL_ERROR,
        })
    };
    let clients = Transport::lines(reader, writer, LINE);
    tokio::spawn(chain::serve(clients, start, pending(), Settings::default()));
    [client, agent]
}

impl Wire {
    /// An end, and the host's side of its streams. Reads in a task of its own.
    fn new() -> (Self, DuplexStream) {
        let (ours, theirs) = duplex(PIPE);
        let (reader, writer) = split(ours);
        let (heard, lines) = mpsc::channel(READ);
        tokio::spawn(read(reader, heard));
        let wire = Self {
            writer,
            lines,
            held: 0,
        };
        (wire, theirs)
    }

    /// Sends a line, which ends with a line feed. Returns whether the chain accepts it.
    pub async fn say(&mut self, line: &str) -> bool {
        self.writer.write_all(line.as_bytes()).await.is_ok()
    }

    /// The next received message, if there is one; `None` past the maximum.
    pub fn hear(&mut self) -> Option<Message> {
        if self.is_full() {
            return None;
        }
        let (message, _) = self.lines.try_recv().ok()?;
        self.held += message.len();
        Some(message)
    }

    /// Whether reading waits until received bytes are released.
    pub fn is_full(&self) -> bool {
        self.held >= MOST
    }

    /// Releases the received bytes.
    pub fn let_go(&mut self) {
        self.held = 0;
    }
}

/// Reads until the chain is gone.
async fn read(reader: ReadHalf<DuplexStream>, heard: mpsc::Sender<Heard>) {
    let room = Arc::new(Semaphore::new(MOST / UNIT));
    let mut reader = LineReader::new(reader, 2 * LINE);
    while let Ok(true) = reader.fill().await {
        while let Some(frame) = reader.next_frame() {
            // Everything that the host sends is a message.
            let Ok(message) = rpc::read(frame) else {
                continue;
            };
            // No line needs more than all the room.
            let units = u32::try_from(message.len().div_ceil(UNIT)).unwrap_or(u32::MAX);
            let Ok(taken) = room.clone().acquire_many_owned(units).await else {
                return;
            };
            if heard.send((message, taken)).await.is_err() {
                return;
            }
        }
    }
}
