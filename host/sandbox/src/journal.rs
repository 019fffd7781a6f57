//! A proxy's output: by `channel.log`, and on standard output and error, where interpreters print the cause of a crash.
//! It goes to the log, up to a limit, and its last lines into the report of a failure.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use tracing::Level;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use super::meter::Meter;
use acp_chain_rpc::Mutex;
use acp_chain_rpc::untrusted::quote;

/// How many of the last lines are kept for the report of a failure: a panic, and its stack.
const LINES: usize = 64;

/// How many bytes of each line are kept.
const LINE: usize = 1000;

/// How many bytes of an unfinished line on standard output or error are kept.
const PART: usize = 8 * 1024;

/// The length of a log line without its text: the time, the level, the name.
const HEAD: usize = 100;

/// The journal of one proxy. Cloning it shares it.
#[derive(Clone, Debug)]
pub struct Journal {
    proxy: Arc<str>,
    shared: Arc<Mutex<JournalState>>,
    /// How many bytes may go to the log.
    limit: usize,
    /// How many bytes went to the log, including those of earlier instances of the proxy.
    logged: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct JournalState {
    last: VecDeque<String>,
    /// The unfinished lines on standard output and error.
    parts: [Vec<u8>; 2],
}

impl Journal {
    /// An empty journal of which at most `limit` bytes go to the log, including those that were logged already.
    pub fn new(proxy: Arc<str>, limit: usize, logged: Arc<AtomicUsize>) -> Self {
        let shared = JournalState {
            last: VecDeque::new(),
            parts: Default::default(),
        };
        Self {
            proxy,
            shared: Arc::new(Mutex::new(shared)),
            limit,
            logged,
        }
    }

    /// Standard output, which counts as calls to the host.
    pub fn stdout(&self, meter: Arc<Meter>) -> Stream {
        self.stream(0, meter)
    }

    /// Standard error, which counts as calls to the host.
    pub fn stderr(&self, meter: Arc<Meter>) -> Stream {
        self.stream(1, meter)
    }

    fn stream(&self, number: usize, meter: Arc<Meter>) -> Stream {
        Stream {
            journal: self.clone(),
            number,
            meter,
        }
    }

    /// Takes the last lines.
    pub fn take_last(&self) -> Vec<String> {
        let parts = std::mem::take(&mut self.shared.lock().parts);
        for part in parts.iter().filter(|part| !part.is_empty()) {
            self.note_line(Level::INFO, "", &String::from_utf8_lossy(part));
        }
        self.shared.lock().last.drain(..).collect()
    }

    /// Records a text, by line. Lines after the first are marked, so that none looks like a line of the host.
    pub fn note(&self, level: Level, text: &str) {
        let (mut mark, mut rest, mut is_cut) = ("", text, false);
        loop {
            if !is_cut && self.left() == 0 {
                // The other lines are not shown, and there may be millions.
                (rest, is_cut) = (last_lines(rest), true);
            }
            let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
            self.note_line(level, mark, line.strip_suffix('\r').unwrap_or(line));
            if behind.is_empty() {
                return;
            }
            (mark, rest) = ("| ", behind);
        }
    }

    /// Records bytes on standard output or error, by line.
    fn print(&self, stream: usize, bytes: &[u8]) {
        let mut part = std::mem::take(&mut self.shared.lock().parts[stream]);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            part.extend_from_slice(piece);
            if piece.ends_with(b"\n") || part.len() > PART {
                let line = String::from_utf8_lossy(&part);
                self.note_line(Level::INFO, "", line.trim_end_matches(['\n', '\r']));
                part.clear();
            }
        }
        self.shared.lock().parts[stream] = part;
    }

    fn note_line(&self, level: Level, mark: &str, printed: &str) {
        // A tab would be escaped, and Go indents its stacks by them.
        let text = &printed.replace('\t', "    ");
        let mut shared = self.shared.lock();
        shared.last.push_back(quote(text, LINE));
        if shared.last.len() > LINES {
            shared.last.pop_front();
        }
        let left = self.left();
        // Lines that the log does not show do not count.
        if left == 0 || !is_shown(level) {
            return;
        }
        // The proxy's output must not look like lines of the host.
        let line = format!("{mark}{}", quote(text, left));
        let proxy = &*self.proxy;
        match level {
            Level::TRACE => tracing::trace!(proxy, "{line}"),
            Level::DEBUG => tracing::debug!(proxy, "{line}"),
            Level::INFO => tracing::info!(proxy, "{line}"),
            Level::WARN => tracing::warn!(proxy, "{line}"),
            Level::ERROR => tracing::error!(proxy, "{line}"),
        }
        self.logged.fetch_add(HEAD + line.len(), Ordering::Relaxed);
        if self.left() == 0 {
            tracing::warn!(
                proxy,
                "it exceeds its limit `log`; further lines are left out"
            );
        }
    }

    /// How many bytes may still go to the log.
    fn left(&self) -> usize {
        self.limit
            .saturating_sub(self.logged.load(Ordering::Relaxed))
    }
}

/// Whether the log shows lines of a level.
fn is_shown(level: Level) -> bool {
    match level {
        Level::TRACE => tracing::enabled!(Level::TRACE),
        Level::DEBUG => tracing::enabled!(Level::DEBUG),
        _ => true,
    }
}

/// The last [`LINES`] lines of a text.
fn last_lines(text: &str) -> &str {
    // A line feed at the end does not begin another line.
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let mut ends = lines.rmatch_indices('\n');
    ends.nth(LINES - 1)
        .map_or(text, |(end, _)| &text[end + 1..])
}

/// One of the proxy's standard streams. If a component opens it several times, all write to the same line.
#[derive(Clone)]
pub struct Stream {
    journal: Journal,
    number: usize,
    meter: Arc<Meter>,
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Only version 0.2 of WASI is linked.
        Box::new(tokio::io::sink())
    }
}

/// Output is recorded at once: a component never waits for it, and reports have all of it.
#[async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let counted = self.meter.count_call();
        counted.map_err(|exceeded| StreamError::Trap(exceeded.into()))?;
        self.journal.print(self.number, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PART)
    }
}

#[cfg(test)]
mod tests {
    use acp_chain_channel::limits::Limits;

    use super::*;

    #[test]
    fn a_line_without_text_is_charged_too_and_one_of_escapes_for_what_it_takes() {
        for (text, lines) in [("", 10), ("\u{1}\u{1}\u{1}\u{1}\u{1}", 8)] {
            let journal = Journal::new("p".into(), 10 * HEAD, Arc::default());
            for _ in 1..lines {
                journal.note(Level::INFO, text);
            }
            assert!(journal.left() > 0, "{text:?}");
            journal.note(Level::INFO, text);
            assert_eq!(journal.left(), 0, "{text:?}");
        }
    }

    #[test]
    fn past_the_limit_only_the_last_lines_of_a_text_are_read() {
        let logged = Arc::new(AtomicUsize::new(0));
        let journal = Journal::new("p".into(), 10 * HEAD, logged.clone());
        let text: Vec<_> = (0..1000).map(|line| line.to_string()).collect();
        for end in ["", "\n", "\r\n"] {
            journal.note(Level::INFO, &(text.join("\n") + end));
            assert_eq!(journal.take_last(), text[1000 - LINES..]);
        }
        journal.note(Level::INFO, "\n\n");
        assert_eq!(journal.take_last(), ["", ""]);
        journal.note(Level::INFO, "\tmain.go:7");
        assert_eq!(journal.take_last(), ["    main.go:7"]);
        // The next instance shares the limit.
        let next = Journal::new("p".into(), 10 * HEAD, logged);
        assert_eq!(next.left(), 0);
    }

    #[test]
    fn output_in_pieces_is_recorded_by_line() {
        let journal = Journal::new("p".into(), usize::MAX, Arc::default());
        let meter = Arc::new(Meter::new(Arc::default()));
        let streams = [journal.stdout(meter.clone()), journal.stderr(meter)];
        let mut streams = streams.map(|stream| stream.p2_stream());
        for (stream, text) in [
            (0, "Error: no"),
            (1, "beside\r\n"),
            (0, " rules\n\n  at f\nand"),
            (0, " the end"),
        ] {
            streams[stream].write(text.into()).expect("room");
        }
        let said = ["beside", "Error: no rules", "", "  at f", "and the end"];
        assert_eq!(journal.take_last(), said);
        journal.note(Level::INFO, "one\ntwo");
        assert_eq!(journal.take_last(), ["one", "two"]);
    }

    #[test]
    fn a_stream_that_is_opened_again_and_again_keeps_no_more_than_one_line() {
        let journal = Journal::new("p".into(), usize::MAX, Arc::default());
        let meter = Arc::new(Meter::new(Arc::default()));
        for _ in 0..10 * PART {
            let mut stream = journal.stdout(meter.clone()).p2_stream();
            stream.write("ab".into()).expect("room");
        }
        let kept: usize = journal.shared.lock().parts.iter().map(Vec::len).sum();
        assert!(kept <= PART, "{kept}");
    }

    #[test]
    fn too_many_writes_are_a_trap() {
        let limits = Limits {
            calls: 2,
            ..Limits::default()
        };
        let meter = Arc::new(Meter::new(limits.into()));
        let journal = Journal::new("p".into(), usize::MAX, Arc::default());
        let streams = [journal.stdout(meter.clone()), journal.stderr(meter)];
        let [mut stdout, mut stderr] = streams.map(|stream| stream.p2_stream());
        stdout.write("one\n".into()).expect("a first call");
        stderr.write("two\n".into()).expect("a second call");
        let one_too_many = stdout.write("three\n".into());
        assert!(matches!(one_too_many, Err(StreamError::Trap(_))));
        assert_eq!(journal.take_last(), ["one", "two"]);
    }
}
