//! The listeners, and their queues. A chain never waits for a listener: lines that its socket does not accept are
//! queued here, and those that do not fit are counted, and the count is sent instead.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use acp_chain_trace::{Line, Missed};

/// The maximum number of listeners.
pub const MOST: usize = 16;

/// How many bytes may wait for a listener. A single line may always wait, whatever its size.
const WAITING: usize = 1 << 20;

/// How many more bytes may wait if they are about states: a listener that misses one shows an outdated state.
const LASTING: usize = 1 << 20;

/// The listeners, and the state for new ones.
#[derive(Debug, Default)]
pub struct Listeners {
    /// The state of each connection.
    connections: BTreeMap<Box<str>, ConnectionState>,
    all: Vec<Listener>,
    /// The number of listeners, to skip work if there are none.
    pub count: Arc<AtomicUsize>,
}

/// The state of a connection, as lines.
#[derive(Debug, Default)]
struct ConnectionState {
    heading: Box<[u8]>,
    /// The last line about each proxy's state.
    states: Vec<(Box<str>, Box<[u8]>)>,
}

#[derive(Debug)]
struct Listener {
    stream: Arc<UnixStream>,
    /// Whole lines, the first of which may be sent in part.
    waiting: Vec<u8>,
    /// The lines that did not fit.
    missed: Missed,
}

impl Listeners {
    /// Adds a listener; drops it again if there are too many.
    pub fn join(&mut self, stream: UnixStream) -> bool {
        if self.all.len() >= MOST {
            return false;
        }
        let mut waiting = Vec::new();
        for ConnectionState { heading, states } in self.connections.values() {
            waiting.extend_from_slice(heading);
            for (_, state) in states {
                waiting.extend_from_slice(state);
            }
        }
        self.all.push(Listener {
            stream: Arc::new(stream),
            waiting,
            missed: Missed::default(),
        });
        self.count.fetch_add(1, Ordering::Relaxed);
        self.send();
        true
    }

    /// Whether bytes wait for any listener.
    pub fn is_behind(&self) -> bool {
        self.all.iter().any(|listener| !listener.waiting.is_empty())
    }

    /// The streams of the listeners, and whether bytes wait for each.
    pub fn streams(&self) -> Vec<(Arc<UnixStream>, bool)> {
        let all = self.all.iter();
        all.map(|listener| (Arc::clone(&listener.stream), !listener.waiting.is_empty()))
            .collect()
    }

    /// Removes a listener that has disconnected.
    pub fn leave(&mut self, stream: &Arc<UnixStream>) {
        self.keep(|listener| !Arc::ptr_eq(&listener.stream, stream));
    }

    /// Queues a line for all listeners.
    pub fn push(&mut self, line: &Line) -> io::Result<()> {
        if self.all.is_empty() && !line.is_lasting() {
            return Ok(());
        }
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        for listener in &mut self.all {
            listener.push(line, &text);
        }
        if line.is_end() {
            self.connections.remove(&*line.connection);
        } else if line.is_lasting() {
            self.keep_standing(line, text.into());
        }
        Ok(())
    }

    fn keep_standing(&mut self, line: &Line, text: Box<[u8]>) {
        let standing = self.connections.entry((&*line.connection).into());
        let ConnectionState { heading, states } = standing.or_default();
        if line.version.is_some() {
            *heading = text;
        } else if let Some(proxy) = &line.proxy {
            match states.iter_mut().find(|(known, _)| **known == **proxy) {
                Some((_, last)) => *last = text,
                None => {
                    // There are few proxies, but thousands of connections.
                    states.reserve_exact(1);
                    states.push((proxy.as_str().into(), text));
                }
            }
        }
    }

    /// Sends as much as the sockets accept. Removes listeners whose sockets are closed.
    pub fn send(&mut self) {
        self.keep(Listener::send);
    }

    fn keep(&mut self, keeps: impl FnMut(&mut Listener) -> bool) {
        let before = self.all.len();
        self.all.retain_mut(keeps);
        let removed = before - self.all.len();
        self.count.fetch_sub(removed, Ordering::Relaxed);
    }
}

impl Listener {
    fn push(&mut self, line: &Line, text: &[u8]) {
        // The count is sent once there is room for more than one line, and not before each line.
        let has_room = self.waiting.is_empty() || self.waiting.len() + text.len() <= WAITING / 2;
        if !self.missed.is_empty() && has_room {
            self.push_missed(&line.time);
        }
        let has_missed = !self.missed.is_empty();
        let room = if line.is_lasting() {
            WAITING + LASTING
        } else if has_missed {
            0
        } else {
            WAITING
        };
        if self.waiting.is_empty() || self.waiting.len() + text.len() <= room {
            self.waiting.extend_from_slice(text);
            return;
        }
        self.missed.count(&line.connection);
    }

    /// Queues the counts of lines that did not fit.
    fn push_missed(&mut self, time: &str) {
        for line in self.missed.take(time) {
            let mut text = serde_json::to_vec(&line).unwrap_or_default();
            self.waiting.append(&mut text);
            self.waiting.push(b'\n');
        }
    }

    /// Sends waiting bytes. Returns whether the listener is still connected.
    fn send(&mut self) -> bool {
        let mut sent = 0;
        let is_open = loop {
            let rest = &self.waiting[sent..];
            if rest.is_empty() {
                break true;
            }
            match (&*self.stream).write(rest) {
                Ok(0) => break false,
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break error.kind() == io::ErrorKind::WouldBlock,
            }
        };
        self.waiting.drain(..sent);
        is_open
    }
}
