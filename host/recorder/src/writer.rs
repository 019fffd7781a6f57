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
use super::observer::Observer;
use super::shared::{SharedState, slow};
use super::{Event, OnFailure};

/// About how many bytes are written at once.
const BATCH: usize = 1 << 20;

/// The pause after each write: events recorded during it need not wake the thread. It ends early where a turn waits.
const PAUSE: Duration = Duration::from_millis(2);

/// After this long without events on a connection, sinks release the lines of it that they keep back.
const QUIET: Duration = Duration::from_secs(1);

/// How often the memory of proxies is read, while there are listeners or a sink requests it.
const LOOK: Duration = Duration::from_secs(1);

/// The random id of a connection.
pub type Name = Arc<str>;

/// An entry of the thread's queue.
pub enum Entry {
    /// A connection begins, with this line, the description of its chain, and the counter of its dropped events.
    Began(Box<Line>, Option<Arc<str>>, Arc<AtomicU64>),
    Happened(Name, SystemTime, usize, Event),
    /// A connection has ended.
    Ended(Name, SystemTime),
    /// A listener has joined.
    Joined,
    /// Bring everything before it to where it lasts.
    Settle(SyncSender<()>),
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
    /// The observer, until it fails.
    observer: Option<Box<dyn Observer>>,
    /// Whether it counts among the sinks: also when it has failed, if turns are stopped for that.
    counts_observer: bool,
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
    /// Those to notify after the observer has settled, too.
    settles: Vec<SyncSender<()>>,
    has_joined: bool,
    is_over: bool,
}

impl Writer {
    pub fn new(
        sinks: Vec<SinkEntry>,
        observer: Option<Box<dyn Observer>>,
        sink_count: Arc<AtomicUsize>,
        entries: Receiver<Entry>,
        shared: Arc<SharedState>,
    ) -> Self {
        Self {
            sinks,
            counts_observer: observer.is_some(),
            observer,
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
        self.shared.thread.get_or_init(thread::current);
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
            if self.observer.is_some() {
                self.shared.room.free();
            }
            if batch.is_over || !batch.settles.is_empty() {
                self.observe(Observer::settle);
            }
            if batch.is_over {
                self.each_sink(|SinkEntry { sink, .. }| sink.flush());
                // Dropping the sinks removes sockets, before the waiters continue.
                self.sinks.clear();
                self.observer = None;
            }
            for done in batch.waits.into_iter().chain(batch.settles) {
                let _ = done.send(());
            }
            if self.sinks.is_empty() && self.observer.is_none() {
                return;
            }
            self.shared.pause(PAUSE);
        }
    }

    fn take(&mut self, entry: Entry, batch: &mut Batch) {
        match entry {
            Entry::Began(line, chain, dropped) => {
                self.observe(|observer| observer.began(&line, chain.as_deref()));
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
                self.observe(|observer| observer.happened(&name, time, &event));
                // For listeners that connect later, the states of proxies are kept.
                let is_wanted = self.wants_lines() || matches!(event, Event::Became { .. });
                if let Some(known) = self.connections.get_mut(&name) {
                    known.memories.note(&event);
                    if !is_wanted {
                        return;
                    }
                    let line = at(&name, time, event.line());
                    known.memories.written(&line);
                    batch.lines.push(line);
                }
            }
            Entry::Ended(name, time) => {
                self.observe(|observer| observer.ended(&name, time));
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
            Entry::Settle(done) => batch.settles.push(done),
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
        let permanent = self.sinks.iter().filter(|kept| kept.always).count();
        let always = permanent + usize::from(self.counts_observer);
        let silent = self.shared.silent.load(Ordering::Relaxed);
        self.sink_count.load(Ordering::Relaxed) > always + silent
    }

    /// Whether a sink gets the lines of all events.
    fn wants_lines(&self) -> bool {
        self.has_listeners() || self.sinks.iter().any(|kept| kept.always)
    }

    /// Gives the observer something. After an error, it gets nothing more.
    fn observe(&mut self, give: impl FnOnce(&mut (dyn Observer + 'static)) -> io::Result<()>) {
        let Some(observer) = &mut self.observer else {
            return;
        };
        // If messages wait for it no longer, what follows may have gaps.
        let is_lost = !self.shared.is_observed.load(Ordering::Relaxed);
        let given = if is_lost {
            Err(slow())
        } else {
            give(&mut **observer)
        };
        if let Err(error) = given {
            self.observer = None;
            if self.shared.on_failure == OnFailure::GoOn {
                self.counts_observer = false;
                self.shared.silent.fetch_add(1, Ordering::Relaxed);
                self.shared.has_failed.store(true, Ordering::Release);
            }
            self.shared.fail_observer(&error);
        }
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
mod tests;
