//! A rule as automata, which are built when its needle is found for the first time, and whose states are built lazily.

use std::cell::RefCell;
use std::ops::Range;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, Input, MatchKind};

use crate::rules::Rule;
use crate::text::{self, Codes, End, NextChar};

/// The maximum length of a match, in bytes. Longer matches are cut off.
pub(crate) const WINDOW: usize = 8 * 1024;

/// The memory for the states of one automaton, in bytes. When it is used up, the automaton starts over.
const STATES: usize = 128 * 1024;

/// A regex, and its states so far.
pub(crate) struct Automaton {
    dfa: DFA,
    cache: RefCell<Cache>,
}

/// The match at a position.
#[derive(Debug, PartialEq)]
pub(crate) enum MatchState {
    Nothing,
    /// A match up to here.
    Match(usize),
    /// More text is needed to decide.
    Undecided,
}

impl Automaton {
    /// An automaton that runs forward, and prefers the leftmost-first match.
    pub(crate) fn forward(regex: &str) -> Result<Self, String> {
        Self::new(&[regex], MatchKind::LeftmostFirst, false)
    }

    /// An automaton that runs backward, and prefers the longest match.
    fn backward(regex: &str) -> Result<Self, String> {
        Self::new(&[regex], MatchKind::All, true)
    }

    fn new(regexes: &[&str], kind: MatchKind, reverse: bool) -> Result<Self, String> {
        let dfa = DFA::builder()
            .configure(
                DFA::config()
                    .match_kind(kind)
                    .cache_capacity(STATES)
                    .skip_cache_capacity_check(true),
            )
            .syntax(bytes())
            .thompson(thompson::Config::new().reverse(reverse).utf8(false))
            .build_many(regexes)
            .map_err(|error| error.to_string())?;
        let cache = RefCell::new(dfa.create_cache());
        Ok(Self { dfa, cache })
    }

    /// The state in which a match begins behind this byte.
    fn start(&self, cache: &mut Cache, behind: Option<u8>) -> Result<LazyStateID, String> {
        let start = start::Config::new()
            .anchored(Anchored::Yes)
            .look_behind(behind);
        self.dfa
            .start_state(cache, &start)
            .map_err(|error| error.to_string())
    }

    /// The bytes with which a match may begin.
    pub(crate) fn beginnings(&self) -> Result<Box<[bool; 256]>, String> {
        let cache = &mut *self.cache.borrow_mut();
        let mut beginnings = Box::new([false; 256]);
        for behind in [None, Some(b'\n'), Some(b' '), Some(b'a')] {
            let start = self.start(cache, behind)?;
            for byte in 0..=u8::MAX {
                let state = self.dfa.next_state(cache, start, byte).map_err(gave_up)?;
                beginnings[usize::from(byte)] |= !state.is_dead();
            }
        }
        // Escapes may stand for any other byte.
        for byte in text::ESCAPES {
            beginnings[usize::from(byte)] = true;
        }
        Ok(beginnings)
    }

    /// The match at this position of a text, and how many characters were needed to decide.
    pub(crate) fn at(
        &self,
        text: &[u8],
        place: usize,
        end: End,
        codes: Codes,
    ) -> Result<(MatchState, usize), String> {
        let found = self.run(text, place, end, codes);
        #[cfg(test)]
        LOOKED.set(LOOKED.get() + found.as_ref().map_or(0, |(_, looked)| *looked));
        found
    }

    fn run(
        &self,
        text: &[u8],
        place: usize,
        end: End,
        codes: Codes,
    ) -> Result<(MatchState, usize), String> {
        let cache = &mut *self.cache.borrow_mut();
        let mut state = self.start(cache, text::before(text, place))?;
        let (mut found, mut looked, mut at) = (MatchState::Nothing, 0, place);
        // A state reports a match one character after its end.
        loop {
            let (byte, next) = match text::next(text, at, end, codes) {
                NextChar::Byte(byte, next) => (byte, next),
                NextChar::More => return Ok((MatchState::Undecided, looked)),
                NextChar::End => break,
            };
            if at - place >= WINDOW {
                break;
            }
            state = self.dfa.next_state(cache, state, byte).map_err(gave_up)?;
            looked += 1;
            if state.is_tagged() {
                if state.is_match() {
                    found = MatchState::Match(at);
                } else if state.is_dead() {
                    return Ok((found, looked));
                }
            }
            at = next;
        }
        state = self.dfa.next_eoi_state(cache, state).map_err(gave_up)?;
        if state.is_match() {
            found = MatchState::Match(at);
        }
        Ok((found, looked))
    }

    /// The end of the match at the beginning of this text.
    fn end(&self, text: &[u8]) -> Result<Option<usize>, String> {
        let cache = &mut *self.cache.borrow_mut();
        let mut state = self.start(cache, None)?;
        let mut end = None;
        for (at, byte) in text.iter().enumerate() {
            state = self.dfa.next_state(cache, state, *byte).map_err(gave_up)?;
            if state.is_match() {
                end = Some(at);
            } else if state.is_dead() {
                break;
            }
        }
        Ok(end)
    }

    /// The beginning of the longest match that ends with this text; `behind` is the byte after it.
    fn begin(&self, text: &[u8], behind: Option<u8>) -> Result<Option<usize>, String> {
        let cache = &mut *self.cache.borrow_mut();
        let mut state = self.start(cache, behind)?;
        let mut begin = None;
        for (at, byte) in text.iter().enumerate().rev() {
            state = self.dfa.next_state(cache, state, *byte).map_err(gave_up)?;
            if state.is_match() {
                begin = Some(at + 1);
            } else if state.is_dead() {
                return Ok(begin);
            }
        }
        state = self.dfa.next_eoi_state(cache, state).map_err(gave_up)?;
        Ok(if state.is_match() { Some(0) } else { begin })
    }

    /// Whether there is a match in this text.
    fn is_in(&self, text: &[u8]) -> Result<bool, String> {
        let text = Input::new(text).earliest(true);
        let found = self.dfa.try_search_fwd(&mut self.cache.borrow_mut(), &text);
        found.map(|found| found.is_some()).map_err(gave_up)
    }
}

/// The syntax of all regexes: bytes, of which only those of ASCII have case and are word characters.
pub(crate) fn bytes() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

#[cfg(test)]
thread_local! {
    /// The number of examined characters.
    pub(crate) static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn gave_up<E>(_: E) -> String {
    "a pattern needs too much memory; use a simpler one".to_owned()
}

/// Several regexes, combined into one automaton that finds whether any of them matches; `None` without regexes.
pub(crate) struct CombinedRegex(Option<Automaton>);

impl CombinedRegex {
    pub(crate) fn new(regexes: &[&str]) -> Result<Self, String> {
        let automaton = match regexes {
            [] => None,
            _ => Some(Automaton::new(regexes, MatchKind::All, false)?),
        };
        Ok(Self(automaton))
    }

    pub(crate) fn is_in(&self, text: &[u8]) -> Result<bool, String> {
        self.0
            .as_ref()
            .map_or(Ok(false), |automaton| automaton.is_in(text))
    }
}

/// A rule whose needle was found.
pub(crate) struct Machine {
    pub(crate) whole: Automaton,
    /// How to find the beginning and the end of the secret in the match.
    begin: MatchStart,
    tail: Option<Automaton>,
    pub(crate) none: CombinedRegex,
    pub(crate) all: Vec<CombinedRegex>,
    pub(crate) around: CombinedRegex,
}

enum MatchStart {
    /// At the beginning of the match.
    Here,
    /// After the rule's text before it.
    Behind(Automaton),
    /// As early as the secret's pattern allows.
    Before(Automaton),
}

impl Machine {
    pub(crate) fn new(rule: &Rule) -> Result<Self, String> {
        let lead = rule.lead();
        let begin = match (lead.is_empty(), rule.assigned || rule.exact) {
            (true, _) => MatchStart::Here,
            (false, true) => MatchStart::Behind(Automaton::forward(&lead)?),
            (false, false) => MatchStart::Before(Automaton::backward(&rule.body())?),
        };
        let tail = rule.tail().map(Automaton::backward).transpose()?;
        let all = rule.all.iter().map(|regex| CombinedRegex::new(&[regex]));
        Ok(Self {
            whole: Automaton::forward(&rule.regex())?,
            begin,
            tail,
            none: CombinedRegex::new(rule.none)?,
            all: all.collect::<Result<_, _>>()?,
            around: CombinedRegex::new(rule.around)?,
        })
    }

    /// The range of the secret in a match; `behind` is the byte after the match.
    pub(crate) fn secret(&self, found: &[u8], behind: Option<u8>) -> Result<Range<usize>, String> {
        let end = match &self.tail {
            Some(tail) => tail.begin(found, behind)?.unwrap_or(found.len()),
            None => found.len(),
        };
        let start = match &self.begin {
            MatchStart::Here => None,
            MatchStart::Behind(lead) => lead.end(&found[..end])?,
            MatchStart::Before(body) => {
                body.begin(&found[..end], found.get(end).copied().or(behind))?
            }
        };
        Ok(start.unwrap_or(0)..end)
    }
}
