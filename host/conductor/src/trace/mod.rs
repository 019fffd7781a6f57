//! The messages on each hop, and the decisions of proxies: one JSON object per line, as `acp_chain_trace` reads them.
//!
//! A process has one trace. Its connections join it, and leave it when they end.
//!
//! | file | what it is |
//! |---|---|
//! | `event` | events, and their lines |
//! | `writer` | the thread that makes lines, and writes them |
//! | `mask` | lines without secrets, for a sink |
//! | `file` | the file: whole lines, even with other writers, and a bounded size |
//! | `memories` | how much memory the proxies of a connection have |
//!
//! Invariants: nobody waits for the trace. Events are handed to a thread, which makes lines of them and writes them;
//! events that do not fit into its queue are counted, and the count is written instead. Without a file, and while
//! nobody [listens](acp_chain_live), a message costs only the check for that. Everything kept of a connection is
//! dropped when it ends.

mod event;
mod file;
mod mask;
mod memories;
#[cfg(test)]
mod tests;
mod writer;

use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use acp_chain_live::{Door, Offer, letters};
use acp_chain_trace::{Ids, Sink};

pub use acp_chain_trace::{Decision, Role, State};
pub use event::Beginning;
pub(crate) use event::{About, Event};
pub use file::TraceFile;
pub use mask::Masked;

use writer::{Entry, Kept, Name, Writer};

/// The name of the host in a trace.
pub const HOST: &str = "acp-chain";

/// How many bytes may wait to be written. One message may always wait, whatever its size.
const WAITING: usize = 16 << 20;

/// How long to wait for events to be written.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state shared by the thread and all recorders.
#[derive(Debug, Default)]
struct Shared {
    /// The bytes that wait.
    waiting: AtomicUsize,
    /// Whether something did not fit, of any connection.
    has_dropped: AtomicBool,
    /// What to tell the user: why something is no longer written.
    failed: Mutex<Vec<String>>,
    has_failed: AtomicBool,
    /// How many permanent sinks have failed recently. They count as listening until the user is told, which happens
    /// when something is recorded.
    silent: AtomicUsize,
}

/// The destinations of a trace. Files are opened while the process still has the right to.
pub struct Trace {
    sinks: Vec<Kept>,
    /// The offer to listeners.
    offered: Option<Offered>,
    /// How many sinks there are: permanent ones and listeners.
    heard: Arc<AtomicUsize>,
    /// Whether agents are told of the spans of turns.
    propagates: bool,
    queue: Sender<Entry>,
    entries: Receiver<Entry>,
}

/// The socket for listeners, and the letters in its name.
struct Offered {
    door: Option<Door>,
    folder: PathBuf,
    letters: String,
}

/// The trace of a process: connections join it. Dropping the last of its tracers and recorders waits until everything
/// is written.
#[derive(Clone)]
pub struct Tracer {
    process: Arc<Process>,
    /// The user whose connections join, if not the one who runs the process; empty for anonymous users.
    user: Option<Arc<str>>,
}

/// What all tracers of a process share.
struct Process {
    heard: Arc<AtomicUsize>,
    propagates: bool,
    queue: Sender<Entry>,
    shared: Arc<Shared>,
    /// The letters of the first connection, if already fixed.
    letters: Mutex<Option<String>>,
    /// What its threads take when they start.
    ready: Mutex<Option<Ready>>,
}

struct Ready {
    writer: Writer,
    door: Option<Door>,
}

/// Hands over the events of a connection, which ends when this is dropped.
pub struct Recorder {
    heard: Arc<AtomicUsize>,
    name: Name,
    /// How many events did not fit since the last count was written.
    dropped: Arc<AtomicU64>,
    /// The ids of turns' spans, if the agent is told of them.
    ids: Option<Ids>,
    /// The number of the last message.
    numbered: u64,
    tracer: Tracer,
}

/// Waits until everything handed over has been given to all sinks.
#[derive(Debug)]
pub struct Flush(Sender<Entry>);

impl Default for Trace {
    fn default() -> Self {
        let (queue, entries) = channel();
        Self {
            sinks: Vec::new(),
            offered: None,
            heard: Arc::default(),
            propagates: false,
            queue,
            entries,
        }
    }
}

impl Trace {
    /// Adds this destination.
    #[must_use]
    pub fn to(mut self, sink: impl Sink + 'static) -> Self {
        self.heard.fetch_add(1, Ordering::Relaxed);
        self.sinks.push(Kept {
            sink: Box::new(sink),
            always: true,
        });
        self
    }

    /// Adds listeners at this socket, who get it without secrets. There is only one socket.
    #[must_use]
    pub fn offer(mut self, mut offer: Offer) -> Self {
        let heard = offer.heard();
        heard.fetch_add(self.heard.load(Ordering::Relaxed), Ordering::Relaxed);
        self.heard = heard;
        self.offered = Some(Offered {
            door: offer.door(),
            folder: offer.folder().to_owned(),
            letters: offer.connection().to_owned(),
        });
        self.sinks.push(Kept {
            sink: Box::new(Masked::new(offer)),
            always: false,
        });
        self
    }

    /// Tells agents the spans of their turns, where clients do not name any.
    #[must_use]
    pub fn propagate(mut self) -> Self {
        self.propagates = true;
        self
    }

    /// The folder in which something has to be removed at the end.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        Some(&self.offered.as_ref()?.folder)
    }

    /// A trace for a reader of the lines.
    #[must_use]
    pub fn flush(&self) -> Flush {
        Flush(self.queue.clone())
    }

    /// The trace of this process.
    #[must_use]
    pub fn tracer(self) -> Tracer {
        let shared = Arc::new(Shared::default());
        let (door, letters) = match self.offered {
            Some(offered) => (offered.door, Some(offered.letters)),
            None => (None, None),
        };
        let (heard, entries) = (self.heard.clone(), self.entries);
        let writer = Writer::new(self.sinks, heard, entries, shared.clone());
        Tracer {
            process: Arc::new(Process {
                heard: self.heard,
                propagates: self.propagates,
                queue: self.queue,
                shared,
                letters: Mutex::new(letters),
                ready: Mutex::new(Some(Ready { writer, door })),
            }),
            user: None,
        }
    }
}

impl Tracer {
    /// The same, for the connections of a user other than the one who runs the process; empty for anonymous users.
    /// Such users are not told of problems with the trace.
    #[must_use]
    pub fn of_user(&self, name: &str) -> Self {
        Self {
            user: Some(name.into()),
            ..self.clone()
        }
    }

    /// Starts it, if it has not been: from now on others can listen. Call it once rights are given up, as threads
    /// started before would keep them; the first connection does so, too.
    pub fn start(&self) {
        let Some(Ready { writer, door }) = lock(&self.process.ready).take() else {
            return;
        };
        let thread = thread::Builder::new().name("trace".to_owned());
        if let Err(error) = thread.spawn(move || writer.run()) {
            self.process.shared.fail(&error);
        }
        let Some(door) = door else { return };
        let queue = self.process.queue.clone();
        let thread = thread::Builder::new().name("live".to_owned());
        // At the end nobody waits for this.
        let keep = move || door.keep(|| drop(queue.send(Entry::Joined)));
        if let Err(error) = thread.spawn(keep) {
            tracing::warn!("nobody can listen to this process: {error}");
        }
    }

    /// A connection begins.
    #[must_use]
    pub fn connection(self, beginning: Beginning) -> Recorder {
        self.start();
        let name: Name = lock(&self.process.letters)
            .take()
            // Without randomness, connections are not told apart, but the rest works.
            .unwrap_or_else(|| letters().unwrap_or_default())
            .into();
        let user = self.user.as_deref().filter(|name| !name.is_empty());
        // For a chain within a chain, the agent is the outer chain, which has the turns.
        let has_turns = beginning.role == Role::Agent;
        let line = beginning.line(&name, user);
        let ids = (has_turns && self.process.propagates).then(|| Ids::new(&name, &line.time));
        let dropped = Arc::<AtomicU64>::default();
        // It comes before everything else of the connection, whatever waits.
        let _ = self
            .process
            .queue
            .send(Entry::Began(line.into(), dropped.clone()));
        Recorder {
            heard: self.process.heard.clone(),
            name,
            dropped,
            ids,
            numbered: 0,
            tracer: self,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // If it has not started, it has nothing to write.
        if lock(&self.ready).is_none() {
            wait(&self.queue, Entry::End);
        }
    }
}

impl Recorder {
    /// Whether anybody listens. States of proxies are handed over anyway, for later listeners.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed) > 0
    }

    /// The number of the next message.
    pub(crate) fn next_number(&mut self) -> Option<NonZeroU64> {
        self.numbered += 1;
        NonZeroU64::new(self.numbered)
    }

    /// The span of the turn that this request begins, if the agent is to be told of it.
    pub(crate) fn traceparent(&self, request: u64) -> Option<String> {
        Some(self.ids.as_ref()?.traceparent(request))
    }

    /// Records an event. Keeping a message costs the size of the message.
    pub(crate) fn record(&self, event: Event) {
        let process = &self.tracer.process;
        let cost = event.cost();
        let before = process.shared.waiting.fetch_add(cost, Ordering::Relaxed);
        if before > 0 && before + cost > WAITING {
            process.shared.waiting.fetch_sub(cost, Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Relaxed);
            process.shared.has_dropped.store(true, Ordering::Relaxed);
            return;
        }
        let happened = Entry::Happened(self.name.clone(), SystemTime::now(), cost, event);
        // A thread that takes nothing any more has reported why.
        let _ = process.queue.send(happened);
    }

    /// Why something is no longer written, to tell the user once.
    pub(crate) fn failures(&self) -> Vec<String> {
        let shared = &self.tracer.process.shared;
        if !shared.has_failed.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        let silent = shared.silent.swap(0, Ordering::Relaxed);
        self.heard.fetch_sub(silent, Ordering::Relaxed);
        let failed = std::mem::take(&mut *lock(&shared.failed));
        match self.tracer.user {
            // The log has it, for the user who runs this process.
            Some(_) => Vec::new(),
            None => failed,
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let ended = Entry::Ended(self.name.clone(), SystemTime::now());
        let _ = self.tracer.process.queue.send(ended);
    }
}

impl Flush {
    /// Waits until all sinks have been given all events, but not for ever.
    pub fn wait(&self) {
        wait(&self.0, Entry::Flush);
    }
}

fn wait(queue: &Sender<Entry>, what: impl FnOnce(SyncSender<()>) -> Entry) {
    let (done, is_done) = sync_channel(1);
    if queue.send(what(done)).is_ok() {
        let _ = is_done.recv_timeout(PATIENCE);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn fail(&self, error: &io::Error) {
        tracing::error!("the trace cannot be written, and ends here: {error}");
        lock(&self.failed).push(error.to_string());
        self.has_failed.store(true, Ordering::Release);
    }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Tracer {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Tracer").finish_non_exhaustive()
    }
}
