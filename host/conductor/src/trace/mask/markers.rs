//! What stands for secrets: their kind, and a number by which one is told from another.
//!
//! The same secret has the same number within a connection, so that what was said on one hop can be found on the next.
//! Numbers are given in the order in which secrets come, and nothing of a secret can be computed from its own.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use acp_chain_secrets::{Detector, Effort, Secret, UNCLEAR, defaults};

/// So many secrets are told apart. Those that come later are only told by their kind.
const MOST: usize = 1 << 16;

/// Finds secrets, the same way on all connections. It takes some megabytes, so it is made when there is something to
/// look into. None if there is no memory for it; then nothing goes out.
pub type Finder = LazyCell<Option<Detector>>;

/// One that is made when it is needed.
pub fn finder() -> Finder {
    LazyCell::new(|| Detector::new(defaults().copied()).ok())
}

/// The numbers of the secrets of a connection: by the hash of each, which it takes the key of this process to compute.
#[derive(Default)]
pub struct Numbers {
    known: HashMap<u64, usize>,
    hasher: RandomState,
}

/// Finds the secrets of a connection, and names them.
pub struct Markers<'m> {
    finder: &'m Finder,
    numbers: &'m mut Numbers,
}

/// Another text for a part of one.
pub type Edit = (Range<usize>, String);

impl<'m> Markers<'m> {
    pub fn new(finder: &'m Finder, numbers: &'m mut Numbers) -> Self {
        Self { finder, numbers }
    }

    pub fn detector(&self) -> Option<&'m Detector> {
        self.finder.as_ref()
    }

    /// What stands for a secret of this kind.
    pub fn mark(&mut self, kind: &str, secret: &str) -> String {
        if kind == UNCLEAR {
            return unclear();
        }
        let Numbers { known, hasher } = &mut *self.numbers;
        let (hash, count) = (hasher.hash_one(secret), known.len());
        let number = match known.get(&hash) {
            Some(number) => *number,
            None if count < MOST => {
                known.insert(hash, count + 1);
                count + 1
            }
            None => return format!("[secret: {kind}]"),
        };
        format!("[secret: {kind} {number}]")
    }

    /// What stands for the secrets in a text.
    pub fn edits(&mut self, text: &str, effort: &mut Effort) -> Vec<Edit> {
        let found = match self.detector() {
            Some(detector) => detector.find(text, effort),
            None => Err(String::new()),
        };
        match found {
            Ok(found) => {
                let edits = found.into_iter().map(|secret| self.edit(text, secret));
                edits.collect()
            }
            Err(_) => vec![(0..text.len(), unclear())],
        }
    }

    fn edit(&mut self, text: &str, secret: Secret) -> Edit {
        let Secret { range, name } = secret;
        let marker = name.map_or_else(String::new, |name| self.mark(name, &text[range.clone()]));
        (range, marker)
    }

    /// A text without its secrets, if it has some.
    pub fn masked(&mut self, text: &str, effort: &mut Effort) -> Option<String> {
        let edits = self.edits(text, effort);
        (!edits.is_empty()).then(|| applied(text, &edits))
    }
}

/// What stands for text of which it is not known whether it has a secret.
pub fn unclear() -> String {
    format!("[secret: {UNCLEAR}]")
}

/// A text with changes, which are in order and apart.
pub fn applied(text: &str, edits: &[Edit]) -> String {
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for (range, other) in edits {
        out.push_str(&text[copied..range.start]);
        out.push_str(other);
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    out
}
