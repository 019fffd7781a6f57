//! The messages on each hop, and the decisions of proxies: one JSON object per line, as `acp_chain_trace` reads them.
//!
//! A process has one trace, to which all of its connections write.
//!
//! | file | contents |
//! |---|---|
//! | `event` | events, and their lines |
//! | `writer` | the thread that converts events to lines, and writes them |
//! | `mask` | masks secrets in lines |
//! | `file` | the file: whole lines, even with other writers, and a bounded size |
//! | `memories` | the sizes of the proxies' memories of a connection |
//! | `observer` | what gets every event, none left out |
//! | `shared` | what the thread and all recorders share |
//!
//! Invariants: recording an event never blocks, unless there is an [`Observer`], which gets every event that it does
//! not pass over. Events are sent to a thread, which converts them to lines and writes them; events that do not fit
//! into its queue are counted, and the count is written instead. Without a file and an observer, and while there are no
//! [listeners](acp_chain_live), a message costs only the check for that. Everything kept of a connection is dropped
//! when it ends.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod event;
mod file;
mod mask;
mod memories;
mod observer;
mod shared;
#[cfg(test)]
mod tests;
mod writer;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};

use acp_chain_live::{Acceptor, Offer, letters};
use acp_chain_rpc::{Message, Mutex, blocking};
use acp_chain_trace::{Ids, Sink};

pub use acp_chain_trace::{Decision, Line, Role, State, Would};
pub use event::Beginning;
pub use event::{About, Content, Event};
pub use file::TraceFile;
pub use mask::Masked;
pub use observer::{Observer, OnFailure};

use observer::PassesOver;
use shared::{SharedState, slow};
use writer::{Entry, Name, SinkEntry, Writer};

/// The name of the host in a trace.
pub const HOST: &str = "acp-chain";

/// How long to wait for events to be written.
const PATIENCE: Duration = Duration::from_secs(2);

/// A trace that is being configured, with its sinks. Files are opened while the process still has the right to.
pub struct Trace {
    sinks: Vec<SinkEntry>,
    observer: Option<(Box<dyn Observer>, OnFailure)>,
    passes_over: Option<PassesOver>,
    /// The offer to listeners.
    offered: Option<ListenerSocket>,
    /// How many sinks there are: permanent ones, listeners, and the observer.
    sink_count: Arc<AtomicUsize>,
    /// Whether the spans of turns are propagated to agents.
    propagates: bool,
    queue: Sender<Entry>,
    entries: Receiver<Entry>,
}

/// The socket for listeners, and the random id in its name.
struct ListenerSocket {
    acceptor: Option<Acceptor>,
    folder: PathBuf,
    letters: String,
}

/// The trace of a process. Dropping the last of its tracers and recorders waits until everything is written, for two
/// seconds at most.
#[derive(Clone)]
pub struct Tracer {
    process: Arc<Process>,
    /// The user of the connections, if it is not the one who runs the process; empty for anonymous users.
    user: Option<Arc<str>>,
}

/// The state that all tracers of a process share.
struct Process {
    sink_count: Arc<AtomicUsize>,
    propagates: bool,
    queue: Sender<Entry>,
    shared: Arc<SharedState>,
    /// The random id of the first connection, if it is fixed already.
    letters: Mutex<Option<String>>,
    /// The writer and the socket, until the threads start.
    ready: Mutex<Option<(Writer, Option<Acceptor>)>>,
}

/// Records the events of a connection, which ends when this is dropped.
pub struct Recorder {
    sink_count: Arc<AtomicUsize>,
    name: Name,
    /// How many events did not fit since the last count was written.
    dropped: Arc<AtomicU64>,
    /// The ids of turns' spans, if they are propagated to the agent.
    ids: Option<Ids>,
    /// The number of the last message.
    numbered: u64,
    /// Whether it is known here that turns are stopped.
    has_halted: bool,
    tracer: Tracer,
}

/// Waits until all recorded events have been given to all sinks.
#[derive(Debug)]
pub struct Flush(Sender<Entry>);

impl Default for Trace {
    fn default() -> Self {
        let (queue, entries) = channel();
        Self {
            sinks: Vec::new(),
            observer: None,
            passes_over: None,
            offered: None,
            sink_count: Arc::default(),
            propagates: false,
            queue,
            entries,
        }
    }
}

impl Trace {
    /// Adds a permanent sink.
    #[must_use]
    pub fn to(mut self, sink: impl Sink + 'static) -> Self {
        self.sink_count.fetch_add(1, Ordering::Relaxed);
        self.sinks.push(SinkEntry {
            sink: Box::new(sink),
            always: true,
        });
        self
    }

    /// Adds what gets every event. There can be only one.
    #[must_use]
    pub fn observed<O: Observer + 'static>(mut self, observer: O, on_failure: OnFailure) -> Self {
        self.sink_count.fetch_add(1, Ordering::Relaxed);
        self.passes_over = Some(O::passes_over);
        self.observer = Some((Box::new(observer), on_failure));
        self
    }

    /// Adds the socket for listeners, whose lines have masked secrets. There can be only one socket.
    #[must_use]
    pub fn offer(mut self, mut offer: Offer) -> Self {
        let sink_count = offer.listener_count();
        sink_count.fetch_add(self.sink_count.load(Ordering::Relaxed), Ordering::Relaxed);
        self.sink_count = sink_count;
        self.offered = Some(ListenerSocket {
            acceptor: offer.acceptor(),
            folder: offer.folder().to_owned(),
            letters: offer.connection().to_owned(),
        });
        self.sinks.push(SinkEntry {
            sink: Box::new(Masked::new(offer)),
            always: false,
        });
        self
    }

    /// Propagates the spans of turns to agents, where clients do not name any (RFD meta-propagation).
    #[must_use]
    pub fn propagate(mut self) -> Self {
        self.propagates = true;
        self
    }

    /// The folder in which the socket must be removed at the end; `None` if there is no socket.
    pub fn folder(&self) -> Option<&Path> {
        Some(&self.offered.as_ref()?.folder)
    }

    /// A handle with which a reader of the lines waits for them.
    pub fn flush(&self) -> Flush {
        Flush(self.queue.clone())
    }

    /// Makes the tracer of this process.
    pub fn tracer(self) -> Tracer {
        let (observer, on_failure) = self.observer.unzip();
        let shared = Arc::new(SharedState {
            is_observed: observer.is_some().into(),
            on_failure: on_failure.unwrap_or_default(),
            passes_over: self.passes_over,
            ..SharedState::default()
        });
        let (acceptor, letters) = match self.offered {
            Some(offered) => (offered.acceptor, Some(offered.letters)),
            None => (None, None),
        };
        let (sink_count, entries) = (self.sink_count.clone(), self.entries);
        let writer = Writer::new(self.sinks, observer, sink_count, entries, shared.clone());
        Tracer {
            process: Arc::new(Process {
                sink_count: self.sink_count,
                propagates: self.propagates,
                queue: self.queue,
                shared,
                letters: Mutex::new(letters),
                ready: Mutex::new(Some((writer, acceptor))),
            }),
            user: None,
        }
    }
}

impl Tracer {
    /// A tracer for the connections of a user other than the one who runs the process; `name` is empty for anonymous
    /// users. Such users are not notified of problems with the trace.
    #[must_use]
    pub fn of_user(&self, name: &str) -> Self {
        Self {
            user: Some(name.into()),
            ..self.clone()
        }
    }

    /// Starts the threads, if they are not running: from now on, listeners can connect. Call this only after privileges
    /// are dropped, as threads started before would keep them. The first connection calls it, too.
    pub fn start(&self) {
        let Some((writer, acceptor)) = self.process.ready.lock().take() else {
            return;
        };
        let thread = thread::Builder::new().name("trace".to_owned());
        if let Err(error) = thread.spawn(move || writer.run()) {
            self.process.shared.fail(&error);
            self.process.shared.fail_observer(&error);
        }
        let Some(acceptor) = acceptor else { return };
        let queue = self.process.queue.clone();
        let thread = thread::Builder::new().name("live".to_owned());
        // This thread is not joined.
        let keep = move || acceptor.keep(|| drop(queue.send(Entry::Joined)));
        if let Err(error) = thread.spawn(keep) {
            tracing::warn!("listeners cannot connect to this process: {error}");
        }
    }

    /// Begins a connection.
    pub fn connection(self, beginning: Beginning) -> Recorder {
        self.start();
        let offered = self.process.letters.lock().take();
        // Without randomness, connections are not distinguished, but the rest works.
        let drawn = || letters().unwrap_or_default();
        let name: Name = offered.unwrap_or_else(drawn).into();
        let user = self.user.as_deref().filter(|name| !name.is_empty());
        // For a chain within a chain, the agent is the outer chain, which has the turns.
        let has_turns = beginning.role == Role::Agent;
        let chain = beginning.chain.clone();
        let line = beginning.line(&name, user);
        let ids = (has_turns && self.process.propagates).then(|| Ids::new(&name, &line.time));
        let dropped = Arc::<AtomicU64>::default();
        // The first line is queued even if the queue is full.
        let begun = Entry::Began(line.into(), chain, dropped.clone());
        let _ = self.process.queue.send(begun);
        Recorder {
            sink_count: self.process.sink_count.clone(),
            name,
            dropped,
            ids,
            numbered: 0,
            has_halted: false,
            tracer: self,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // If the threads have not started, there is nothing to write.
        if self.ready.lock().is_none() {
            wait(&self.queue, Entry::End);
        }
    }
}

impl Recorder {
    /// Whether there are sinks. States of proxies are recorded anyway, for listeners that connect later.
    #[inline]
    pub fn has_sinks(&self) -> bool {
        self.sink_count.load(Ordering::Relaxed) > 0
    }

    /// Whether an observer gets every event.
    #[inline]
    pub fn is_observed(&self) -> bool {
        let shared = &self.tracer.process.shared;
        shared.is_observed.load(Ordering::Relaxed)
    }

    /// Whether an observer is the only one that gets events.
    #[inline]
    pub fn is_only_observed(&self) -> bool {
        self.is_observed() && self.sink_count.load(Ordering::Relaxed) == 1
    }

    /// Whether the observer [passes over](Observer::passes_over) a message with this method that crosses, or, with a
    /// decision, a proxy's decision about the message.
    #[inline]
    pub fn passes_over(&self, method: &str, message: &Message, decision: Option<Decision>) -> bool {
        let passes = self.tracer.process.shared.passes_over;
        passes.is_some_and(|passes| passes(method, message, decision))
    }

    /// Whether turns are to be stopped, as an observer has failed.
    #[inline]
    pub fn has_halted(&self) -> bool {
        let shared = &self.tracer.process.shared;
        shared.has_halted.load(Ordering::Acquire)
    }

    /// Whether turns are to be stopped now; true once.
    pub fn halts(&mut self) -> bool {
        self.has_halted() && !std::mem::replace(&mut self.has_halted, true)
    }

    /// Waits until an observer, if there is one, has brought everything to a place where it lasts.
    pub fn settle(&self) {
        if !self.is_observed() {
            return;
        }
        let process = &self.tracer.process;
        let (done, is_done) = sync_channel(1);
        let sent = process.queue.send(Entry::Settle(done));
        process.shared.end_pause();
        let is_settled = || is_done.recv_timeout(observer::PATIENCE).is_ok();
        if sent.is_err() || !blocking(is_settled) {
            process.shared.fail_observer(&slow());
        }
    }

    /// A new number for a message.
    pub fn next_number(&mut self) -> Option<NonZeroU64> {
        self.numbered += 1;
        NonZeroU64::new(self.numbered)
    }

    /// The span of the turn that this request begins, if spans are propagated.
    pub fn traceparent(&self, request: u64) -> Option<String> {
        Some(self.ids.as_ref()?.traceparent(request))
    }

    /// Records an event. Keeping a message costs the size of the message.
    pub fn record(&self, event: Event) {
        let process = &self.tracer.process;
        let cost = event.cost();
        let shared = &process.shared;
        if !shared.reserve(cost) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            shared.has_dropped.store(true, Ordering::Relaxed);
            return;
        }
        let happened = Entry::Happened(self.name.clone(), SystemTime::now(), cost, event);
        // A thread that has ended has reported why.
        let _ = process.queue.send(happened);
    }

    /// Takes what the user is told of sinks that failed, once.
    #[inline]
    pub fn failures(&self) -> Vec<String> {
        let shared = &self.tracer.process.shared;
        // Most messages find nothing, and only look.
        let has_failed = shared.has_failed.load(Ordering::Relaxed);
        if !has_failed || !shared.has_failed.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        let silent = shared.silent.swap(0, Ordering::Relaxed);
        self.sink_count.fetch_sub(silent, Ordering::Relaxed);
        let failed = std::mem::take(&mut *shared.failed.lock());
        match self.tracer.user {
            // The errors are in the log, for the user who runs this process.
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
    /// Waits until all sinks have been given all events, for two seconds at most.
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

impl std::fmt::Debug for Tracer {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Tracer").finish_non_exhaustive()
    }
}
