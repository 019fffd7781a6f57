//! Hands lines over to the exporting process, which may be stopped, slow or dead: a bounded amount waits for it, and
//! lines that do not fit are counted.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use acp_chain_otel::{Settings, needed};
use acp_chain_trace::{Line, Missed, Sink};

use crate::beside;

/// How many bytes may wait to be handed over.
const WAITING: usize = 4 << 20;

/// How long the end of a chain waits until all lines are handed over.
const PATIENCE: Duration = Duration::from_millis(500);

/// Hands over lines.
pub struct Feed {
    /// The process, until [`start`](Self::start): threads that run before rights are given up would keep theirs.
    child: Option<Child>,
    queue: Sender<Entry>,
    entries: Option<Receiver<Entry>>,
    waiting: Arc<AtomicUsize>,
    /// The lines that did not fit.
    missed: Missed,
    settings: Settings,
    has_ended: bool,
}

enum Entry {
    Lines(Vec<u8>),
    Flush(SyncSender<()>),
}

impl Feed {
    /// Starts the process.
    pub fn begin(log: Option<&Path>, settings: Settings) -> io::Result<Self> {
        let mut command = beside::command("export-otel", log)?;
        let child = command.stdin(Stdio::piped()).spawn()?;
        let (queue, entries) = channel();
        Ok(Self {
            child: Some(child),
            queue,
            entries: Some(entries),
            waiting: Arc::default(),
            missed: Missed::default(),
            settings,
            has_ended: false,
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

    /// Counts lines that do not fit, and returns those to hand over nevertheless, up to half as much more: beginnings
    /// and ends of connections, since the receiver keeps a connection until its end.
    fn leave_out<'l>(&mut self, lines: &'l [Line], waiting: usize) -> Vec<&'l Line> {
        if self.missed.is_empty() {
            tracing::warn!(
                "the exporter for OpenTelemetry is too slow: lines of the trace are left out"
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
    /// Errors are logged, and not reported to the user.
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        if self.has_ended {
            return Ok(());
        }
        if let Err(error) = self.start() {
            tracing::error!("there are no spans and metrics: no thread can be started: {error}");
            self.has_ended = true;
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
        self.has_ended = self.queue.send(Entry::Lines(text)).is_err();
        Ok(())
    }

    fn looks(&self) -> bool {
        self.settings.metrics && !self.has_ended
    }

    fn flush(&mut self) -> io::Result<()> {
        let (done, is_done) = sync_channel(1);
        if self.queue.send(Entry::Flush(done)).is_ok() {
            let _ = is_done.recv_timeout(PATIENCE);
        }
        Ok(())
    }
}

/// Writes entries until there are no more, or the process has closed its input.
fn hand_over(mut child: Child, entries: &Receiver<Entry>, waiting: &AtomicUsize) {
    let Some(mut input) = child.stdin.take() else {
        return;
    };
    for entry in entries {
        match entry {
            Entry::Lines(text) => {
                if let Err(error) = input.write_all(&text) {
                    tracing::error!(
                        "the exporter for OpenTelemetry has ended, for the reason in its log: {error}"
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
    // The process may take a while. If ours ends first, it is not waited for.
    let _ = child.wait();
}
