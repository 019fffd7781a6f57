//! The access log: a line of JSON for each request and each message of a client, each permission request, and each
//! ended turn.
//!
//! Invariants: logging never blocks. Lines go to a thread through a bounded queue; lines without room there, or that
//! cannot be written, are counted. A line contains neither content nor tokens; foreign text in it is short, and escaped
//! as JSON.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, SystemTime};
use std::{io, thread};

use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::plain;
use serde::Serialize;

use super::metrics::{Count, Figures, Page, TransportKind};
use crate::User;

/// How many lines may wait.
const WAITING: usize = 4096;

/// How much is written at once, in bytes.
const BATCH: usize = 64 << 10;

/// The longest foreign text, in bytes.
const TEXT: usize = 256;

/// A handle for writing lines.
#[derive(Clone, Debug)]
pub struct AccessLog {
    /// An empty line only wakes the writer.
    queue: SyncSender<Vec<u8>>,
    counts: Arc<Counts>,
    flushes: Arc<Flushes>,
}

/// The callers that wait until the queue is written. They are not in the queue, so they are noticed even if it is full.
type Flushes = Mutex<Vec<SyncSender<()>>>;

#[derive(Debug, Default)]
struct Counts {
    dropped: Count,
    failed: Count,
}

/// Writes the lines, on a thread of its own.
pub struct Writer {
    out: Box<dyn Write + Send>,
    queue: Receiver<Vec<u8>>,
    counts: Arc<Counts>,
    flushes: Arc<Flushes>,
}

/// An event.
#[derive(Debug, Default, Serialize)]
pub(super) struct Entry<'e> {
    /// `request`, `message`, `permission` or `turn`.
    pub event: &'static str,
    pub peer: Option<SocketAddr>,
    /// The HTTP method, and the status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The method of JSON-RPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// How a turn ended, and with which error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The client's answer to a permission request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'static str>,
    /// How many permissions were requested in a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<u32>,
    /// The duration, in milliseconds.
    pub ms: u128,
}

/// The connection and the user of log lines, and what counts its events.
#[derive(Debug)]
pub(super) struct LogContext {
    pub access: Option<AccessLog>,
    pub figures: Arc<Figures>,
    pub connection: Option<String>,
    pub user: Arc<User>,
    pub way: TransportKind,
    pub peer: SocketAddr,
}

#[derive(Serialize)]
struct Line<'l> {
    /// Seconds since 1970.
    time: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<&'l str>,
    user: &'l str,
    transport: &'static str,
    #[serde(flatten)]
    entry: Entry<'l>,
}

impl LogContext {
    /// Logs an event.
    pub(super) fn write(&self, mut entry: Entry<'_>) {
        let Some(access) = &self.access else { return };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        entry.peer = Some(self.peer);
        entry.method = entry.method.map(short);
        entry.session = entry.session.map(short);
        entry.http = entry.http.map(short);
        let line = Line {
            time: now.unwrap_or_default().as_secs_f64(),
            connection: self.connection.as_deref().map(short),
            user: short(&self.user.name),
            transport: self.way.name(),
            entry,
        };
        let Ok(line) = serde_json::to_string(&line) else {
            return;
        };
        let line = format!("{}\n", plain(&line)).into_bytes();
        if access.queue.try_send(line).is_err() {
            access.counts.dropped.add(1);
        }
    }
}

impl AccessLog {
    /// A log, and its writer, which must run on a thread.
    pub fn new(out: Box<dyn Write + Send>) -> (Self, Writer) {
        let (sender, queue) = sync_channel(WAITING);
        let counts = Arc::<Counts>::default();
        let flushes = Arc::<Flushes>::default();
        let writer = Writer {
            out,
            queue,
            counts: counts.clone(),
            flushes: flushes.clone(),
        };
        let access = Self {
            queue: sender,
            counts,
            flushes,
        };
        (access, writer)
    }

    /// Waits until all events are written, but no longer than this.
    pub fn flush(&self, patience: Duration) {
        let (sender, flushed) = sync_channel(1);
        self.flushes.lock().push(sender);
        // If the queue is full, the writer is awake.
        if let Err(TrySendError::Disconnected(_)) = self.queue.try_send(Vec::new()) {
            return;
        }
        let _ = flushed.recv_timeout(patience);
    }

    /// Writes the number of lost lines.
    pub(super) fn write(&self, page: &mut Page) {
        page.values(
            "acp_chain_access_log_lost_total",
            "Lines of the access log that were lost, by the reason.",
            "reason",
            [
                ("no_room", self.counts.dropped.get()),
                ("not_written", self.counts.failed.get()),
            ],
        );
    }
}

impl Writer {
    /// Writes until there are no senders left.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn begin(self) -> io::Result<()> {
        let thread = thread::Builder::new().name("access".to_owned());
        thread.spawn(move || self.run()).map(drop)
    }

    fn run(mut self) {
        let (mut is_reported, mut flushes) = (false, Vec::new());
        while let Ok(first) = self.queue.recv() {
            // Lines that were queued before these calls are in this batch, if it empties the queue.
            flushes.append(&mut self.flushes.lock());
            let mut text = first;
            let mut lines = u64::from(!text.is_empty());
            let is_empty = loop {
                if text.len() >= BATCH {
                    break false;
                }
                let Ok(line) = self.queue.try_recv() else {
                    break true;
                };
                text.extend_from_slice(&line);
                lines += u64::from(!line.is_empty());
            };
            match self.out.write_all(&text) {
                Ok(()) => is_reported = false,
                Err(error) => {
                    self.counts.failed.add(lines);
                    // A full disk stays full for a while.
                    if !is_reported {
                        tracing::error!("the access log cannot be written: {error}");
                    }
                    is_reported = true;
                }
            }
            if is_empty {
                for flush in flushes.drain(..) {
                    let _ = flush.try_send(());
                }
            }
        }
    }
}

/// The beginning of a text.
fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that is full.
    struct FullDisk;

    impl Write for FullDisk {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Disk(Arc<Mutex<Vec<u8>>>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log(access: &AccessLog) -> LogContext {
        LogContext {
            access: Some(access.clone()),
            figures: Arc::default(),
            connection: Some("a.0".to_owned()),
            user: Arc::default(),
            way: TransportKind::Http,
            peer: ([127, 0, 0, 1], 9).into(),
        }
    }

    fn lost(access: &AccessLog) -> String {
        let mut page = Page::default();
        access.write(&mut page);
        page.into_text()
    }

    #[test]
    fn lines_that_are_lost_are_counted_without_blocking() {
        let (access, writer) = AccessLog::new(Box::new(FullDisk));
        let log = log(&access);
        for _ in 0..WAITING + 5 {
            log.write(Entry::default());
        }
        assert!(
            lost(&access).contains("no_room\"} 5\n"),
            "{}",
            lost(&access)
        );
        writer.begin().unwrap();
        access.flush(Duration::from_mins(1));
        let text = lost(&access);
        assert!(
            text.contains(&format!("not_written\"}} {WAITING}\n")),
            "{text}"
        );
    }

    #[test]
    fn a_flush_writes_all_lines_even_if_the_queue_is_full() {
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let (access, writer) = AccessLog::new(Box::new(Disk(written.clone())));
        let log = log(&access);
        for _ in 0..WAITING {
            log.write(Entry::default());
        }
        let flushed = thread::spawn(move || access.flush(Duration::from_mins(1)));
        // The lines are written only once the call waits.
        while writer.flushes.lock().is_empty() {
            thread::yield_now();
        }
        writer.begin().unwrap();
        flushed.join().unwrap();
        let text = String::from_utf8(written.lock().clone()).unwrap();
        assert_eq!(text.lines().count(), WAITING);
    }

    #[test]
    fn foreign_text_is_short_and_escaped() {
        let (access, writer) = AccessLog::new(Box::new(FullDisk));
        let long = format!("\n\u{1b}\"{}", "é".repeat(TEXT));
        log(&access).write(Entry {
            method: Some(&long),
            ..Entry::default()
        });
        let line = writer.queue.try_recv().unwrap();
        let line = String::from_utf8(line).unwrap();
        assert!(line.len() < 2 * TEXT + 200 && line.lines().count() == 1);
        assert!(!line.contains('\x1b') && line.contains(r#""method":"\n\u001b\""#));
    }
}
