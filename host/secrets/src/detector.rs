//! Finds secrets in text that arrives in pieces.
//!
//! One pass over the text searches for needles: short literal texts, one of which is in every match of a rule. At a
//! needle, the automaton of the rule runs over the few characters needed to decide whether there is a secret, and where
//! it ends. If it is undecided at the present end of the text, or if a needle may begin there, the rest of the text is
//! withheld. The output depends on the text alone, never on how it was cut, and the cost is bounded by its length (see
//! [`Effort`]).

mod beginnings;
mod scan;
#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::effort::Effort;
use crate::machine::{CombinedRegex, Machine};
use crate::rules::{self, Rule};
use crate::text::{self, End};
use beginnings::Beginnings;
use scan::Scan;

/// The kind reported for text that was not examined.
pub const UNCLEAR: &str = "unclear";

/// Finds the secrets that its rules describe.
pub struct Detector {
    kinds: Vec<Kind>,
    /// The rules without needles, and the bytes that they may begin with.
    anywhere: Vec<(usize, Box<[bool; 256]>)>,
    /// Built with the first text, since this takes most of the time of a start.
    search: OnceCell<Search>,
    /// Patterns that no secret of the catalogue matches. Built with the first match, as most texts have none.
    never: OnceCell<CombinedRegex>,
    /// Where a tail and the next piece are joined: kept, since that happens for each piece.
    joined: Cell<String>,
}

/// The most memory that is kept for joined texts, in bytes.
const JOINED: usize = 64 * 1024;

/// Finds positions where a match may begin, and judges the matches.
struct Search {
    /// The needles, in order.
    texts: Vec<&'static str>,
    beginnings: Beginnings,
    /// The rules with each needle.
    needed_by: Vec<Vec<NeedleRule>>,
}

/// A rule with a needle.
struct NeedleRule {
    kind: usize,
    /// Whether its match must not follow a letter or digit.
    apart: bool,
}

struct Kind {
    rule: Rule<'static>,
    /// Boxed, since it takes some kilobytes, and few rules are ever needed.
    machine: OnceCell<Box<Machine>>,
}

/// The undecided end of a text.
#[derive(Default, Deserialize, Serialize)]
pub struct Tail {
    /// The undecided text, with a little of the text before it as context.
    text: String,
    /// The length of the context, in bytes.
    from: usize,
    /// How much of the undecided text was shown by [`Detector::glimpse`], in bytes.
    #[serde(default)]
    shown: usize,
    effort: Effort,
}

impl Tail {
    /// Whether everything is decided.
    pub fn is_empty(&self) -> bool {
        self.from == self.text.len()
    }

    /// The undecided length, in bytes.
    pub fn len(&self) -> usize {
        self.text.len() - self.from
    }

    /// Records that this many bytes more are shown, from [`Detector::glimpse`].
    pub fn show(&mut self, length: usize) {
        self.shown += length;
    }

    /// Drops the decided part of a text, except for the context that the rest needs.
    fn advance(&mut self, text: &str, scan: &Scan) {
        self.effort = scan.effort;
        self.shown = (self.from + self.shown).saturating_sub(scan.decided);
        let context = text.floor_char_boundary(scan.decided.saturating_sub(text::LONGEST + 1));
        text[context..].clone_into(&mut self.text);
        self.from = scan.decided - context;
    }
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    pub range: Range<usize>,
    /// Its kind, or [`UNCLEAR`]; `None` if it continues an earlier removal.
    pub name: Option<&'static str>,
}

/// The replacement for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// The receiver does not get the secret.
    Redacted,
    /// The agent has the secret, which is hidden only in what the user sees.
    Hidden,
}

/// A detector that replaces secrets by markers.
#[derive(Clone, Copy)]
pub struct Marking<'d> {
    detector: &'d Detector,
    marker: Marker,
}

/// A text without its secrets.
#[derive(Debug)]
pub struct RedactedText {
    /// The remaining text, with markers.
    pub text: String,
    /// The kinds of its secrets.
    pub names: Vec<&'static str>,
    /// The position of each secret, in order.
    pub places: Vec<Place>,
}

/// The position of a secret in a text, and of its marker in the result.
#[derive(Debug)]
pub struct Place {
    /// The range of the secret.
    pub hidden: Range<usize>,
    /// The range of its marker.
    pub shown: Range<usize>,
}

impl Detector {
    /// A detector with these rules. If two match the same, the first one counts.
    ///
    /// # Errors
    /// If a rule exceeds its memory.
    pub fn new(rules: impl IntoIterator<Item = Rule<'static>>) -> Result<Self, String> {
        let kinds: Vec<Kind> = rules
            .into_iter()
            .map(|rule| Kind {
                rule,
                machine: OnceCell::new(),
            })
            .collect();
        let mut anywhere = Vec::new();
        for (at, kind) in kinds.iter().enumerate() {
            if kind.rule.needles.is_empty() {
                anywhere.push((at, kind.machine()?.whole.beginnings()?));
            }
        }
        Ok(Self {
            kinds,
            anywhere,
            search: OnceCell::new(),
            never: OnceCell::new(),
            joined: Cell::default(),
        })
    }

    fn search(&self) -> &Search {
        self.search.get_or_init(|| Search::new(&self.kinds))
    }

    fn never(&self) -> Result<&CombinedRegex, String> {
        if let Some(never) = self.never.get() {
            return Ok(never);
        }
        let never = CombinedRegex::new(&rules::never())?;
        Ok(self.never.get_or_init(|| never))
    }

    /// Replaces secrets by these markers.
    pub fn marking(&self, marker: Marker) -> Marking<'_> {
        Marking {
            detector: self,
            marker,
        }
    }

    /// The secrets in a whole text.
    ///
    /// # Errors
    /// If a rule exceeds its memory.
    pub fn find(&self, text: &str, effort: &mut Effort) -> Result<Vec<Secret>, String> {
        let scan = Scan::of(self, text, 0, *effort, End::Here)?;
        *effort = scan.effort;
        Ok(scan.secrets(0))
    }

    /// Adds a piece to a text. Returns how much of the tail and the piece is now decided, in bytes, and the secrets in
    /// that. The rest stays in the tail, which is empty at the end of the text.
    ///
    /// # Errors
    /// If a rule exceeds its memory.
    pub fn find_next(
        &self,
        tail: &mut Tail,
        piece: &str,
        end: End,
    ) -> Result<(usize, Vec<Secret>), String> {
        let (scan, text) = self.scan(tail, piece, end)?;
        let found = (scan.decided - tail.from, scan.secrets(tail.from));
        tail.advance(&text, &scan);
        self.keep(text);
        Ok(found)
    }

    /// The part of a tail that may be shown before it is decided, and is not shown yet, in case the next piece takes
    /// long: a beginning that all secrets of a rule share. If a secret began in it, only the rest of the secret is
    /// replaced.
    pub fn glimpse<'t>(&self, tail: &'t Tail) -> &'t str {
        let known = self
            .search()
            .known(&self.kinds, &tail.text.as_bytes()[tail.from..]);
        let until = tail.text.floor_char_boundary(tail.from + known);
        let may_begin = |byte: &u8| {
            self.anywhere
                .iter()
                .any(|(_, begins)| begins[usize::from(*byte)])
        };
        let shown = tail.from + tail.shown;
        match tail.text.get(shown..until) {
            Some(text) if !text.as_bytes().iter().any(may_begin) => text,
            _ => "",
        }
    }

    fn scan(&self, tail: &Tail, piece: &str, end: End) -> Result<(Scan, String), String> {
        let mut text = self.joined.take();
        text.reserve(tail.text.len() + piece.len());
        text.push_str(&tail.text);
        text.push_str(piece);
        let scan = Scan::of(self, &text, tail.from, tail.effort, end)?;
        Ok((scan, text))
    }

    /// Keeps the memory of a joined text for the next one.
    fn keep(&self, mut text: String) {
        text.clear();
        if text.capacity() <= JOINED {
            self.joined.set(text);
        }
    }
}

impl Marking<'_> {
    /// A whole text without its secrets; `None` if it has none.
    ///
    /// # Errors
    /// If a rule exceeds its memory.
    pub fn redact(self, text: &str, effort: &mut Effort) -> Result<Option<RedactedText>, String> {
        let scan = Scan::of(self.detector, text, 0, *effort, End::Here)?;
        *effort = scan.effort;
        Ok((!scan.is_clean()).then(|| scan.redacted(text, 0, self.marker)))
    }

    /// Adds a piece to a text. Returns the newly decided text without secrets, or `None` if that is the piece itself;
    /// the rest stays in the tail, which is empty at the end of the text.
    ///
    /// # Errors
    /// If a rule exceeds its memory.
    pub fn next(self, tail: &mut Tail, piece: &str, end: End) -> Result<Option<String>, String> {
        let is_first = tail.is_empty();
        let (scan, text) = self.detector.scan(tail, piece, end)?;
        let is_whole = is_first && scan.is_clean() && scan.decided == text.len();
        let from = tail.from + tail.shown;
        let out = (!is_whole).then(|| scan.redacted(&text, from, self.marker).text);
        tail.advance(&text, &scan);
        self.detector.keep(text);
        Ok(out)
    }

    /// The marker of a secret of this kind.
    pub fn of(self, name: &str) -> String {
        [self.marker.begin(), name, "]"].concat()
    }
}

impl Marker {
    /// The marker's text before the kind of the secret.
    pub const fn begin(self) -> &'static str {
        match self {
            Self::Redacted => "[redacted: ",
            Self::Hidden => "[hidden here, the agent has it: ",
        }
    }
}

impl Search {
    fn new(kinds: &[Kind]) -> Self {
        let mut needed_by = BTreeMap::<&'static str, Vec<NeedleRule>>::new();
        for (kind, Kind { rule, .. }) in kinds.iter().enumerate() {
            for needle in rule.needles {
                let needing = needed_by.entry(*needle).or_default();
                // A rule may name a needle twice.
                if needing.last().is_none_or(|last| last.kind != kind) {
                    needing.push(NeedleRule {
                        kind,
                        apart: rule.apart,
                    });
                }
            }
        }
        let (texts, needed_by): (Vec<_>, Vec<_>) = needed_by.into_iter().unzip();
        Self {
            beginnings: Beginnings::of(&texts),
            texts,
            needed_by,
        }
    }
}

impl Kind {
    fn machine(&self) -> Result<&Machine, String> {
        if let Some(machine) = self.machine.get() {
            return Ok(machine);
        }
        let machine = Machine::new(&self.rule)
            .map_err(|error| format!("the rule `{}`: {error}", self.rule.name))?;
        Ok(self.machine.get_or_init(|| Box::new(machine)))
    }
}
