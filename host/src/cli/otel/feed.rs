//! Hands lines over to the exporting process, which may be stopped, slow or gone: a bounded amount waits for it, and
//! lines that do not fit are counted.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use acp_chain_otel::{Settings, needed};
use acp_chain_trace::{Line, Missed, Sink};

/// How many bytes may wait to be handed over.
const WAITING: usize = 4 << 20;

/// How long the end of a chain waits for that.
const PATIENCE: Duration = Duration::from_millis(500);

/// Hands over lines.
pub struct Feed {
    /// The process, until the thread has it: threads that run before rights are given up would keep theirs.
    child: Option<Child>,
    queue: Sender<Entry>,
    entries: Option<Receiver<Entry>>,
    waiting: Arc<AtomicUsize>,
    /// The lines that did not fit.
    missed: Missed,
    settings: Settings,
    is_gone: bool,
}

enum Entry {
    Lines(Vec<u8>),
    Flush(SyncSender<()>),
}

impl Feed {
    /// Starts the process.
    pub fn begin(log: Option<&Path>, settings: Settings) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        // Nobody must wait for it to close our standard streams.
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match log {
            Some(log) => command.arg("--log-file").arg(log),
            // Our log goes to standard error. Its own goes to the user's.
            None => command.env_remove("ACP_CHAIN_LOG"),
        };
        let child = command.arg("export-otel").spawn()?;
        let (queue, entries) = channel();
        Ok(Self {
            child: Some(child),
            queue,
            entries: Some(entries),
            waiting: Arc::default(),
            missed: Missed::default(),
            settings,
            is_gone: false,
        })
    }

    /// Starts the thread, once.
    fn start(&mut self) -> io::Result<()> {
        if let (Some(child), Some(entries)) = (self.child.take(), self.entries.take()) {
            let waiting = self.waiting.clone();
            let thread = thread::Builder::new().name("otel".to_owned());
            thread.spawn(move || hand_over(child, &entries, &waiting))?;
        }
        Ok(())
    }

    /// The text of lines.
    fn text<'l>(&self, lines: impl Iterator<Item = &'l Line>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        for line in lines.filter_map(|line| needed(line, self.settings.content)) {
            serde_json::to_writer(&mut text, &*line)?;
            text.push(b'\n');
        }
        Ok(text)
    }

    /// These lines do not fit. The beginnings and ends of connections are still handed over, up to half as much more:
    /// without an end, the receiver would keep the connection.
    fn leave_out<'l>(&mut self, lines: &'l [Line], waiting: usize) -> Vec<&'l Line> {
        if self.missed.is_empty() {
            tracing::warn!(
                "the exporter for OpenTelemetry does not follow: lines of the trace are left out"
            );
        }
        let is_edge = |line: &Line| line.version.is_some() || line.is_end();
        let mut kept = Vec::new();
        for line in lines {
            if is_edge(line) && waiting <= WAITING + WAITING / 2 {
                kept.push(line);
            } else {
                self.missed.count(&line.connection);
            }
        }
        kept
    }
}

impl Sink for Feed {
    /// No error is the user's concern: the log has it.
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
        let text = if waiting > WAITING {
            let kept = self.leave_out(lines, waiting);
            self.text(kept.into_iter())?
        } else {
            let time = lines.first().map_or("", |line| &line.time);
            let missing: Vec<_> = self.missed.take(time).collect();
            self.text(missing.iter().chain(lines))?
        };
        if text.is_empty() {
            return Ok(());
        }
        self.waiting.fetch_add(text.len(), Ordering::Relaxed);
        self.is_gone = self.queue.send(Entry::Lines(text)).is_err();
        Ok(())
    }

    fn looks(&self) -> bool {
        self.settings.metrics && !self.is_gone
    }

    fn flush(&mut self) -> io::Result<()> {
        let (done, is_done) = sync_channel(1);
        if self.queue.send(Entry::Flush(done)).is_ok() {
            let _ = is_done.recv_timeout(PATIENCE);
        }
        Ok(())
    }
}

/// Writes entries until there are no more, or nobody reads them.
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
    // It may take its time. If we end before it, nobody waits for it.
    let _ = child.wait();
}
