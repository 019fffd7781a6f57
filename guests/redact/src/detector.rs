//! Finds secrets in text that comes in pieces.
//!
//! At each place of the text the patterns, one lazy DFA together, run forward from there. Either
//! they die, and it is known whether a secret starts at this place and where it ends; or they are
//! still alive where the text ends so far. Then, and only then, the rest of the text is kept back:
//! it is the shortest tail that may be the beginning of a secret, or may go on being one. (A DFA
//! tells of the end of a match one byte later, so a secret is let go with the second character
//! after it.) What comes out depends on the text alone, never on how it was cut.
//!
//! At most places of a text they die at once, because of two bytes: the one there and the one
//! before it. Which pairs these are is remembered.

use std::cell::RefCell;
use std::mem;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use serde::{Deserialize, Serialize};

/// How far a secret can reach, in bytes. What is longer is redacted up to here.
pub(crate) const WINDOW: usize = 8 * 1024;

pub(crate) struct Detector {
    names: Vec<String>,
    dfa: DFA,
    cache: RefCell<Cache>,
    barren: RefCell<Barren>,
}

/// Pairs of bytes, or of none and a byte, at whose second one no secret starts.
struct Barren(Vec<[bool; 256]>);

impl Barren {
    fn new() -> Self {
        Self(vec![[false; 256]; 257])
    }

    fn of(&mut self, before: Option<u8>) -> &mut [bool; 256] {
        &mut self.0[before.map_or(256, usize::from)]
    }

    /// How many bytes at the beginning of the text can be passed over. Of longer characters none.
    fn pass(&mut self, mut before: Option<u8>, text: &[u8]) -> usize {
        let fertile = |byte: &u8| {
            let barren = byte.is_ascii() && self.of(before)[usize::from(*byte)];
            before = Some(*byte);
            !barren
        };
        text.iter().position(fertile).unwrap_or(text.len())
    }
}

/// The end of a text that is still to be decided.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Tail {
    text: String,
    /// The byte before it, for word boundaries.
    before: Option<u8>,
}

impl Tail {
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// Whether more text may follow.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    Open,
    Here,
}

enum Found {
    Nothing,
    Secret { length: usize, pattern: usize },
    Undecided,
}

impl Detector {
    pub(crate) fn new<'a>(
        patterns: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, String> {
        let (names, regexes): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        let config = DFA::config().match_kind(MatchKind::LeftmostFirst);
        let dfa = DFA::builder()
            .configure(config.skip_cache_capacity_check(true))
            .build_many(&regexes)
            .map_err(|error| error.to_string())?;
        let cache = RefCell::new(dfa.create_cache());
        Ok(Self {
            names: names.into_iter().map(String::from).collect(),
            dfa,
            cache,
            barren: RefCell::new(Barren::new()),
        })
    }

    /// What stands for a secret of this pattern.
    pub(crate) fn marker(name: &str) -> String {
        format!("[redacted: {name}]")
    }

    /// The markers that this detector may leave.
    pub(crate) fn markers(&self) -> impl Iterator<Item = String> {
        self.names.iter().map(|name| Self::marker(name))
    }

    /// A whole text without its secrets; none if it has none.
    pub(crate) fn redact(&self, text: &str) -> Result<Option<String>, String> {
        let redacted = self.next(&mut Tail::default(), text, End::Here)?;
        Ok((redacted != text).then_some(redacted))
    }

    /// Adds a piece to a text. Returns what is decided by it, without the secrets; the rest stays
    /// in the tail, which is empty where the text ends.
    pub(crate) fn next(&self, tail: &mut Tail, piece: &str, end: End) -> Result<String, String> {
        let mut text = mem::take(&mut tail.text);
        text.push_str(piece);
        let mut cache = self.cache.borrow_mut();
        let mut out = String::with_capacity(text.len());
        let (mut place, mut copied) = (0, 0);
        loop {
            let passed = self
                .barren
                .borrow_mut()
                .pass(tail.before, &text.as_bytes()[place..]);
            if passed > 0 {
                place += passed;
                tail.before = Some(text.as_bytes()[place - 1]);
            }
            let Some(character) = text[place..].chars().next() else {
                break;
            };
            match self.at(&mut cache, tail.before, &text.as_bytes()[place..], end)? {
                Found::Nothing => place += character.len_utf8(),
                Found::Secret { length, pattern } => {
                    out.push_str(&text[copied..place]);
                    out.push_str(&Self::marker(&self.names[pattern]));
                    place += length;
                    copied = place;
                }
                Found::Undecided => break,
            }
            tail.before = Some(text.as_bytes()[place - 1]);
        }
        out.push_str(&text[copied..place]);
        tail.text = text.split_off(place);
        Ok(out)
    }

    /// What starts at the beginning of the text.
    fn at(
        &self,
        cache: &mut Cache,
        before: Option<u8>,
        text: &[u8],
        end: End,
    ) -> Result<Found, String> {
        let gave_up = |_| "the patterns need too much memory; use simpler ones".to_owned();
        let start = start::Config::new()
            .anchored(Anchored::Yes)
            .look_behind(before);
        let mut state = self
            .dfa
            .start_state(cache, &start)
            .map_err(|error| error.to_string())?;
        let mut found = Found::Nothing;
        // A state tells of a match one byte after its end.
        let secret = |cache: &Cache, state: LazyStateID, length: usize| Found::Secret {
            length,
            pattern: self.dfa.match_pattern(cache, state, 0).as_usize(),
        };
        for (length, byte) in text.iter().take(WINDOW).enumerate() {
            state = self.dfa.next_state(cache, state, *byte).map_err(gave_up)?;
            if state.is_match() {
                found = secret(cache, state, length);
            } else if state.is_dead() {
                if length == 0 {
                    self.barren.borrow_mut().of(before)[usize::from(*byte)] = true;
                }
                return Ok(found);
            }
        }
        if text.len() > WINDOW {
            return Ok(found);
        }
        if end == End::Open {
            return Ok(Found::Undecided);
        }
        state = self.dfa.next_eoi_state(cache, state).map_err(gave_up)?;
        if state.is_match() {
            found = secret(cache, state, text.len());
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
