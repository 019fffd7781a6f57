//! What crossed which hop, and what the proxies decided: one JSON object a line, as `acp_chain_trace` reads them.
//!
//! | file | what it is |
//! |---|---|
//! | `event` | what happened, and the line that is made of it |
//! | `file` | the file: whole lines, whoever else writes to it, and no end of them |
//!
//! What always holds: nobody waits for the trace. What happened is handed to a thread, which makes lines of it and
//! writes them; what does not fit into its queue is counted, and the count is written in its place.

mod event;
mod file;

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime};

use acp_chain_trace::Line;

pub use acp_chain_trace::{Decision, Role};
pub(crate) use event::{About, Event};

use event::{beginning, stamp};
use file::TraceFile;

/// Who the host is in a trace.
pub const HOST: &str = "acp-chain";

/// How much may wait to be written, in bytes. Whatever its size, one message may always wait.
const WAITING: usize = 16 << 20;

/// About so many bytes are written at once.
const BATCH: usize = 1 << 20;

/// The pause after each write: who hands over what happens meanwhile need not wake the thread.
const PAUSE: Duration = Duration::from_millis(2);

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
    /// Why nothing is written any more.
    failed: OnceLock<String>,
}

/// A trace that is open, and to which nothing is written yet. It is opened while there is the right to, and begins
/// when that is given up: threads that run before would keep it.
pub struct Trace {
    file: TraceFile,
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

impl Trace {
    /// Opens a file, and the one beside it that [keeps](acp_chain_trace::kept) what stood in it when it grows too
    /// long. Where they are not there, they are made for their owner alone: they will hold all that is said.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        TraceFile::open(path).map(Self::of)
    }

    /// The same of a file that grows as long as it likes, for one who reads all of it.
    pub fn open_endless(path: &Path) -> std::io::Result<Self> {
        TraceFile::open_endless(path).map(Self::of)
    }

    fn of(file: TraceFile) -> Self {
        let (queue, entries) = channel();
        Self {
            file,
            queue,
            entries,
        }
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
        let (theirs, beginning) = (shared.clone(), beginning(role, proxies));
        let work = move || write(self.file, &self.entries, &beginning, &theirs);
        let thread = thread::Builder::new().name("trace".to_owned());
        if let Err(error) = thread.spawn(work) {
            fail(&shared, &error);
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

    /// Why nothing is written any more.
    pub(crate) fn failure(&self) -> Option<String> {
        self.shared.failed.get().cloned()
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

/// Writes until the end, or until it cannot.
fn write(mut file: TraceFile, entries: &Receiver<Entry>, beginning: &Line, shared: &Shared) {
    let mut batch = Vec::new();
    let connection = &beginning.connection;
    let put = |batch: &mut Vec<u8>, line: &Line| {
        // Into memory, that does not fail.
        let _ = serde_json::to_writer(&mut *batch, line);
        batch.push(b'\n');
    };
    let at = |time, line: Line| Line {
        time: stamp(time),
        connection: connection.clone(),
        ..line
    };
    let mut heading = Vec::new();
    put(&mut heading, beginning);
    while let Ok(first) = entries.recv() {
        let (mut cost, mut waits, mut is_over) = (0, Vec::new(), false);
        let mut next = Some(first);
        while let Some(entry) = next.take() {
            match entry {
                Entry::Happened(time, size, event) => {
                    cost += size;
                    put(&mut batch, &at(time, event.line()));
                }
                Entry::Flush(done) => waits.push(done),
                Entry::End(done) => {
                    waits.push(done);
                    is_over = true;
                }
            }
            if is_over || batch.len() >= BATCH {
                break;
            }
            next = entries.try_recv().ok();
        }
        let dropped = shared.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let line = Line {
                dropped: Some(dropped),
                ..Line::default()
            };
            put(&mut batch, &at(SystemTime::now(), line));
        }
        let written = file.append(&heading, &batch);
        batch.clear();
        batch.shrink_to(BATCH);
        shared.waiting.fetch_sub(cost, Ordering::Relaxed);
        if let Err(error) = written {
            fail(shared, &error);
            return;
        }
        for done in waits {
            let _ = done.send(());
        }
        if is_over {
            return;
        }
        thread::sleep(PAUSE);
    }
}

fn fail(shared: &Shared, error: &std::io::Error) {
    tracing::error!("the trace cannot be written, and ends here: {error}");
    let _ = shared.failed.set(error.to_string());
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}
