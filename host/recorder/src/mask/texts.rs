//! Texts that arrive in pieces, each on one hop. The decisions depend only on the text, not on how it is split.

use std::collections::{HashMap, VecDeque};
use std::iter;
use std::ops::Range;

use acp_chain_secrets::{End, Secret, Tail};
use acp_chain_trace::Line;

use super::body::Chunk;
use super::markers::{Edit, Markers, unclear};

/// How many texts may be in progress at once.
const MANY: usize = 256;

/// The hop of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    from: String,
    to: String,
    session: Option<String>,
}

/// A decision about the line with this number.
pub enum LineDecision {
    /// The text of its chunk is changed.
    Edit(u64, Edit),
    /// No further decision follows.
    Done(u64),
}

#[derive(Default)]
pub struct Texts {
    going: HashMap<Hop, Text>,
    parts: Vec<String>,
}

#[derive(Default)]
struct Text {
    identity: String,
    tail: Tail,
    /// The pieces that are not fully decided.
    pieces: VecDeque<Piece>,
    /// How many bytes of the text came before the first piece.
    passed: usize,
    /// How many bytes of the text are decided.
    decided: usize,
}

struct Piece {
    line: u64,
    text: String,
}

impl Hop {
    pub fn of(line: &Line) -> Option<Self> {
        let (from, to, _) = line.crossed()?;
        Some(Self {
            from: from.to_owned(),
            to: to.to_owned(),
            session: line.session.clone(),
        })
    }
}

impl Texts {
    pub fn are_many(&self) -> bool {
        self.going.len() > MANY
    }

    /// No texts, of a chain with these proxies, in order.
    pub fn new(proxies: &[String]) -> Self {
        let proxies = proxies.iter().map(|proxy| &**proxy);
        let parts = iter::once("client").chain(proxies).chain(["agent"]);
        Self {
            going: HashMap::new(),
            parts: parts.map(str::to_owned).collect(),
        }
    }

    /// The texts that end when a message passes a hop, except the one with this identity, which the message continues:
    /// their sender has completed them. A message that skips several parts ends the texts between them.
    pub fn over(&self, hop: &Hop, identity: Option<&str>) -> Vec<Hop> {
        let way = self.way(hop);
        let texts = self.going.iter().filter(|(other, text)| {
            let is_other = other.session == hop.session && identity != Some(&*text.identity);
            let is_within = || match (way, self.way(other)) {
                (Some((from, to)), Some((start, end))) => {
                    // In the same direction.
                    (from >= start && start > end && end >= to)
                        || (from <= start && start < end && end <= to)
                }
                _ => false,
            };
            is_other && (*other == hop || is_within())
        });
        texts.map(|(hop, _)| hop.clone()).collect()
    }

    /// The positions of both ends of a hop. Proxies of projects have none.
    fn way(&self, hop: &Hop) -> Option<(usize, usize)> {
        let place = |name: &str| self.parts.iter().position(|part| part == name);
        Some((place(&hop.from)?, place(&hop.to)?))
    }

    /// Adds the piece of a line to the text of a hop.
    pub fn next(
        &mut self,
        hop: Hop,
        line: u64,
        chunk: &Chunk,
        markers: &mut Markers,
    ) -> Vec<LineDecision> {
        let text = self.going.entry(hop).or_default();
        text.identity.clone_from(&chunk.identity);
        text.pieces.push_back(Piece {
            line,
            text: chunk.text.clone(),
        });
        text.look(&chunk.text, End::Open, markers)
    }

    /// Ends a text.
    pub fn end(&mut self, hop: &Hop, markers: &mut Markers) -> Vec<LineDecision> {
        let text = self.going.remove(hop);
        text.map_or_else(Vec::new, |mut text| text.look("", End::Here, markers))
    }

    /// Masks everything undecided. The texts continue: the rest of a secret that has begun is found in the following
    /// pieces.
    pub fn give_up(&mut self) -> Vec<LineDecision> {
        let mut decided = Vec::new();
        let is_many = self.are_many();
        for text in self.going.values_mut() {
            decided.extend(text.give_up());
        }
        if is_many {
            self.going.clear();
        }
        decided
    }
}

impl Text {
    fn look(&mut self, piece: &str, end: End, markers: &mut Markers) -> Vec<LineDecision> {
        let found = match markers.detector() {
            Some(detector) => detector.find_next(&mut self.tail, piece, end),
            None => Err(String::new()),
        };
        let Ok((length, secrets)) = found else {
            self.tail = Tail::default();
            let decided = self.give_up();
            self.decided = self.passed;
            return decided;
        };
        let from = self.decided;
        let mut decided = Vec::new();
        for Secret { range, name } in secrets {
            let (start, end) = (from + range.start, from + range.end);
            let secret = self.between(start, end);
            let marker = name.map_or_else(String::new, |name| markers.mark(name, &secret));
            self.cover(start, end, marker, &mut decided);
        }
        self.decided = from + length;
        self.release(&mut decided);
        decided
    }

    /// The pieces, each with its part of this range of the text.
    fn parts(&self, start: usize, end: usize) -> impl Iterator<Item = (&Piece, Range<usize>)> {
        let mut at = self.passed;
        self.pieces.iter().map(move |piece| {
            let length = piece.text.len();
            let [from, to] = [start, end].map(|end| end.saturating_sub(at).min(length));
            at += length;
            (piece, from..to)
        })
    }

    /// This range of the text, as far as it is still kept.
    fn between(&self, start: usize, end: usize) -> String {
        let parts = self.parts(start, end);
        parts.map(|(piece, part)| &piece.text[part]).collect()
    }

    /// Replaces this range: by the marker in the first piece that contains a part of it, by nothing in later pieces.
    fn cover(&self, start: usize, end: usize, mut marker: String, decided: &mut Vec<LineDecision>) {
        for (piece, part) in self.parts(start, end) {
            if !part.is_empty() {
                let edit = (part, std::mem::take(&mut marker));
                decided.push(LineDecision::Edit(piece.line, edit));
            }
        }
    }

    /// Removes the pieces that are decided.
    fn release(&mut self, decided: &mut Vec<LineDecision>) {
        while let Some(piece) = self.pieces.front()
            && self.passed + piece.text.len() <= self.decided
        {
            decided.push(LineDecision::Done(piece.line));
            self.passed += piece.text.len();
            self.pieces.pop_front();
        }
    }

    fn give_up(&mut self) -> Vec<LineDecision> {
        let mut decided = Vec::new();
        let kept = self.pieces.iter().map(|piece| piece.text.len());
        let end = self.passed + kept.sum::<usize>();
        if self.decided < end {
            self.cover(self.decided.max(self.passed), end, unclear(), &mut decided);
        }
        for piece in self.pieces.drain(..) {
            self.passed += piece.text.len();
            decided.push(LineDecision::Done(piece.line));
        }
        decided
    }
}
