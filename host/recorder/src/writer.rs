//! The thread that converts events to lines, and writes them to all sinks.
//!
//! Invariants: everything kept of a connection is dropped when it ends.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use acp_chain_trace::{Line, Sink};

use super::event::stamp;
use super::memories::Memories;
use super::{Event, SharedState};

/// About how many bytes are written at once.
const BATCH: usize = 1 << 20;

/// The pause after each write: events recorded during it need not wake the thread.
const PAUSE: Duration = Duration::from_millis(2);

/// After this long without events on a connection, sinks release the lines of it that they keep back.
const QUIET: Duration = Duration::from_secs(1);

/// How often the memory of proxies is read, while there are listeners or a sink requests it.
const LOOK: Duration = Duration::from_secs(1);

/// The random id of a connection.
pub type Name = Arc<str>;

/// An entry of the thread's queue.
pub enum Entry {
    /// A connection begins, with this line and the counter of its dropped events.
    Began(Box<Line>, Arc<AtomicU64>),
    Happened(Name, SystemTime, usize, Event),
    /// A connection has ended.
    Ended(Name, SystemTime),
    /// A listener has joined.
    Joined,
    /// Write everything before it.
    Flush(SyncSender<()>),
    /// Write everything before it; nothing follows.
    End(SyncSender<()>),
}

/// A sink, and whether it is permanent.
pub struct SinkEntry {
    pub sink: Box<dyn Sink>,
    pub always: bool,
}

/// The state of the thread.
pub struct Writer {
    sinks: Vec<SinkEntry>,
    sink_count: Arc<AtomicUsize>,
    entries: Receiver<Entry>,
    shared: Arc<SharedState>,
    connections: HashMap<Name, Connection>,
    /// The connections of which sinks may keep lines back, and since when.
    kept_back: BTreeSet<(Instant, Name)>,
    /// Whether there are [reasons](Connection::reasons) of any connection.
    has_reasons: bool,
    /// When the memory of proxies was last read.
    looked: Instant,
}

/// The state of a connection.
#[derive(Default)]
struct Connection {
    /// How many events did not fit since the last count was written.
    dropped: Arc<AtomicU64>,
    kept_back: Option<Instant>,
    memories: Memories,
    /// Lines with reasons for the states of proxies, for listeners that connect later. They are not masked before, as
    /// masking takes memory.
    reasons: Vec<Line>,
}

/// A batch to be written.
#[derive(Default)]
struct Batch {
    lines: Vec<Line>,
    cost: usize,
    /// The waiters to notify after the write.
    waits: Vec<SyncSender<()>>,
    has_joined: bool,
    is_over: bool,
}

impl Writer {
    pub fn new(
        sinks: Vec<SinkEntry>,
        sink_count: Arc<AtomicUsize>,
        entries: Receiver<Entry>,
        shared: Arc<SharedState>,
    ) -> Self {
        Self {
            sinks,
            sink_count,
            entries,
            shared,
            connections: HashMap::new(),
            kept_back: BTreeSet::new(),
            has_reasons: false,
            looked: Instant::now(),
        }
    }

    /// Writes until the end, or until there is no sink left.
    pub fn run(mut self) {
        while let Some(first) = self.wait() {
            let mut batch = Batch::default();
            let mut next = first;
            while let Some(entry) = next.take() {
                self.take(entry, &mut batch);
                if batch.is_over || batch.cost >= BATCH {
                    break;
                }
                next = self.entries.try_recv().ok();
            }
            self.tell_dropped(&mut batch.lines);
            if batch.has_joined || self.looks() && self.looked.elapsed() >= LOOK {
                self.look(&mut batch.lines);
            }
            self.write(&batch.lines);
            self.settle(&batch.lines);
            self.shared.waiting.fetch_sub(batch.cost, Ordering::Relaxed);
            if batch.is_over {
                self.each_sink(|SinkEntry { sink, .. }| sink.flush());
                // Dropping the sinks removes sockets, before the waiters continue.
                self.sinks.clear();
            }
            for done in batch.waits {
                let _ = done.send(());
            }
            if self.sinks.is_empty() {
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    fn take(&mut self, entry: Entry, batch: &mut Batch) {
        match entry {
            Entry::Began(line, dropped) => {
                let connection = Connection {
                    dropped,
                    ..Connection::default()
                };
                self.connections
                    .insert((&*line.connection).into(), connection);
                batch.lines.push(*line);
            }
            Entry::Happened(name, time, cost, event) => {
                batch.cost += cost;
                if let Some(known) = self.connections.get_mut(&name) {
                    known.memories.note(&event);
                    let line = at(&name, time, event.line());
                    known.memories.written(&line);
                    batch.lines.push(line);
                }
            }
            Entry::Ended(name, time) => {
                if let Some(known) = self.connections.get(&name) {
                    batch.lines.extend(missing(&name, known));
                }
                let line = Line {
                    ended: Some(true),
                    ..Line::default()
                };
                batch.lines.push(at(&name, time, line));
            }
            Entry::Joined => batch.has_joined = true,
            Entry::Flush(done) => batch.waits.push(done),
            Entry::End(done) => {
                batch.waits.push(done);
                batch.is_over = true;
            }
        }
    }

    /// The next entry; `Some(None)` when it is time to read the memory, `None` at the end.
    #[allow(clippy::option_option, reason = "the end, and nothing for now")]
    fn wait(&mut self) -> Option<Option<Entry>> {
        loop {
            let look = self.looks().then(|| self.looked + LOOK);
            let quiet = self.kept_back.first().map(|(since, _)| *since + QUIET);
            let Some(until) = look.into_iter().chain(quiet).min() else {
                return self.entries.recv().ok().map(Some);
            };
            let patience = until.saturating_duration_since(Instant::now());
            match self.entries.recv_timeout(patience) {
                Ok(entry) => return Some(Some(entry)),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if quiet == Some(until) => self.rest(),
                Err(RecvTimeoutError::Timeout) => return Some(None),
            }
        }
    }

    fn looks(&self) -> bool {
        self.has_listeners() || self.sinks.iter().any(|kept| kept.sink.looks())
    }

    fn has_listeners(&self) -> bool {
        let always = self.sinks.iter().filter(|kept| kept.always).count();
        let silent = self.shared.silent.load(Ordering::Relaxed);
        self.sink_count.load(Ordering::Relaxed) > always + silent
    }

    /// Reports events that did not fit.
    fn tell_dropped(&mut self, lines: &mut Vec<Line>) {
        if self.shared.has_dropped.swap(false, Ordering::Relaxed) {
            let all = self.connections.iter();
            lines.extend(all.filter_map(|(name, known)| missing(name, known)));
        }
    }

    /// Reports changes of memory.
    fn look(&mut self, lines: &mut Vec<Line>) {
        self.looked = Instant::now();
        for (name, known) in &mut self.connections {
            let changed = known.memories.changed();
            lines.extend(changed.map(|line| at(name, SystemTime::now(), line)));
        }
    }

    fn write(&mut self, lines: &[Line]) {
        let is_listened = self.has_listeners();
        let before = if is_listened {
            self.reasons()
        } else {
            self.keep(lines)
        };
        self.each_sink(|SinkEntry { sink, always }| match (*always, is_listened) {
            (true, _) => sink.write(lines),
            (false, false) => sink.write(&before),
            (false, true) => sink.write(&before).and_then(|()| sink.write(lines)),
        });
    }

    /// The lines about states for listeners that connect later, without the reasons, which are kept here.
    fn keep(&mut self, lines: &[Line]) -> Vec<Line> {
        if self.sinks.iter().all(|kept| kept.always) {
            return Vec::new();
        }
        let lasting = lines.iter().filter(|line| line.is_lasting());
        let mut kept: Vec<Line> = lasting.cloned().collect();
        for line in &mut kept {
            if let Some(known) = self.connections.get_mut(&*line.connection) {
                known.reasons.retain(|reason| reason.proxy != line.proxy);
                if line.why.is_some() {
                    self.has_reasons = true;
                    known.reasons.push(line.clone());
                    line.why = None;
                }
            }
        }
        kept
    }

    /// Takes the kept reasons.
    fn reasons(&mut self) -> Vec<Line> {
        if !std::mem::take(&mut self.has_reasons) {
            return Vec::new();
        }
        let all = self.connections.values_mut();
        all.flat_map(|known| std::mem::take(&mut known.reasons))
            .collect()
    }

    /// Handles written lines: connections that ended are dropped, and for the others, sinks may keep lines back.
    fn settle(&mut self, lines: &[Line]) {
        let now = Instant::now();
        for line in lines {
            let Some((name, known)) = self.connections.get_key_value(&*line.connection) else {
                continue;
            };
            let (name, since) = (name.clone(), known.kept_back);
            if since.is_none_or(|since| since != now) {
                if let Some(since) = since {
                    self.kept_back.remove(&(since, name.clone()));
                }
                self.kept_back.insert((now, name.clone()));
            }
            if line.is_end() {
                self.kept_back.remove(&(now, name.clone()));
                self.connections.remove(&name);
            } else if let Some(known) = self.connections.get_mut(&name) {
                known.kept_back = Some(now);
            }
        }
    }

    /// Lets sinks release the lines of connections without recent events.
    fn rest(&mut self) {
        let now = Instant::now();
        while let Some((since, _)) = self.kept_back.first()
            && now.saturating_duration_since(*since) >= QUIET
            && let Some((_, name)) = self.kept_back.pop_first()
        {
            if let Some(known) = self.connections.get_mut(&name) {
                known.kept_back = None;
            }
            self.each_sink(|SinkEntry { sink, .. }| sink.rest(&name));
        }
    }

    fn each_sink(&mut self, mut act: impl FnMut(&mut SinkEntry) -> io::Result<()>) {
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

/// A line of a connection, with this time.
fn at(name: &Name, time: SystemTime, line: Line) -> Line {
    Line {
        time: stamp(time),
        connection: name.as_ref().to_owned(),
        ..line
    }
}

/// The line that counts a connection's dropped events.
fn missing(name: &Name, known: &Connection) -> Option<Line> {
    let dropped = known.dropped.swap(0, Ordering::Relaxed);
    let line = || Line {
        dropped: Some(dropped),
        ..Line::default()
    };
    (dropped > 0).then(|| at(name, SystemTime::now(), line()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn nothing_is_kept_of_a_connection_that_ended() {
        let (_, entries) = channel();
        let mut writer = Writer::new(Vec::new(), Arc::default(), entries, Arc::default());
        let began = |name: &str| {
            let line = Line {
                connection: name.to_owned(),
                version: Some(1),
                ..Line::default()
            };
            Entry::Began(line.into(), Arc::default())
        };
        let mut batch = Batch::default();
        writer.take(began("stays"), &mut batch);
        writer.take(began("goes"), &mut batch);
        writer.take(Entry::Ended("goes".into(), SystemTime::now()), &mut batch);
        writer.settle(&batch.lines);
        let known: Vec<_> = writer.connections.keys().map(|name| &**name).collect();
        assert_eq!((known, writer.kept_back.len()), (vec!["stays"], 1));
    }
}
