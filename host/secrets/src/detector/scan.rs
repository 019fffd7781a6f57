//! One pass over a text.

use std::ops::Range;

use super::beginnings::{Beginning, Beginnings, DEPTH, State, column};
use super::{Detector, Kind, Marker, NeedleRule, Place, RedactedText, Search, Secret, UNCLEAR};
use crate::effort::Effort;
use crate::judge;
use crate::machine::MatchState;
use crate::text::{self, ESCAPES, End, NextChar};

/// How much of the text is searched for needles before they are processed, in bytes.
const SEGMENT: usize = 6 * BLOCK;

/// How many automata search for needles concurrently, the length of the part of each, and how many steps each goes
/// between checks for hits.
const LANES: usize = 6;
const LANE: usize = 128;
const STEPS: usize = 2;
const BLOCK: usize = LANES * LANE;

/// The maximum length of a needle: one that is cut at the end of a piece is only looked for this far back.
const NEEDLE: usize = 12;

/// A rest of the text shorter than this is searched sooner by one automaton than by several.
const REST: usize = 2 * LANE;

/// The maximum number of needles of a rule that may be shown.
const NEEDLES: usize = 16;

/// How often each automaton is checked for hits: it reads beyond its part of the text what it knows of a needle.
const STOPS: usize = (LANE + DEPTH) / STEPS;

/// The input of each automaton.
type Columns = [[[u8; STEPS]; STOPS]; LANES];

/// The spans to remove, and how far the text is decided.
pub(super) struct Scan {
    /// The parts to remove, in order and disjoint.
    spans: Vec<Span>,
    /// The text before this position can be sent. No span crosses it.
    pub(super) decided: usize,
    /// The remaining effort at that position.
    pub(super) effort: Effort,
}

#[derive(Clone, Debug)]
struct Span {
    range: Range<usize>,
    /// `None` if it continues an earlier removal.
    name: Option<&'static str>,
    /// The beginning of its match, and the remaining effort at that position.
    begin: usize,
    effort: Effort,
}

/// A position where a match of a rule may begin.
type Hit = (usize, usize);

impl Scan {
    pub(super) fn of(
        detector: &Detector,
        text: &str,
        from: usize,
        effort: Effort,
        end: End,
    ) -> Result<Self, String> {
        let mut scan = Self {
            spans: Vec::new(),
            decided: from,
            effort,
        };
        let search = detector.search();
        let limit = match end {
            End::Open => search.limit(text.as_bytes(), from),
            End::Here => text.len(),
        };
        let mut at = scan.effort.blind_end(text, from);
        if at > from {
            scan.add(from..at, None, from, effort);
        }
        let mut accounted = at;
        let mut hits = Vec::new();
        while at < limit {
            let to = limit.min(at + SEGMENT);
            hits.clear();
            search.hits(text.as_bytes(), at..to, &mut hits);
            detector.hits_anywhere(text.as_bytes(), at..to, &mut hits);
            hits.sort_unstable();
            hits.dedup();
            at = to;
            for hits in hits.chunk_by(|one, other| one.0 == other.0) {
                let place = hits[0].0;
                if place < accounted || scan.covers(place) {
                    continue;
                }
                scan.effort.pass(place - accounted);
                accounted = place;
                let before = scan.effort;
                if scan.effort.is_spent() {
                    scan.effort.go_blind();
                    accounted = scan.effort.blind_end(text, place);
                    scan.add(place..accounted, Some(UNCLEAR), place, before);
                    at = at.max(accounted);
                    continue;
                }
                if !scan.look(detector, text, hits, limit, end)? {
                    scan.effort = before;
                    return Ok(scan.decide(place));
                }
            }
        }
        let decided = at.max(limit);
        scan.effort.pass(decided.saturating_sub(accounted));
        Ok(scan.decide(decided))
    }

    /// Tries the rules whose matches may begin at one position. Returns false if more text is needed to decide.
    fn look(
        &mut self,
        detector: &Detector,
        text: &str,
        hits: &[Hit],
        limit: usize,
        end: End,
    ) -> Result<bool, String> {
        let before = self.effort;
        let bytes = text.as_bytes();
        let place = hits[0].0;
        let mut found: Vec<(Range<usize>, &'static str)> = Vec::new();
        for kind in hits.iter().map(|(_, at)| &detector.kinds[*at]) {
            let rule = &kind.rule;
            let (outcome, looked) = kind.machine()?.whole.at(bytes, place, end, rule.codes)?;
            let spent = match outcome {
                MatchState::Undecided => return Ok(false),
                MatchState::Nothing => looked,
                MatchState::Match(to) => match detector.secret(kind, text, place..to)? {
                    Some(secret) if end == End::Open && secret.start >= limit => {
                        return Ok(false);
                    }
                    Some(secret) => {
                        found.push((secret, rule.name));
                        continue;
                    }
                    None => 5 * looked,
                },
            };
            self.effort.spend(spent, rule.needles.is_empty());
        }
        // The longest determines the name.
        found.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        for (secret, name) in found {
            let cost = secret.len();
            if !self.add(secret, Some(name), place, before) {
                self.effort.spend(cost, false);
            }
        }
        Ok(true)
    }

    fn covers(&self, place: usize) -> bool {
        let next = self.spans.partition_point(|span| span.range.end <= place);
        self.spans
            .get(next)
            .is_some_and(|span| span.range.contains(&place))
    }

    /// Removes a part, merged with all parts that it overlaps. Returns false if it was already removed.
    fn add(
        &mut self,
        range: Range<usize>,
        name: Option<&'static str>,
        begin: usize,
        effort: Effort,
    ) -> bool {
        let first = self
            .spans
            .partition_point(|span| span.range.end <= range.start);
        let behind = self
            .spans
            .partition_point(|span| span.range.start < range.end);
        let is_in = |old: &Span| old.range.start <= range.start && range.end <= old.range.end;
        if self.spans.get(first).is_some_and(is_in) {
            return false;
        }
        let mut new = Span {
            range,
            name,
            begin,
            effort,
        };
        for (number, old) in self.spans.drain(first..behind.max(first)).enumerate() {
            if number == 0 {
                new.name = old.name;
            }
            if old.begin < new.begin {
                (new.begin, new.effort) = (old.begin, old.effort);
            }
            new.range = old.range.start.min(new.range.start)..old.range.end.max(new.range.end);
        }
        self.spans.insert(first, new);
        true
    }

    /// Marks the text as decided up to this position, or less if a match begins before it and its secret is after it.
    fn decide(mut self, place: usize) -> Self {
        self.decided = place;
        while let Some(span) = self.spans.pop_if(|span| span.range.start >= self.decided) {
            if span.begin < self.decided {
                (self.decided, self.effort) = (span.begin, span.effort);
            }
        }
        if let Some(last) = self.spans.last()
            && last.range.end > self.decided
        {
            self.effort.pass(last.range.end - self.decided);
            self.decided = last.range.end;
        }
        self
    }

    pub(super) fn is_clean(&self) -> bool {
        self.spans.is_empty()
    }

    /// The secrets, relative to this position.
    pub(super) fn secrets(&self, from: usize) -> Vec<Secret> {
        let secret = |span: &Span| Secret {
            range: span.range.start - from..span.range.end - from,
            name: span.name,
        };
        self.spans.iter().map(secret).collect()
    }

    /// The decided part of the text from this position on, with markers. If a secret begins before it, its rest has
    /// one.
    pub(super) fn redacted(&self, text: &str, from: usize, marker: Marker) -> RedactedText {
        let to = self.decided.max(from);
        let mut out = String::with_capacity(to - from);
        let (mut names, mut places, mut copied) = (Vec::new(), Vec::new(), from);
        for Span { range, name, .. } in self.spans.iter().filter(|span| span.range.end > from) {
            out.push_str(&text[copied..range.start.max(copied)]);
            let start = out.len();
            if let Some(name) = *name {
                for part in [marker.begin(), name, "]"] {
                    out.push_str(part);
                }
                names.push(name);
            }
            copied = range.end;
            places.push(Place {
                hidden: range.clone(),
                shown: start..out.len(),
            });
        }
        out.push_str(&text[copied..to]);
        RedactedText {
            text: out,
            names,
            places,
        }
    }
}

impl Search {
    /// The first position at the end of the text where a match may begin whose needle is incomplete.
    fn limit(&self, text: &[u8], from: usize) -> usize {
        let earliest = from.max(text.len().saturating_sub(NEEDLE));
        let begins = |place: &usize| {
            let part = text[*place..].to_ascii_lowercase();
            let first = self
                .texts
                .partition_point(|needle| needle.as_bytes() < &part);
            let needles = self.texts[first..].iter().zip(&self.needed_by[first..]);
            let mut begun = needles
                .take_while(|(needle, _)| needle.as_bytes().starts_with(&part))
                .filter(|(needle, _)| needle.len() > part.len());
            let may_begin = |rule: &NeedleRule| !rule.apart || is_apart(text, *place);
            begun.any(|(_, rules)| rules.iter().any(may_begin))
        };
        let mut places =
            (earliest..text.len()).filter(|at| self.beginnings.may_begin(&text[*at..]));
        places.find(begins).unwrap_or(text.len())
    }

    /// The length of the text's beginning that all secrets of a rule share, or nearly all: a needle, or the beginning
    /// of one if the text ends within it. Zero if a rule has so many needles that showing one reveals something.
    pub(super) fn known(&self, kinds: &[Kind], text: &[u8]) -> usize {
        let text = text[..text.len().min(NEEDLE)].to_ascii_lowercase();
        let has_many = |needed: &NeedleRule| kinds[needed.kind].rule.needles.len() > NEEDLES;
        let mut known = 0;
        for (needle, rules) in self.texts.iter().zip(&self.needed_by) {
            if text.starts_with(needle.as_bytes()) || needle.as_bytes().starts_with(&text) {
                if rules.iter().any(has_many) {
                    return 0;
                }
                known = known.max(needle.len().min(text.len()));
            }
        }
        known
    }

    /// The positions in this part of a text where a match with a needle may begin. Unordered, and with duplicates:
    /// each automaton reads one byte after the other, so several of them run concurrently.
    fn hits(&self, text: &[u8], part: Range<usize>, hits: &mut Vec<Hit>) {
        let Some(last) = text.len().checked_sub(BLOCK + DEPTH) else {
            return self.walk(text, part, hits);
        };
        let mut columns: Columns = [[[0; STEPS]; STOPS]; LANES];
        for start in part.clone().step_by(BLOCK) {
            if part.end - start < REST {
                return self.walk(text, start..part.end, hits);
            }
            // The last part overlaps the one before, to be as long as the others.
            let start = start.min(last);
            let lanes = (start..).step_by(LANE);
            for (lane, columns) in lanes.clone().zip(&mut columns) {
                Beginnings::read(&text[lane..], columns.as_flattened_mut());
            }
            let (mut states, mut at) = ([State::default(); LANES], 0);
            while self.run(&columns, &mut states, &mut at) {
                for ((state, lane), columns) in states.iter_mut().zip(lanes.clone()).zip(&columns) {
                    for (column, last) in columns[at].iter().zip(lane + at * STEPS..) {
                        *state = self.beginnings.next(*state, *column);
                        if Beginnings::has_found(*state) {
                            self.hits_of(*state, text, &part, last, hits);
                        }
                    }
                }
                at += 1;
            }
        }
    }

    /// Advances until one of the automata has a hit in its next steps. Returns false if all are at their end. A
    /// separate function, so that all of its variables fit into registers.
    #[inline(never)]
    fn run(&self, columns: &Columns, states: &mut [State; LANES], at: &mut usize) -> bool {
        // This shows the compiler that the indices are within bounds.
        let mut now = states.map(Beginnings::known);
        let mut next = *at;
        let mut has_found = false;
        while next < STOPS {
            let (before, mut all) = (now, 0);
            for step in 0..STEPS {
                for (state, columns) in now.iter_mut().zip(columns) {
                    *state = self.beginnings.next(*state, columns[next][step]);
                    all |= *state;
                }
            }
            has_found = Beginnings::has_found(all);
            if has_found {
                now = before;
                break;
            }
            next += 1;
        }
        *at = next;
        *states = now;
        has_found
    }

    /// Like [`hits`](Self::hits), for a text that is too short for several automata.
    fn walk(&self, text: &[u8], part: Range<usize>, hits: &mut Vec<Hit>) {
        let mut state = State::default();
        let end = text.len().min(part.end + DEPTH);
        for (at, byte) in (part.start..end).zip(&text[part.start..end]) {
            state = self.beginnings.next(state, column(*byte));
            if Beginnings::has_found(state) {
                self.hits_of(state, text, &part, at, hits);
            }
        }
    }

    /// The positions in this part of a text where a match may begin, given the state at this byte.
    fn hits_of(
        &self,
        state: State,
        text: &[u8],
        part: &Range<usize>,
        last: usize,
        hits: &mut Vec<Hit>,
    ) {
        for Beginning { needle, length } in self.beginnings.at(state) {
            let begin = last + 1 - length;
            let whole = self.texts[*needle].as_bytes();
            let is_there = |text: &[u8]| text.eq_ignore_ascii_case(whole);
            let read = text.get(begin..begin + whole.len());
            if !part.contains(&begin) || !read.is_some_and(is_there) {
                continue;
            }
            for NeedleRule { kind, apart } in &self.needed_by[*needle] {
                if !apart || is_apart(text, begin) {
                    hits.push((begin, *kind));
                }
            }
        }
    }
}

impl Detector {
    /// The positions where a match without a needle may begin.
    fn hits_anywhere(&self, text: &[u8], part: Range<usize>, hits: &mut Vec<Hit>) {
        for (kind, beginnings) in &self.anywhere {
            // A match does not begin within a character.
            let begins = |place: &usize| {
                beginnings[usize::from(text[*place])] && text[*place] & 0xc0 != 0x80
            };
            hits.extend(part.clone().filter(begins).map(|place| (place, *kind)));
        }
    }

    /// The range of the secret in a match, if it is one.
    fn secret(
        &self,
        kind: &Kind,
        text: &str,
        found: Range<usize>,
    ) -> Result<Option<Range<usize>>, String> {
        let machine = kind.machine()?;
        let judged = |read: &[u8], behind: Option<u8>| {
            let secret = machine.secret(read, behind)?;
            let never = self.never()?;
            let is_secret =
                judge::is_secret(&kind.rule, machine, never, &read[secret.clone()], read)?;
            Ok::<_, String>(is_secret.then_some(secret))
        };
        let bytes = text.as_bytes();
        let behind = match text::next(bytes, found.end, End::Here, kind.rule.codes) {
            NextChar::Byte(byte, _) => Some(byte),
            NextChar::More | NextChar::End => None,
        };
        let secret = if memchr::memchr3(ESCAPES[0], ESCAPES[1], ESCAPES[2], &bytes[found.clone()])
            .is_none()
        {
            let secret = judged(&bytes[found.clone()], behind)?;
            secret.map(|secret| found.start + secret.start..found.start + secret.end)
        } else {
            // The text as the rule reads it, with the end of each character.
            let (mut read, mut ends, mut at) = (Vec::new(), vec![found.start], found.start);
            while at < found.end
                && let NextChar::Byte(byte, next) =
                    text::next(bytes, at, End::Here, kind.rule.codes)
            {
                read.push(byte);
                ends.push(next);
                at = next;
            }
            judged(&read, behind)?.map(|secret| ends[secret.start]..ends[secret.end])
        };
        let whole = |secret: Range<usize>| {
            text.floor_char_boundary(secret.start)..text.ceil_char_boundary(secret.end)
        };
        Ok(secret.map(whole).filter(|secret| !secret.is_empty()))
    }
}

/// Whether no letter or digit precedes this position.
fn is_apart(text: &[u8], place: usize) -> bool {
    !text::before(text, place).is_some_and(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn no_needle_is_longer_than_is_looked_back() {
        for rule in rules::defaults().chain([&rules::ASSIGNMENT]) {
            let longest = rule.needles.iter().map(|needle| needle.len()).max();
            assert!(longest <= Some(NEEDLE), "{}: {:?}", rule.name, rule.needles);
        }
    }

    #[test]
    fn a_needle_is_found_at_every_position_of_a_long_text() {
        let detector = Detector::new(rules::defaults().copied()).expect("the rules are right");
        let search = detector.search();
        for needle in ["hf_", "pypi-ageichl"] {
            for place in 0..2 * BLOCK {
                let mut text = vec![b' '; 2 * BLOCK + NEEDLE];
                text[place..place + needle.len()].copy_from_slice(needle.as_bytes());
                let mut hits = Vec::new();
                search.hits(&text, 0..text.len(), &mut hits);
                let is_here = |(begin, kind): &Hit| {
                    *begin == place && detector.kinds[*kind].rule.needles.contains(&needle)
                };
                assert!(!hits.is_empty(), "{needle} at {place}");
                assert!(hits.iter().all(is_here), "{needle} at {place}: {hits:?}");
            }
        }
    }
}
