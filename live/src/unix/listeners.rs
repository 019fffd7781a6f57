//! Who listens, and what waits for each of them. Nobody waits for a listener: what its socket does not take waits
//! here, and what does not fit here is counted, and told in its place.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use acp_chain_trace::Line;

/// So many may listen at once.
pub const MOST: usize = 16;

/// How much may wait for one, in bytes. Whatever its size, one line may always wait.
const WAITING: usize = 1 << 20;

/// Those who listen, and what a new one is told first.
#[derive(Debug, Default)]
pub struct Listeners {
    /// The line that says that the connection begins.
    heading: Vec<u8>,
    /// The last line about the state of each proxy.
    states: Vec<(String, Vec<u8>)>,
    all: Vec<Listener>,
    /// How many listen, for those who would not do what nobody hears.
    pub heard: Arc<AtomicUsize>,
}

/// One who listens.
#[derive(Debug)]
struct Listener {
    stream: Arc<UnixStream>,
    /// Whole lines, the first of which may be sent in part.
    waiting: Vec<u8>,
    dropped: u64,
}

impl Listeners {
    /// One more listens; it is gone again if there are too many.
    pub fn join(&mut self, stream: UnixStream) -> bool {
        if self.all.len() >= MOST {
            return false;
        }
        let mut waiting = self.heading.clone();
        for (_, state) in &self.states {
            waiting.extend_from_slice(state);
        }
        self.all.push(Listener {
            stream: Arc::new(stream),
            waiting,
            dropped: 0,
        });
        self.heard.fetch_add(1, Ordering::Relaxed);
        self.send();
        true
    }

    /// Whether something waits for one of them.
    pub fn is_behind(&self) -> bool {
        self.all.iter().any(|listener| !listener.waiting.is_empty())
    }

    /// Each, and whether something waits for it.
    pub fn streams(&self) -> Vec<(Arc<UnixStream>, bool)> {
        let all = self.all.iter();
        all.map(|listener| (Arc::clone(&listener.stream), !listener.waiting.is_empty()))
            .collect()
    }

    /// One has hung up.
    pub fn leave(&mut self, stream: &Arc<UnixStream>) {
        self.keep(|listener| !Arc::ptr_eq(&listener.stream, stream));
    }

    /// Hands all of them a line.
    pub fn tell(&mut self, line: &Line) -> io::Result<()> {
        let is_kept = line.version.is_some() || line.state.is_some();
        if self.all.is_empty() && !is_kept {
            return Ok(());
        }
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        for listener in &mut self.all {
            listener.push(line, &text);
        }
        if line.version.is_some() {
            self.heading = text;
        } else if let (Some(proxy), Some(_)) = (&line.proxy, line.state) {
            match self.states.iter_mut().find(|(known, _)| known == proxy) {
                Some((_, last)) => *last = text,
                None => self.states.push((proxy.clone(), text)),
            }
        }
        Ok(())
    }

    /// Sends what their sockets take. Who takes nothing any more is gone.
    pub fn send(&mut self) {
        self.keep(Listener::send);
    }

    fn keep(&mut self, keeps: impl FnMut(&mut Listener) -> bool) {
        let before = self.all.len();
        self.all.retain_mut(keeps);
        let gone = before - self.all.len();
        self.heard.fetch_sub(gone, Ordering::Relaxed);
    }
}

impl Listener {
    fn push(&mut self, line: &Line, text: &[u8]) {
        let fits = |waiting: &mut Vec<u8>, text: &[u8]| {
            let fits = waiting.is_empty() || waiting.len() + text.len() <= WAITING;
            if fits {
                waiting.extend_from_slice(text);
            }
            fits
        };
        if self.dropped > 0 {
            let missing = Line {
                time: line.time.clone(),
                connection: line.connection.clone(),
                dropped: Some(self.dropped),
                ..Line::default()
            };
            let mut missing = serde_json::to_vec(&missing).unwrap_or_default();
            missing.push(b'\n');
            // Room for a few more words, so that it is not told before each line.
            if self.waiting.len() + missing.len() + text.len() <= WAITING
                && fits(&mut self.waiting, &missing)
            {
                self.dropped = 0;
            }
        }
        if self.dropped > 0 || !fits(&mut self.waiting, text) {
            self.dropped += 1;
        }
    }

    /// Whether it is still there.
    fn send(&mut self) -> bool {
        let mut sent = 0;
        let is_there = loop {
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
        is_there
    }
}
