//! Lines without secrets: what the default rules of `redact` find, and what is one by the name that it has. A marker
//! stands for each.
//!
//! | file | what it is |
//! |---|---|
//! | `strings` | the strings of a JSON text |
//! | `markers` | what stands for secrets |
//! | `body` | what a message says without its secrets |
//! | `texts` | texts that come in pieces, of which a secret may have a part of each |
//! | `lines` | the lines of a connection |
//!
//! What always holds: the lines of a connection leave in the order in which they came. One waits until it is known of its
//! text whether a secret is in it, and so do all of the connection behind it; but what waits is bounded, and nothing
//! waits when somebody waits for it. Then a marker stands for what is not known yet. No line leaves that was not looked
//! at.

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

/// What lines that wait may take, of all connections, in bytes.
const WAITING: usize = 8 << 20;

/// Masks the lines for a sink.
pub struct Masked<S> {
    sink: S,
    finder: Finder,
    connections: HashMap<String, Known>,
    /// What those that wait take.
    cost: usize,
}

/// What is known of a connection.
#[derive(Default)]
struct Known {
    proxies: Box<[String]>,
    /// There are none until something is said: of a server that nobody watches, much else would be.
    lines: Option<Box<Lines>>,
}

impl<S: Sink> Masked<S> {
    /// What this sink gets is masked.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            finder: finder(),
            connections: HashMap::new(),
            cost: 0,
        }
    }

    /// Takes in a line, and adds those that are decided.
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
        // A flood costs the connection whose it is.
        while self.cost > WAITING
            && let Some(longest) = self.lines().max_by_key(|lines| lines.cost())
        {
            let gone = longest.cost();
            longest.give_up();
            decided.extend(longest.decided());
            self.cost -= gone;
        }
    }

    /// Takes in a line that says how things stand on a connection, and has no text in which a secret could be. Whether it
    /// can leave at once: something may wait that came before it.
    fn takes_standing(&mut self, line: &Line) -> bool {
        let known = self.connections.get(&line.connection);
        if known.is_some_and(|known| known.lines.is_some()) {
            return false;
        }
        if line.is_end() {
            self.connections.remove(&line.connection);
        } else if let Some(proxies) = &line.proxies {
            let known = Known {
                proxies: proxies.clone().into(),
                lines: None,
            };
            self.connections.insert(line.connection.clone(), known);
        }
        true
    }

    /// The lines of all connections on which something was said.
    fn lines(&mut self) -> impl Iterator<Item = &mut Box<Lines>> {
        let all = self.connections.values_mut();
        all.filter_map(|known| known.lines.as_mut())
    }

    fn hand_over(&mut self, decided: &[Line]) -> io::Result<()> {
        match decided.is_empty() {
            true => Ok(()),
            false => self.sink.write(decided),
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

impl<S> std::fmt::Debug for Masked<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Masked").finish_non_exhaustive()
    }
}
