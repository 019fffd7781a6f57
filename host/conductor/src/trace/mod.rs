//! What crossed which hop, and what the proxies decided: one JSON object a line, as `acp_chain_trace` reads them.
//!
//! | file | what it is |
//! |---|---|
//! | `event` | what happened, and the line that is made of it |
//! | `mask` | lines without secrets, for a sink |
//! | `file` | the file: whole lines, whoever else writes to it, and no end of them |
//!
//! What always holds: nobody waits for the trace. What happened is handed to a thread, which makes lines of it and
//! writes them; what does not fit into its queue is counted, and the count is written in its place.

mod event;
mod file;
mod mask;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use acp_chain_trace::{Line, Sink};

pub use acp_chain_trace::{Decision, Role};
pub(crate) use event::{About, Event};
pub use file::TraceFile;
pub use mask::Masked;

use event::{beginning, stamp};

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

/// What is handed to the thread.
enum Entry {
    Happened(SystemTime, usize, Event),
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
}

/// Where a trace will go. Files are opened while there is the right to, and the trace begins when that is given up:
/// threads that run before would keep it.
pub struct Trace {
    sinks: Vec<Box<dyn Sink>>,
    queue: Sender<Entry>,
    entries: Receiver<Entry>,
}

/// Hands over what happens.
pub struct Recorder {
    queue: Sender<Entry>,
    shared: Arc<Shared>,
}

/// Waits for what is handed over to be written.
#[derive(Debug)]
pub struct Flush(Sender<Entry>);

impl Default for Trace {
    fn default() -> Self {
        let (queue, entries) = channel();
        Self {
            sinks: Vec::new(),
            queue,
            entries,
        }
    }
}

impl Trace {
    /// It goes here, too.
    #[must_use]
    pub fn to(mut self, sink: impl Sink + 'static) -> Self {
        self.sinks.push(Box::new(sink));
        self
    }

    /// For one who reads what is written.
    #[must_use]
    pub fn flush(&self) -> Flush {
        Flush(self.queue.clone())
    }

    /// A connection begins, of a chain in this role with these proxies.
    #[must_use]
    pub fn begin(self, role: Role, proxies: Vec<String>) -> Recorder {
        let shared = Arc::new(Shared::default());
        let writer = Writer {
            sinks: self.sinks,
            entries: self.entries,
            shared: shared.clone(),
        };
        let beginning = beginning(role, proxies);
        let thread = thread::Builder::new().name("trace".to_owned());
        if let Err(error) = thread.spawn(move || writer.run(beginning)) {
            shared.fail(&error);
        }
        Recorder {
            queue: self.queue,
            shared,
        }
    }
}

impl Recorder {
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
    /// Waits until all that has happened is written, but not for ever.
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
    sinks: Vec<Box<dyn Sink>>,
    entries: Receiver<Entry>,
    shared: Arc<Shared>,
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
        let mut lines = vec![beginning];
        while let Some(first) = self.next() {
            let (mut cost, mut waits, mut is_over) = (0, Vec::new(), false);
            let mut next = Some(first);
            while let Some(entry) = next.take() {
                match entry {
                    Entry::Happened(time, size, event) => {
                        cost += size;
                        lines.push(at(time, event.line()));
                    }
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
            self.write(&lines, !waits.is_empty());
            lines.clear();
            self.shared.waiting.fetch_sub(cost, Ordering::Relaxed);
            for done in waits {
                let _ = done.send(());
            }
            if is_over || self.sinks.is_empty() {
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    /// What comes next, however long that takes.
    fn next(&mut self) -> Option<Entry> {
        match self.entries.recv_timeout(QUIET) {
            Err(RecvTimeoutError::Timeout) => {
                self.write(&[], true);
                self.entries.recv().ok()
            }
            next => next.ok(),
        }
    }

    fn write(&mut self, lines: &[Line], is_awaited: bool) {
        self.sinks.retain_mut(|sink| {
            let written = sink.write(lines).and_then(|()| match is_awaited {
                true => sink.flush(),
                false => Ok(()),
            });
            written.inspect_err(|error| self.shared.fail(error)).is_ok()
        });
    }
}

impl Shared {
    fn fail(&self, error: &std::io::Error) {
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
