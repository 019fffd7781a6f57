//! Lines without secrets: what the default rules of `redact` find, and what is one by the name that it has. A marker
//! stands for each.
//!
//! | file | what it is |
//! |---|---|
//! | `strings` | the strings of a JSON text |
//! | `markers` | what stands for secrets |
//! | `body` | what a message says without its secrets |
//! | `texts` | texts that come in pieces, of which a secret may have a part of each |
//!
//! What always holds: lines leave in the order in which they came. One waits until it is known of its text whether a
//! secret is in it, and so do all behind it; but what waits is bounded, and nothing waits when somebody waits for it.
//! Then a marker stands for what is not known yet. No line leaves that was not looked at.

mod body;
mod markers;
mod strings;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::VecDeque;
use std::io;

use acp_chain_secrets::Effort;
use acp_chain_trace::{Line, Sink};
use serde_json::value::RawValue;

use body::{Body, Chunk};
use markers::{Edit, Markers, applied};
use texts::{Hop, Texts};

/// What lines that wait may take, in bytes.
const WAITING: usize = 8 << 20;

/// What it takes to keep a line, besides its body.
const ENTRY: usize = 512;

const UPDATE: &str = "session/update";

/// Updates that add nothing to the conversation, and so may come between two chunks of a text.
const ASIDE: &[&str] = &[
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "session_info_update",
    "usage_update",
];

/// Masks the lines for a sink.
pub struct Masked<S> {
    sink: S,
    markers: Markers,
    texts: Texts,
    waiting: VecDeque<Waiting>,
    /// The number of the first of them.
    first: u64,
    cost: usize,
}

/// A line that is not written yet.
struct Waiting {
    line: Line,
    cost: usize,
    /// The changes to its body.
    edits: Vec<Edit>,
    /// What is not decided of it.
    chunk: Option<Chunk>,
    /// The changes to the text of the chunk.
    decided: Vec<Edit>,
    is_decided: bool,
}

impl<S: Sink> Masked<S> {
    /// What this sink gets is masked.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            markers: Markers::new(),
            texts: Texts::default(),
            waiting: VecDeque::new(),
            first: 0,
            cost: 0,
        }
    }

    fn take(&mut self, line: &Line) {
        let mut line = line.clone();
        if line.version.is_some() {
            line.masked = Some(true);
            self.texts
                .begin(line.proxies.as_deref().unwrap_or_default());
        }
        let mut effort = Effort::default();
        for text in [&mut line.method, &mut line.session, &mut line.why] {
            if let Some(text) = text
                && let Some(masked) = self.markers.masked(text, &mut effort)
            {
                *text = masked;
            }
        }
        let is_update = line.method.as_deref() == Some(UPDATE);
        if let Some(id) = &mut line.id {
            let looked = Body::of(id.get(), false, &mut self.markers);
            change(id, &looked.edits);
        }
        let cost = ENTRY + line.body().map_or(0, str::len);
        let looked = match line.body() {
            Some(body) => Body::of(body, is_update, &mut self.markers),
            None => Body::default(),
        };
        let hop = Hop::of(&line);
        let Body { edits, chunk, kind } = looked;
        if let Some(hop) = &hop
            && !(is_update && ASIDE.contains(&&*kind))
        {
            let identity = chunk.as_ref().map(|chunk| &*chunk.identity);
            for hop in self.texts.over(hop, identity) {
                let decided = self.texts.end(&hop, &mut self.markers);
                self.decide(decided);
            }
        }
        let number = self.first + self.waiting.len() as u64;
        self.cost += cost;
        self.waiting.push_back(Waiting {
            is_decided: chunk.is_none(),
            line,
            cost,
            edits,
            chunk,
            decided: Vec::new(),
        });
        let waiting = self.waiting.back().and_then(|line| line.chunk.as_ref());
        if let (Some(hop), Some(chunk)) = (hop, waiting) {
            let decided = self.texts.next(hop, number, chunk, &mut self.markers);
            self.decide(decided);
        } else if let Some(last) = self.waiting.back_mut()
            && let Some(chunk) = &last.chunk
        {
            // A piece of no text that is known.
            last.decided = self.markers.edits(&chunk.text, &mut effort);
            last.is_decided = true;
        }
        if self.cost > WAITING || self.texts.are_many() {
            self.give_up();
        }
    }

    /// It is known what becomes of these.
    fn decide(&mut self, decided: Vec<texts::Decided>) {
        for texts::Decided {
            line,
            edits,
            is_last,
        } in decided
        {
            let place = usize::try_from(line - self.first).unwrap_or(usize::MAX);
            if let Some(waiting) = self.waiting.get_mut(place) {
                waiting.decided.extend(edits);
                waiting.is_decided |= is_last;
            }
        }
    }

    /// Nothing waits any more.
    fn give_up(&mut self) {
        let decided = self.texts.give_up();
        self.decide(decided);
    }

    /// The lines that are decided, up to the first that is not.
    fn decided(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(waiting) = self.waiting.pop_front_if(|waiting| waiting.is_decided) {
            self.first += 1;
            self.cost -= waiting.cost;
            lines.push(waiting.done());
        }
        lines
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let lines = self.decided();
        match lines.is_empty() {
            true => Ok(()),
            false => self.sink.write(&lines),
        }
    }
}

impl<S: Sink> Sink for Masked<S> {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        for line in lines {
            self.take(line);
        }
        self.hand_over()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.give_up();
        self.hand_over()?;
        self.sink.flush()
    }
}

impl Waiting {
    fn done(self) -> Line {
        let Self {
            mut line,
            mut edits,
            chunk,
            decided,
            ..
        } = self;
        if let Some(chunk) = chunk.filter(|_| !decided.is_empty()) {
            let text = applied(&chunk.text, &decided);
            let mut body = Body::default();
            body.change(chunk.range, &body::encoded(chunk.coding, &text));
            edits.append(&mut body.edits);
            edits.sort_by_key(|(range, _)| range.start);
        }
        let bodies = [&mut line.params, &mut line.result, &mut line.error];
        if let Some(body) = bodies.into_iter().find_map(Option::as_mut) {
            change(body, &edits);
        }
        line
    }
}

/// Changes JSON. What would then be none says nothing.
fn change(json: &mut Box<RawValue>, edits: &[Edit]) {
    if edits.is_empty() {
        return;
    }
    *json = RawValue::from_string(applied(json.get(), edits))
        .unwrap_or_else(|_| RawValue::from_string("null".to_owned()).expect("null is JSON"));
}

impl<S> std::fmt::Debug for Masked<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Masked").finish_non_exhaustive()
    }
}
