//! Masks secrets in lines: those that the default rules of `redact` find, and values that are secret by their name.
//! Each is replaced by a marker.
//!
//! | file | contents |
//! |---|---|
//! | `strings` | the strings of a JSON text |
//! | `markers` | markers for secrets |
//! | `body` | masks a message's body |
//! | `texts` | texts that arrive in chunks, across which a secret may be split |
//! | `lines` | the lines of a connection |
//!
//! Invariants: the lines of a connection are passed on in order of arrival. A line waits until it is known whether its
//! text contains a secret, and so do all later lines of the connection. The backlog is bounded; when it exceeds its
//! bound, or the sink is flushed, a marker replaces undecided text. No line is passed on unexamined.

mod body;
mod lines;
mod markers;
mod strings;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::HashMap;
use std::io;

use acp_chain_trace::{Line, Sink};

use lines::Lines;
use markers::{Finder, finder};

/// The maximum cost of waiting lines, of all connections, in bytes.
const WAITING: usize = 8 << 20;

/// Masks lines, and passes them on to a sink.
pub struct Masked<S> {
    sink: S,
    finder: Finder,
    connections: HashMap<String, ConnectionState>,
    /// The cost of the waiting lines.
    cost: usize,
}

/// The state of a connection.
#[derive(Default)]
struct ConnectionState {
    proxies: Box<[String]>,
    /// `None` until there is a message, to save memory on a server without listeners.
    lines: Option<Box<Lines>>,
}

impl<S: Sink> Masked<S> {
    /// Masks lines, and passes them on to this sink.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            finder: finder(),
            connections: HashMap::new(),
            cost: 0,
        }
    }

    /// Adds a line, and appends the lines that are now decided to `decided`.
    fn take(&mut self, line: &Line, decided: &mut Vec<Line>) {
        if line.is_lasting() && line.why.is_none() && self.takes_standing(line) {
            decided.push(Line {
                masked: line.version.and(Some(true)),
                ..line.clone()
            });
            return;
        }
        let known = self.connections.entry(line.connection.clone());
        let known = known.or_default();
        let proxies = &known.proxies;
        let lines = known
            .lines
            .get_or_insert_with(|| Lines::new(proxies).into());
        let before = lines.cost();
        lines.take(line, &self.finder);
        if line.is_end() {
            lines.give_up();
        }
        decided.extend(lines.decided());
        self.cost = self.cost + lines.cost() - before;
        if line.is_end() {
            self.connections.remove(&line.connection);
        }
        // A connection that floods the queue pays for it: the longest backlog is released.
        while self.cost > WAITING
            && let Some(longest) = self.lines().max_by_key(|lines| lines.cost())
        {
            let released = longest.cost();
            longest.give_up();
            decided.extend(longest.decided());
            self.cost -= released;
        }
    }

    /// Handles a line about the state of a connection, without text that could contain a secret. Returns whether the
    /// line can be passed on at once; it cannot if earlier lines wait.
    fn takes_standing(&mut self, line: &Line) -> bool {
        let known = self.connections.get(&line.connection);
        if known.is_some_and(|known| known.lines.is_some()) {
            return false;
        }
        if line.is_end() {
            self.connections.remove(&line.connection);
        } else if let Some(proxies) = &line.proxies {
            let known = ConnectionState {
                proxies: proxies.clone().into(),
                lines: None,
            };
            self.connections.insert(line.connection.clone(), known);
        }
        true
    }

    /// The lines of all connections with messages.
    fn lines(&mut self) -> impl Iterator<Item = &mut Box<Lines>> {
        let all = self.connections.values_mut();
        all.filter_map(|known| known.lines.as_mut())
    }

    fn hand_over(&mut self, decided: &[Line]) -> io::Result<()> {
        if decided.is_empty() {
            Ok(())
        } else {
            self.sink.write(decided)
        }
    }
}

impl<S: Sink> Sink for Masked<S> {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut decided = Vec::new();
        for line in lines {
            self.take(line, &mut decided);
        }
        self.hand_over(&decided)
    }

    fn looks(&self) -> bool {
        self.sink.looks()
    }

    fn rest(&mut self, connection: &str) -> io::Result<()> {
        let known = self.connections.get_mut(connection);
        if let Some(lines) = known.and_then(|known| known.lines.as_mut()) {
            self.cost -= lines.cost();
            lines.give_up();
            let decided: Vec<_> = lines.decided().collect();
            self.hand_over(&decided)?;
        }
        self.sink.rest(connection)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut decided = Vec::new();
        for lines in self.lines() {
            lines.give_up();
            decided.extend(lines.decided());
        }
        self.cost = 0;
        self.hand_over(&decided)?;
        self.sink.flush()
    }
}
