//! What crossed which hop, and what the proxies decided: one JSON object a line, as `acp_chain_trace` reads them.
//!
//! | file | what it is |
//! |---|---|
//! | `event` | what happened, and the line that is made of it |
//! | `mask` | lines without secrets, for a sink |
//! | `file` | the file: whole lines, whoever else writes to it, and no end of them |
//! | `memories` | how much memory the proxies have, as it changes |
//!
//! What always holds: nobody waits for the trace. What happened is handed to a thread, which makes lines of it and
//! writes them; what does not fit into its queue is counted, and the count is written in its place. While there is no
//! file and nobody [listens](acp_chain_live), a message costs no more than it takes to see that.

mod event;
mod file;
mod mask;
mod memories;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use acp_chain_live::{Door, Offer};
use acp_chain_trace::{Line, Sink};

pub use acp_chain_trace::{Decision, Role, State};
pub(crate) use event::{About, Event};
pub use file::TraceFile;
pub use mask::Masked;

use event::{beginning, letters, stamp};
use memories::Memories;

/// Who the host is in a trace.
pub const HOST: &str = "acp-chain";

/// How much may wait to be written, in bytes. Whatever its size, one message may always wait.
const WAITING: usize = 16 << 20;

/// About so much is written at once, in bytes.
const BATCH: usize = 1 << 20;

/// The pause after each write: who hands over what happens meanwhile need not wake the thread.
const PAUSE: Duration = Duration::from_millis(2);

/// When so long nothing has happened, nothing is kept back any more.
const QUIET: Duration = Duration::from_secs(1);

/// How long is waited for what has happened to be written.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often is looked how much memory the proxies have, while somebody listens.
const LOOK: Duration = Duration::from_secs(1);

/// What is handed to the thread.
enum Entry {
    Happened(SystemTime, usize, Event),
    /// Somebody has come to listen.
    Joined,
    /// All before it is to be written.
    Flush(SyncSender<()>),
    /// The same, and nothing comes behind it.
    End(SyncSender<()>),
}

#[derive(Debug, Default)]
struct Shared {
    /// The bytes that wait.
    waiting: AtomicUsize,
    /// What did not fit since that was last written.
    dropped: AtomicU64,
    /// What the user is to be told: why something is not written any more.
    failed: Mutex<Vec<String>>,
    has_failed: AtomicBool,
    /// How many sinks that always heard have failed of late. They count as if they heard until the user is told, which
    /// happens when something is recorded.
    silent: AtomicUsize,
}

/// Where a trace will go. Files are opened while there is the right to, and the trace begins when that is given up:
/// threads that run before would keep it.
pub struct Trace {
    sinks: Vec<Kept>,
    /// What is offered to who may listen.
    offered: Option<Offered>,
    /// How many hear what happens: sinks that always do, and who listens.
    heard: Arc<AtomicUsize>,
    queue: Sender<Entry>,
    entries: Receiver<Entry>,
}

/// A sink, and whether it always hears.
struct Kept {
    sink: Box<dyn Sink>,
    always: bool,
}

/// Where others come in to listen, and what tells this connection from others.
struct Offered {
    door: Option<Door>,
    folder: PathBuf,
    connection: String,
}

/// Hands over what happens.
pub struct Recorder {
    heard: Arc<AtomicUsize>,
    queue: Sender<Entry>,
    shared: Arc<Shared>,
}

/// Waits for what is handed over to be given to all sinks.
#[derive(Debug)]
pub struct Flush(Sender<Entry>);

impl Default for Trace {
    fn default() -> Self {
        let (queue, entries) = channel();
        Self {
            sinks: Vec::new(),
            offered: None,
            heard: Arc::default(),
            queue,
            entries,
        }
    }
}

impl Trace {
    /// It goes here, too.
    #[must_use]
    pub fn to(mut self, sink: impl Sink + 'static) -> Self {
        self.heard.fetch_add(1, Ordering::Relaxed);
        self.sinks.push(Kept {
            sink: Box::new(sink),
            always: true,
        });
        self
    }

    /// It also goes to who listens at this socket, without secrets. There is one.
    #[must_use]
    pub fn offer(mut self, mut offer: Offer) -> Self {
        let heard = offer.heard();
        heard.fetch_add(self.heard.load(Ordering::Relaxed), Ordering::Relaxed);
        self.heard = heard;
        self.offered = Some(Offered {
            door: offer.door(),
            folder: offer.folder().to_owned(),
            connection: offer.connection().to_owned(),
        });
        self.sinks.push(Kept {
            sink: Box::new(Masked::new(offer)),
            always: false,
        });
        self
    }

    /// The folder in which something is to be removed in the end.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        Some(&self.offered.as_ref()?.folder)
    }

    /// For one who reads what is written.
    #[must_use]
    pub fn flush(&self) -> Flush {
        Flush(self.queue.clone())
    }

    /// A connection begins, of a chain in this role with these proxies, in front of this agent if it has one.
    #[must_use]
    pub fn begin(self, role: Role, proxies: Vec<String>, agent: Option<String>) -> Recorder {
        let shared = Arc::new(Shared::default());
        let writer = Writer {
            sinks: self.sinks,
            heard: self.heard.clone(),
            entries: self.entries,
            shared: shared.clone(),
            kept_back: None,
            reasons: Vec::new(),
        };
        let (door, connection) = match self.offered {
            Some(offered) => (offered.door, offered.connection),
            None => (None, letters()),
        };
        let beginning = beginning(connection, role, proxies, agent);
        let thread = thread::Builder::new().name("trace".to_owned());
        if let Err(error) = thread.spawn(move || writer.run(beginning)) {
            shared.fail(&error);
        }
        if let Some(door) = door {
            let queue = self.queue.clone();
            let thread = thread::Builder::new().name("live".to_owned());
            // At the end nobody waits for the word.
            let keep = move || door.keep(|| drop(queue.send(Entry::Joined)));
            if let Err(error) = thread.spawn(keep) {
                tracing::warn!("nobody can listen to this chain: {error}");
            }
        }
        Recorder {
            heard: self.heard,
            queue: self.queue,
            shared,
        }
    }
}

impl Recorder {
    /// Whether anybody hears what happens. What becomes of proxies is handed over anyway, for who listens later.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed) > 0
    }

    /// Something happened. What keeps a message costs what that does.
    pub(crate) fn record(&self, event: Event) {
        let cost = event.cost();
        let before = self.shared.waiting.fetch_add(cost, Ordering::Relaxed);
        if before > 0 && before + cost > WAITING {
            self.shared.waiting.fetch_sub(cost, Ordering::Relaxed);
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // Who takes nothing any more has said why.
        let _ = self
            .queue
            .send(Entry::Happened(SystemTime::now(), cost, event));
    }

    /// Why something is not written any more, for the user to be told, once.
    pub(crate) fn failures(&self) -> Vec<String> {
        if !self.shared.has_failed.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        let silent = self.shared.silent.swap(0, Ordering::Relaxed);
        self.heard.fetch_sub(silent, Ordering::Relaxed);
        let failed = self.shared.failed.lock();
        std::mem::take(&mut failed.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        wait(&self.queue, Entry::End);
    }
}

impl Flush {
    /// Waits until all sinks were given all that has happened, but not for ever.
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

/// What the thread has.
struct Writer {
    sinks: Vec<Kept>,
    heard: Arc<AtomicUsize>,
    entries: Receiver<Entry>,
    shared: Arc<Shared>,
    /// Since when a sink may have kept something back.
    kept_back: Option<Instant>,
    /// Why proxies are in their state, for who listens later. To look for secrets in that takes memory, which a chain
    /// that nobody watches does without.
    reasons: Vec<Line>,
}

impl Writer {
    /// Writes until the end, or until nobody takes it.
    fn run(mut self, beginning: Line) {
        let connection = beginning.connection.clone();
        let at = |time, line: Line| Line {
            time: stamp(time),
            connection: connection.clone(),
            ..line
        };
        let mut memories = Memories::default();
        let mut looked = Instant::now();
        let mut lines = vec![beginning];
        while let Some(first) = self.wait(looked) {
            let (mut cost, mut waits, mut is_over, mut looks) = (0, Vec::new(), false, false);
            let mut next = first;
            while let Some(entry) = next.take() {
                match entry {
                    Entry::Happened(time, size, event) => {
                        cost += size;
                        memories.note(&event);
                        let line = at(time, event.line());
                        memories.written(&line);
                        lines.push(line);
                    }
                    Entry::Joined => looks = true,
                    Entry::Flush(done) => waits.push(done),
                    Entry::End(done) => {
                        waits.push(done);
                        is_over = true;
                    }
                }
                if is_over || cost >= BATCH {
                    break;
                }
                next = self.entries.try_recv().ok();
            }
            let dropped = self.shared.dropped.swap(0, Ordering::Relaxed);
            if dropped > 0 {
                let line = Line {
                    dropped: Some(dropped),
                    ..Line::default()
                };
                lines.push(at(SystemTime::now(), line));
            }
            if looks || self.has_listeners() && looked.elapsed() >= LOOK {
                looked = Instant::now();
                let changed = memories.changed();
                lines.extend(changed.map(|line| at(SystemTime::now(), line)));
            }
            if cost > 0 {
                self.kept_back = Some(Instant::now());
            }
            self.write(&lines);
            lines.clear();
            self.shared.waiting.fetch_sub(cost, Ordering::Relaxed);
            if is_over {
                self.flush();
                // Sockets are removed before anybody goes on.
                self.sinks.clear();
            }
            for done in waits {
                let _ = done.send(());
            }
            if self.sinks.is_empty() {
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    /// What is there next; nothing when it is time to look, and no more at the end.
    #[allow(clippy::option_option, reason = "the end, and nothing for now")]
    fn wait(&mut self, looked: Instant) -> Option<Option<Entry>> {
        loop {
            let look = self.has_listeners().then(|| looked + LOOK);
            let quiet = self.kept_back.map(|since| since + QUIET);
            let Some(until) = look.into_iter().chain(quiet).min() else {
                return self.entries.recv().ok().map(Some);
            };
            let now = Instant::now();
            match self
                .entries
                .recv_timeout(until.saturating_duration_since(now))
            {
                Ok(entry) => return Some(Some(entry)),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if quiet == Some(until) => self.flush(),
                Err(RecvTimeoutError::Timeout) => return Some(None),
            }
        }
    }

    fn has_listeners(&self) -> bool {
        let always = self.sinks.iter().filter(|kept| kept.always).count();
        let silent = self.shared.silent.load(Ordering::Relaxed);
        self.heard.load(Ordering::Relaxed) > always + silent
    }

    fn write(&mut self, lines: &[Line]) {
        let is_listened = self.has_listeners();
        let before = match is_listened {
            true => std::mem::take(&mut self.reasons),
            false => self.keep(lines),
        };
        self.each_sink(|Kept { sink, always }| match (*always, is_listened) {
            (true, _) => sink.write(lines),
            (false, false) => sink.write(&before),
            (false, true) => sink.write(&before).and_then(|()| sink.write(lines)),
        });
    }

    /// What who listens later is told first, without the reasons, which are kept here.
    fn keep(&mut self, lines: &[Line]) -> Vec<Line> {
        if self.sinks.iter().all(|kept| kept.always) {
            return Vec::new();
        }
        let is_kept = |line: &&Line| line.version.is_some() || line.state.is_some();
        let mut kept: Vec<Line> = lines.iter().filter(is_kept).cloned().collect();
        for line in &mut kept {
            self.reasons.retain(|known| known.proxy != line.proxy);
            if line.why.is_some() {
                self.reasons.push(line.clone());
                line.why = None;
            }
        }
        kept
    }

    /// Nothing is kept back any more.
    fn flush(&mut self) {
        self.kept_back = None;
        self.each_sink(|Kept { sink, .. }| sink.flush());
    }

    fn each_sink(&mut self, mut act: impl FnMut(&mut Kept) -> io::Result<()>) {
        self.sinks.retain_mut(|kept| {
            let done = act(kept);
            if let Err(error) = &done {
                let silent = usize::from(kept.always);
                self.shared.silent.fetch_add(silent, Ordering::Relaxed);
                self.shared.fail(error);
            }
            done.is_ok()
        });
    }
}

impl Shared {
    fn fail(&self, error: &io::Error) {
        tracing::error!("the trace cannot be written, and ends here: {error}");
        let failed = self.failed.lock();
        failed
            .unwrap_or_else(PoisonError::into_inner)
            .push(error.to_string());
        self.has_failed.store(true, Ordering::Release);
    }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}
