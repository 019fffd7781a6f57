//! Finds positions where needles may begin: an automaton (Aho–Corasick) of their first few characters.
//!
//! The table is small to stay in the cache, since all text is looked up in it: it has as many characters of each needle
//! as there is room for, at most six, and a row has a column for the last five bits of a character. Characters that
//! share those, such as a letter and its capital, or `p` and `0`, are treated as equal. So there are false hits, but no
//! false misses.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

/// The number of columns of a row.
const WIDTH: usize = 32;

/// The number of rows for states with a hit, and of those without.
const ROWS: usize = 1024;

/// The most characters of a needle that are in the table.
pub(super) const DEPTH: usize = 6;

/// The beginning of a state's row in the table. States in the second half have a hit.
pub(super) type State = usize;

/// The first state with a hit.
const FOUND: State = ROWS * WIDTH;

pub(super) struct Beginnings {
    next: Box<[u16; 2 * FOUND]>,
    /// The possible needles of each row.
    ends: Vec<Vec<Beginning>>,
    /// How many characters of needles each state has read, by row.
    depths: Vec<usize>,
    /// How many characters of each needle are in the table.
    length: usize,
}

/// A possible needle.
#[derive(Clone, Copy)]
pub(super) struct Beginning {
    pub needle: usize,
    /// How many of its characters have been read.
    pub length: usize,
}

/// The beginnings of needles, as the automaton reads them: the shortest first, and otherwise in order.
struct Nodes<'n> {
    read: Vec<&'n [u8]>,
    /// For each node, the longest other node that is a suffix of it, which has a smaller index.
    falls: Vec<usize>,
    /// The possible needles at the end of each node.
    ends: Vec<Vec<Beginning>>,
    /// How many characters of needles the nodes have.
    length: usize,
}

impl Beginnings {
    /// The automaton of these needles.
    pub fn of(needles: &[&str]) -> Self {
        let needles: Vec<Vec<u8>> = needles
            .iter()
            .map(|needle| needle.bytes().map(column).collect())
            .collect();
        Nodes::of(&needles).table()
    }

    /// Whether a needle may begin with this text, or this text with a needle.
    pub fn may_begin(&self, text: &[u8]) -> bool {
        let text = &text[..text.len().min(self.length)];
        let next = |state, byte: &u8| self.next(state, column(*byte));
        let state = text.iter().fold(State::default(), next);
        self.depths[state / WIDTH] == text.len()
    }

    /// The state, masked to show the compiler that it is within the table.
    #[inline]
    pub fn known(state: State) -> State {
        state % (2 * FOUND)
    }

    /// Writes the columns of a text's first characters, up to the length of `columns`.
    pub fn read(text: &[u8], columns: &mut [u8]) {
        for (place, byte) in columns.iter_mut().zip(text) {
            *place = column(*byte);
        }
    }

    /// The state after the character of this column.
    #[inline]
    pub fn next(&self, state: State, column: u8) -> State {
        // The index is within the row, and so within the table.
        self.next[(state | usize::from(column)) % (2 * FOUND)].into()
    }

    /// Whether this state has a hit, or one of several states combined with `|`.
    #[inline]
    pub fn has_found(states: State) -> bool {
        states >= FOUND
    }

    /// The needles that end at this state, or are longer and have been read up to it.
    pub fn at(&self, state: State) -> &[Beginning] {
        &self.ends[state / WIDTH]
    }
}

impl<'n> Nodes<'n> {
    /// The nodes of as many characters of these needles as there is room for.
    fn of(needles: &'n [Vec<u8>]) -> Self {
        let root: &[u8] = &[];
        let mut nodes = Self {
            read: vec![root],
            falls: vec![0],
            ends: vec![Vec::new()],
            length: 0,
        };
        let mut number = BTreeMap::from([(root, 0)]);
        // The number of nodes at which a needle ends.
        let mut found = 0;
        loop {
            let (length, shorter) = (nodes.length + 1, nodes.read.len());
            let read: BTreeSet<&[u8]> =
                needles.iter().filter_map(|all| all.get(..length)).collect();
            // Longer needles are cut off at this length, where each node is a possible needle.
            let fit = found + read.len() <= ROWS && shorter - found <= ROWS;
            if read.is_empty() || !fit || length > DEPTH {
                break;
            }
            for read in read {
                let mut ends = (1..=read.len()).map(|from| &read[from..]);
                let fall = ends.find_map(|end| number.get(end)).copied();
                let fall = fall.unwrap_or_default();
                number.insert(read, nodes.read.len());
                nodes.read.push(read);
                nodes.falls.push(fall);
                nodes.ends.push(nodes.ends[fall].clone());
            }
            nodes.add_ends(needles, &number, length, |needle| needle == length);
            let ends = nodes.ends[shorter..].iter();
            found += ends.filter(|ends| !ends.is_empty()).count();
            nodes.length = length;
        }
        let length = nodes.length;
        nodes.add_ends(needles, &number, length, |needle| needle > length);
        nodes
    }

    /// Adds the needles with these lengths as possible ones after this many of their characters.
    fn add_ends(
        &mut self,
        needles: &[Vec<u8>],
        number: &BTreeMap<&[u8], usize>,
        length: usize,
        is_meant: impl Fn(usize) -> bool,
    ) {
        for (needle, read) in needles.iter().enumerate() {
            if is_meant(read.len()) {
                self.ends[number[&read[..length]]].push(Beginning { needle, length });
            }
        }
    }

    fn table(mut self) -> Beginnings {
        let mut rows = [0, ROWS];
        let mut row = |ends: &Vec<Beginning>| {
            let next = &mut rows[usize::from(!ends.is_empty())];
            mem::replace(next, *next + 1)
        };
        let rows: Vec<usize> = self.ends.iter().map(&mut row).collect();
        let mut table = Beginnings {
            next: vec![0; 2 * FOUND]
                .try_into()
                .expect("the table has this size"),
            ends: vec![Vec::new(); 2 * ROWS],
            depths: vec![0; 2 * ROWS],
            length: self.length,
        };
        // In order, those of one node are adjacent.
        let mut longer = self.read.iter().enumerate().skip(1).peekable();
        for (at, read) in self.read.iter().enumerate() {
            let [row, fall] = [rows[at], rows[self.falls[at]]];
            table.ends[row] = mem::take(&mut self.ends[at]);
            table.depths[row] = read.len();
            table
                .next
                .copy_within(fall * WIDTH..(fall + 1) * WIDTH, row * WIDTH);
            let is_child =
                |longer: &[u8]| longer.len() == read.len() + 1 && longer.starts_with(read);
            while let Some((child, longer)) = longer.next_if(|(_, longer)| is_child(longer)) {
                let column = usize::from(longer[read.len()]);
                let state = u16::try_from(rows[child] * WIDTH);
                table.next[row * WIDTH + column] = state.expect("the table has this many rows");
            }
        }
        table
    }
}

/// The column of a character.
#[inline]
pub(super) fn column(byte: u8) -> u8 {
    byte % 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The needles found in a text, with the position where each may begin.
    fn found(needles: &[&str], text: &str) -> BTreeSet<(usize, usize)> {
        let beginnings = Beginnings::of(needles);
        let (mut state, mut found) = (State::default(), BTreeSet::new());
        for (at, byte) in text.bytes().enumerate() {
            state = beginnings.next(state, column(byte));
            let here = beginnings.at(state).iter();
            assert_eq!(Beginnings::has_found(state), here.len() > 0);
            found.extend(here.map(|beginning| (at + 1 - beginning.length, beginning.needle)));
        }
        found
    }

    /// The actual positions of the needles.
    fn occurrences(needles: &[&str], text: &str) -> BTreeSet<(usize, usize)> {
        let small = text.to_ascii_lowercase();
        let mut occurrences = BTreeSet::new();
        for (number, needle) in needles.iter().enumerate() {
            let places = (0..small.len()).filter(|at| small[*at..].starts_with(needle));
            occurrences.extend(places.map(|at| (at, number)));
        }
        occurrences
    }

    proptest! {
        #[test]
        fn needles_are_found_at_every_position(
            needles in proptest::collection::btree_set("[ab1-]{2,5}", 1..8),
            text in "[abAB1\\-x]{0,40}",
        ) {
            let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
            prop_assert_eq!(found(&needles, &text), occurrences(&needles, &text));
        }

        #[test]
        fn no_needle_is_missed_among_characters_with_the_same_column(
            needles in proptest::collection::btree_set("[ p0q1@_?-]{2,5}", 1..8),
            text in "[ p0Pq1Q@_?\\-\\n\u{1f}]{0,40}",
        ) {
            let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
            prop_assert!(found(&needles, &text).is_superset(&occurrences(&needles, &text)));
        }
    }

    #[test]
    fn many_needles_are_cut_off_to_fit_into_the_table() {
        let needles: Vec<String> = (0..5000).map(|at| format!("{:05x}", at * 97)).collect();
        let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
        let found = found(&needles, &needles.join(" "));
        assert!((0..needles.len()).all(|at| found.contains(&(at * 6, at))));
    }
}
