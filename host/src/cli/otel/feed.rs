//! Hands lines over to the process that exports them. It may be stopped, slow or gone: so much waits for it, and what
//! does not fit is counted.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use acp_chain_otel::needed;
use acp_chain_trace::{Line, Sink};

/// How much may wait to be handed over, in bytes.
const WAITING: usize = 4 << 20;

/// How long the end of a chain waits for that.
const PATIENCE: Duration = Duration::from_millis(500);

/// Hands over lines.
pub struct Feed {
    /// Until there is a thread: those that run before rights are given up would keep some.
    child: Option<Child>,
    queue: Sender<Entry>,
    entries: Option<Receiver<Entry>>,
    waiting: Arc<AtomicUsize>,
    dropped: u64,
    is_gone: bool,
}

enum Entry {
    Lines(Vec<u8>),
    Flush(SyncSender<()>),
}

impl Feed {
    /// Starts the process.
    pub fn begin(log: Option<&Path>) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        // Nobody is to wait for our standard streams to be closed by it.
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match log {
            Some(log) => command.arg("--log-file").arg(log),
            // Ours goes to standard error. Its own goes to the user's.
            None => command.env_remove("ACP_CHAIN_LOG"),
        };
        let child = command.arg("export-otel").spawn()?;
        let (queue, entries) = channel();
        Ok(Self {
            child: Some(child),
            queue,
            entries: Some(entries),
            waiting: Arc::default(),
            dropped: 0,
            is_gone: false,
        })
    }

    /// Begins to hand over, once.
    fn start(&mut self) -> io::Result<()> {
        if let (Some(child), Some(entries)) = (self.child.take(), self.entries.take()) {
            let waiting = self.waiting.clone();
            let thread = thread::Builder::new().name("otel".to_owned());
            thread.spawn(move || hand_over(child, &entries, &waiting))?;
        }
        Ok(())
    }

    /// What is written of these lines.
    fn text(&mut self, lines: &[Line]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if let (1.., Some(first)) = (self.dropped, lines.first()) {
            let missing = Line {
                time: first.time.clone(),
                connection: first.connection.clone(),
                dropped: Some(self.dropped),
                ..Line::default()
            };
            serde_json::to_writer(&mut text, &missing)?;
            text.push(b'\n');
        }
        for line in lines.iter().filter_map(needed) {
            serde_json::to_writer(&mut text, &*line)?;
            text.push(b'\n');
        }
        Ok(text)
    }
}

impl Sink for Feed {
    /// No error of it is the user's concern: the log has it.
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        if self.is_gone {
            return Ok(());
        }
        if let Err(error) = self.start() {
            tracing::error!("there are no spans and metrics: no thread can be started: {error}");
            self.is_gone = true;
            return Ok(());
        }
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting > WAITING {
            if self.dropped == 0 {
                tracing::warn!(
                    "the exporter for OpenTelemetry does not follow: lines of the trace are left out"
                );
            }
            self.dropped += lines.len() as u64;
            return Ok(());
        }
        let text = self.text(lines)?;
        self.dropped = 0;
        if text.is_empty() {
            return Ok(());
        }
        self.waiting.fetch_add(text.len(), Ordering::Relaxed);
        self.is_gone = self.queue.send(Entry::Lines(text)).is_err();
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let (done, is_done) = sync_channel(1);
        if self.queue.send(Entry::Flush(done)).is_ok() {
            let _ = is_done.recv_timeout(PATIENCE);
        }
        Ok(())
    }
}

/// Writes what comes, until nothing does, or nobody reads it.
fn hand_over(mut child: Child, entries: &Receiver<Entry>, waiting: &AtomicUsize) {
    let Some(mut input) = child.stdin.take() else {
        return;
    };
    for entry in entries {
        match entry {
            Entry::Lines(text) => {
                if let Err(error) = input.write_all(&text) {
                    tracing::error!(
                        "the exporter for OpenTelemetry is gone, and says why in its log: {error}"
                    );
                    break;
                }
                waiting.fetch_sub(text.len(), Ordering::Relaxed);
            }
            Entry::Flush(done) => {
                let _ = done.send(());
            }
        }
    }
    drop(input);
    // It may take its time. Whoever ends before it need not wait for it.
    let _ = child.wait();
}
