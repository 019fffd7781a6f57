//! Merkle trees as in RFC 6962, section 2.1: SHA-256, with a prefix that tells leaves from nodes.
//!
//! [`Tree`] is a tree that grows, in memory of the size of its logarithm.

use ring::digest::{Context, SHA256};

/// SHA-256.
pub type Hash = [u8; 32];

/// SHA-256 of these parts, one after the other.
pub(crate) fn sha256(parts: &[&[u8]]) -> Hash {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(part);
    }
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// The hash of a leaf with this content.
pub fn leaf(content: &[u8]) -> Hash {
    sha256(&[&[0], content])
}

/// The hash of a node above these two.
pub fn node(left: &Hash, right: &Hash) -> Hash {
    sha256(&[&[1], left, right])
}

/// A tree that grows: the hashes of its perfect subtrees, the largest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    subtrees: Vec<Hash>,
}

impl Tree {
    /// A tree of this many leaves with these perfect subtrees, the largest first; `None` if a tree of that size has
    /// another number of them.
    pub fn of(size: u64, subtrees: Vec<Hash>) -> Option<Self> {
        let count = usize::try_from(size.count_ones()).ok()?;
        (subtrees.len() == count).then_some(Self { size, subtrees })
    }

    /// The number of its leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Its perfect subtrees, the largest first.
    pub fn subtrees(&self) -> &[Hash] {
        &self.subtrees
    }

    /// Appends the leaf with this hash.
    pub fn push(&mut self, leaf: Hash) {
        let mut hash = leaf;
        // Each one at the end of the size is a perfect subtree as large as the one that is now complete.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.subtrees.pop() {
                hash = node(&left, &hash);
            }
        }
        self.subtrees.push(hash);
        self.size += 1;
    }

    /// The hash of the whole tree.
    pub fn root(&self) -> Hash {
        let joined = self.subtrees.iter().rev().copied();
        let joined = joined.reduce(|right, left| node(&left, &right));
        joined.unwrap_or_else(|| sha256(&[]))
    }
}
