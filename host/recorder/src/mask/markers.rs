//! Markers for secrets: their kind, and a number that distinguishes them.
//!
//! Within a connection, the same secret has the same number, so that a message on one hop can be recognized on the
//! next. Numbers are given in order of appearance, and reveal nothing about the secret.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use acp_chain_rpc::splice;
use acp_chain_secrets::{Detector, Effort, Secret, UNCLEAR, defaults};

/// How many secrets are distinguished. Later ones are marked only by kind.
const MOST: usize = 1 << 16;

/// Finds secrets, in the same way on all connections. It takes some megabytes, so it is made when it is first needed.
/// `None` if it cannot be made; then all text is masked.
pub type Finder = LazyCell<Option<Detector>>;

/// A finder that is made when it is first needed.
pub fn finder() -> Finder {
    LazyCell::new(|| Detector::new(defaults().copied()).ok())
}

/// The numbers of the secrets of a connection, by hashes with a random key.
#[derive(Default)]
pub struct Numbers {
    known: HashMap<u64, usize>,
    hasher: RandomState,
}

/// Finds the secrets of a connection, and makes their markers.
pub struct Markers<'m> {
    pub finder: &'m Finder,
    pub numbers: &'m mut Numbers,
}

/// A replacement for a part of a text.
pub type Edit = (Range<usize>, String);

impl<'m> Markers<'m> {
    pub fn detector(&self) -> Option<&'m Detector> {
        self.finder.as_ref()
    }

    /// The marker for a secret of this kind.
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

    /// The edits that mask the secrets in a text.
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

    /// A text without its secrets, if it has any.
    pub fn masked(&mut self, text: &str, effort: &mut Effort) -> Option<String> {
        let edits = self.edits(text, effort);
        (!edits.is_empty()).then(|| applied(text, &edits))
    }
}

/// The marker for text that may contain a secret.
pub fn unclear() -> String {
    format!("[secret: {UNCLEAR}]")
}

/// Applies edits to a text, which are in order and disjoint.
pub fn applied(text: &str, edits: &[Edit]) -> String {
    let edits = edits.iter();
    splice(text, edits.map(|(range, other)| (range.clone(), other)))
}
