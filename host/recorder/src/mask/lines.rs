//! Masks the lines of a connection, in order of arrival.

use std::collections::VecDeque;

use acp_chain_acp::{Change, UPDATE};
use acp_chain_secrets::Effort;
use acp_chain_trace::Line;
use serde_json::value::RawValue;

use super::body::{Body, Chunk};
use super::markers::{Edit, Finder, Markers, Numbers, applied};
use super::texts::{Hop, LineDecision, Texts};

/// The cost of keeping a line, besides its body.
const ENTRY: usize = 512;

/// The lines of a connection.
#[derive(Default)]
pub struct Lines {
    numbers: Numbers,
    texts: Texts,
    /// Boxed, as the lines are large: a connection without waiting lines takes little memory.
    waiting: VecDeque<Box<WaitingLine>>,
    /// The number of the first waiting line.
    first: u64,
    cost: usize,
}

/// A line that is not written yet.
struct WaitingLine {
    line: Line,
    cost: usize,
    /// The changes to its body.
    edits: Vec<Edit>,
    /// Its undecided chunk.
    chunk: Option<Chunk>,
    /// The changes to the text of the chunk.
    decided: Vec<Edit>,
    is_decided: bool,
}

impl Lines {
    /// No lines, of a chain with these proxies, in order.
    pub fn new(proxies: &[String]) -> Self {
        Self {
            texts: Texts::new(proxies),
            ..Self::default()
        }
    }

    /// The cost of the waiting lines, in bytes.
    pub fn cost(&self) -> usize {
        self.cost
    }

    /// Adds a line.
    pub fn take(&mut self, line: &Line, finder: &Finder) {
        let mut line = line.clone();
        let numbers = &mut self.numbers;
        let mut markers = Markers { finder, numbers };
        let mut effort = Effort::default();
        for text in [&mut line.method, &mut line.session, &mut line.why] {
            if let Some(text) = text
                && let Some(masked) = markers.masked(text, &mut effort)
            {
                *text = masked;
            }
        }
        let is_update = line.method.as_deref() == Some(UPDATE);
        if let Some(id) = &mut line.id {
            let body = Body::of(id.get(), false, &mut markers);
            change(id, &body.edits);
        }
        let cost = ENTRY + line.body().map_or(0, str::len);
        let body = match line.body() {
            Some(body) => Body::of(body, is_update, &mut markers),
            None => Body::default(),
        };
        let hop = Hop::of(&line);
        let Body { edits, chunk, kind } = body;
        if let Some(hop) = &hop
            && !(is_update && Change::of(&kind) == Change::Aside)
        {
            let identity = chunk.as_ref().map(|chunk| &*chunk.identity);
            for hop in self.texts.over(hop, identity) {
                let decided = self.texts.end(&hop, &mut markers);
                decide(&mut self.waiting, self.first, decided);
            }
        }
        let number = self.first + self.waiting.len() as u64;
        self.cost += cost;
        self.waiting.push_back(Box::new(WaitingLine {
            is_decided: chunk.is_none(),
            line,
            cost,
            edits,
            chunk,
            decided: Vec::new(),
        }));
        let waiting = self.waiting.back().and_then(|line| line.chunk.as_ref());
        if let (Some(hop), Some(chunk)) = (hop, waiting) {
            let decided = self.texts.next(hop, number, chunk, &mut markers);
            decide(&mut self.waiting, self.first, decided);
        } else if let Some(last) = self.waiting.back_mut()
            && let Some(chunk) = &last.chunk
        {
            // A chunk of an unknown text.
            last.decided = markers.edits(&chunk.text, &mut effort);
            last.is_decided = true;
        }
        if self.texts.are_many() {
            self.give_up();
        }
    }

    /// Decides all waiting lines.
    pub fn give_up(&mut self) {
        let decided = self.texts.give_up();
        decide(&mut self.waiting, self.first, decided);
    }

    /// Takes the decided lines, up to the first undecided one.
    pub fn decided(&mut self) -> impl Iterator<Item = Line> {
        std::iter::from_fn(|| {
            let waiting = self.waiting.pop_front_if(|waiting| waiting.is_decided)?;
            self.first += 1;
            self.cost -= waiting.cost;
            Some(waiting.done())
        })
    }
}

/// Applies decisions to the waiting lines.
fn decide(waiting: &mut VecDeque<Box<WaitingLine>>, first: u64, decided: Vec<LineDecision>) {
    for decision in decided {
        let (LineDecision::Edit(line, _) | LineDecision::Done(line)) = &decision;
        let place = usize::try_from(line - first).unwrap_or(usize::MAX);
        let Some(waiting) = waiting.get_mut(place) else {
            continue;
        };
        match decision {
            LineDecision::Edit(_, edit) => waiting.decided.push(edit),
            LineDecision::Done(_) => waiting.is_decided = true,
        }
    }
}

impl WaitingLine {
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
            body.change(chunk.range, &chunk.coding.encoded(&text));
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

/// Edits JSON. If the result would be invalid, it becomes `null`.
fn change(json: &mut Box<RawValue>, edits: &[Edit]) {
    if edits.is_empty() {
        return;
    }
    *json = RawValue::from_string(applied(json.get(), edits))
        .unwrap_or_else(|_| RawValue::from_string("null".to_owned()).expect("null is JSON"));
}
