//! Finds where needles may begin: an automaton (Aho and Corasick's) of their first few characters, without
//! regard to case.
//!
//! All text passes through its table, and waiting for memory would be most of that, so the table is small: it
//! has as many characters of each needle as there is room for.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

/// How many places the table has: a state leads to one of them whatever it is.
const PLACES: usize = 1 << State::BITS;

/// Where the row of a state begins in the table.
pub(super) type State = u16;

pub(super) struct Beginnings {
    /// Where in a row the next state stands, by the byte of the text.
    columns: Box<[State; 256]>,
    next: Box<[State; PLACES]>,
    width: usize,
    /// From this state on something has been found.
    found: State,
    /// That, by row.
    ends: Vec<Vec<Beginning>>,
    /// How many characters of needles each state has read, by row.
    depths: Vec<usize>,
    /// How many characters of each are in the table.
    length: usize,
}

/// What may be a needle.
#[derive(Clone, Copy)]
pub(super) struct Beginning {
    pub needle: usize,
    /// How many of its characters have been read.
    pub length: usize,
}

impl Beginnings {
    /// Of these needles, in small letters.
    pub fn of(needles: &[&str]) -> Self {
        let bytes: BTreeSet<u8> = needles.iter().flat_map(|needle| needle.bytes()).collect();
        let width = bytes.len() + 1;
        let mut columns = Box::new([0; 256]);
        for (byte, column) in bytes.iter().zip(1..) {
            columns[usize::from(*byte)] = column;
            columns[usize::from(byte.to_ascii_uppercase())] = column;
        }
        let nodes = nodes(needles, PLACES / width);
        let number: BTreeMap<&str, usize> = nodes.iter().copied().zip(0..).collect();
        let length = nodes.last().map_or(0, |node| node.len());
        // The longest other node that each ends with; it comes before it.
        let fall = |node: &&str| {
            let mut ends = (1..=node.len()).map(|from| &node[from..]);
            ends.find_map(|end| number.get(end)).copied().unwrap_or(0)
        };
        let falls: Vec<usize> = nodes.iter().map(fall).collect();
        let mut ends: Vec<Vec<Beginning>> = vec![Vec::new(); nodes.len()];
        for (needle, text) in needles.iter().enumerate() {
            let length = text.len().min(length);
            ends[number[&text[..length]]].push(Beginning { needle, length });
        }
        for at in 1..nodes.len() {
            let shorter = ends[falls[at]].clone();
            ends[at].extend(shorter);
        }
        // What has found something stands behind all else.
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|at| !ends[*at].is_empty());
        let mut states: Vec<State> = vec![0; nodes.len()];
        for (at, row) in order.iter().zip((0..).step_by(width)) {
            states[*at] = row;
        }
        let found = order.iter().find(|at| !ends[**at].is_empty());
        let found = found.map_or(State::MAX, |at| states[*at]);
        let mut next = vec![0; PLACES].into_boxed_slice();
        // In their order, those of one node stand together.
        let mut longer = nodes.iter().enumerate().skip(1).peekable();
        for (at, node) in nodes.iter().enumerate() {
            let [row, fall] = [at, falls[at]].map(|node| usize::from(states[node]));
            next.copy_within(fall..fall + width, row);
            let is_child = |text: &str| text.len() == node.len() + 1 && text.starts_with(node);
            while let Some((child, text)) = longer.next_if(|(_, text)| is_child(text)) {
                let column = columns[usize::from(text.as_bytes()[node.len()])];
                next[row + usize::from(column)] = states[child];
            }
        }
        let depths = order.iter().map(|at| nodes[*at].len()).collect();
        let ends = order.into_iter().map(|at| mem::take(&mut ends[at]));
        Self {
            columns,
            next: next.try_into().expect("it has so many places"),
            width,
            found,
            ends: ends.collect(),
            depths,
            length,
        }
    }

    /// Whether a needle may begin as this text does, as far as both go.
    pub fn may_begin(&self, text: &[u8]) -> bool {
        let text = &text[..text.len().min(self.length)];
        let state = text.iter().fold(0, |state, byte| self.next(state, *byte));
        self.depths[usize::from(state) / self.width] == text.len()
    }

    /// The state behind this byte.
    #[inline]
    pub fn next(&self, state: State, byte: u8) -> State {
        // Within the row, so it does not wrap.
        let place = state.wrapping_add(self.columns[usize::from(byte)]);
        self.next[usize::from(place)]
    }

    /// Whether something was found on the way to one of these states.
    #[inline]
    pub fn has_found(&self, states: [State; 3]) -> bool {
        let [one, two, three] = states;
        one.max(two).max(three) >= self.found
    }

    /// What ends here, or begins here and is longer.
    pub fn at(&self, state: State) -> &[Beginning] {
        &self.ends[usize::from(state) / self.width]
    }
}

/// What the needles begin with, the shortest first, up to as many characters as make no more nodes than this.
fn nodes<'n>(needles: &[&'n str], most: usize) -> Vec<&'n str> {
    let mut nodes = vec![""];
    for length in 1.. {
        let longer: BTreeSet<&str> = needles
            .iter()
            .filter_map(|needle| needle.get(..length))
            .collect();
        if longer.is_empty() || nodes.len() + longer.len() > most {
            break;
        }
        nodes.extend(longer);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The needles that stand in a text, with the place where each may have begun.
    fn found(needles: &[&str], text: &str) -> BTreeSet<(usize, usize)> {
        let beginnings = Beginnings::of(needles);
        let (mut state, mut found) = (State::default(), BTreeSet::new());
        for (at, byte) in text.bytes().enumerate() {
            state = beginnings.next(state, byte);
            let here = beginnings.at(state).iter();
            assert_eq!(beginnings.has_found([0, state, 0]), here.len() > 0);
            found.extend(here.map(|beginning| (at + 1 - beginning.length, beginning.needle)));
        }
        found
    }

    proptest! {
        #[test]
        fn a_needle_is_found_wherever_it_stands(
            needles in proptest::collection::btree_set("[ab1-]{2,5}", 1..8),
            text in "[abAB1\\-x]{0,40}",
        ) {
            let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
            let small = text.to_ascii_lowercase();
            let mut standing = BTreeSet::new();
            for (number, needle) in needles.iter().enumerate() {
                let places = (0..small.len()).filter(|at| small[*at..].starts_with(needle));
                standing.extend(places.map(|at| (at, number)));
            }
            prop_assert_eq!(found(&needles, &text), standing);
        }
    }

    #[test]
    fn as_much_is_read_of_many_needles_as_there_is_room_for() {
        let needles: Vec<String> = (0..5000).map(|at| format!("{:05x}", at * 97)).collect();
        let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
        let found = found(&needles, &needles.join(" "));
        assert!((0..needles.len()).all(|at| found.contains(&(at * 6, at))));
    }
}
