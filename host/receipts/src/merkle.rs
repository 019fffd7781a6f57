//! Merkle trees as in RFC 6962, section 2.1: SHA-256, with a prefix that tells leaves from nodes.
//!
//! [`Tree`] is a tree that grows, in memory of the size of its logarithm. The proofs are computed from the hashes of all
//! leaves, and verified as in RFC 9162, sections 2.1.3.2 and 2.1.4.2.

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
#[must_use]
pub fn leaf(content: &[u8]) -> Hash {
    sha256(&[&[0], content])
}

/// The hash of a node above these two.
#[must_use]
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
    #[must_use]
    pub fn of(size: u64, subtrees: Vec<Hash>) -> Option<Self> {
        let count = usize::try_from(size.count_ones()).ok()?;
        (subtrees.len() == count).then_some(Self { size, subtrees })
    }

    /// The number of its leaves.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Its perfect subtrees, the largest first.
    #[must_use]
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
    #[must_use]
    pub fn root(&self) -> Hash {
        let joined = self.subtrees.iter().rev().copied();
        let joined = joined.reduce(|right, left| node(&left, &right));
        joined.unwrap_or_else(|| sha256(&[]))
    }
}

/// The hash of a tree with these leaves.
#[must_use]
pub fn root(leaves: &[Hash]) -> Hash {
    let mut tree = Tree::default();
    for leaf in leaves {
        tree.push(*leaf);
    }
    tree.root()
}

/// The number of leaves on the left of a tree with this many, which are at least two: the largest power of two that is
/// smaller.
fn split(count: usize) -> usize {
    count.next_power_of_two() / 2
}

/// The proof that the leaf at `index` is in the tree with these leaves; `None` if there is no such leaf.
#[must_use]
pub fn inclusion(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    if index >= leaves.len() {
        return None;
    }
    let (mut part, mut at, mut proof) = (leaves, index, Vec::new());
    while part.len() > 1 {
        let (left, right) = part.split_at(split(part.len()));
        let other;
        (part, other, at) = if at < left.len() {
            (left, right, at)
        } else {
            (right, left, at - left.len())
        };
        proof.push(root(other));
    }
    proof.reverse();
    Some(proof)
}

/// The proof that the tree with these leaves begins with that of the first `old` of them; `None` unless there are so
/// many. Nothing need be proved of an empty tree.
#[must_use]
pub fn consistency(leaves: &[Hash], old: usize) -> Option<Vec<Hash>> {
    if old > leaves.len() {
        return None;
    }
    if old == 0 || old == leaves.len() {
        return Some(Vec::new());
    }
    let (mut part, mut rest, mut is_whole, mut proof) = (leaves, old, true, Vec::new());
    while rest < part.len() {
        let (left, right) = part.split_at(split(part.len()));
        let other;
        (part, other, rest) = if rest <= left.len() {
            (left, right, rest)
        } else {
            is_whole = false;
            (right, left, rest - left.len())
        };
        proof.push(root(other));
    }
    // The verifier has the hash of the old tree already.
    if !is_whole {
        proof.push(root(part));
    }
    proof.reverse();
    Some(proof)
}

/// Whether a proof shows that the leaf with this hash is at `index` in a tree of this size and hash.
#[must_use]
pub fn verifies_inclusion(leaf: &Hash, index: u64, size: u64, proof: &[Hash], root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    let (mut at, mut last, mut hash) = (index, size - 1, *leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if at % 2 == 1 || at == last {
            hash = node(sibling, &hash);
            while at.is_multiple_of(2) && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            hash = node(&hash, sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && hash == *root
}

/// Whether a proof shows that a tree of this size and hash begins with the old one.
#[must_use]
pub fn verifies_consistency(old: (u64, &Hash), new: (u64, &Hash), proof: &[Hash]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size > new_size {
        return false;
    }
    if old_size == 0 {
        return proof.is_empty() && *old_root == sha256(&[]);
    }
    if old_size == new_size {
        return proof.is_empty() && old_root == new_root;
    }
    let (mut at, mut last) = (old_size - 1, new_size - 1);
    let ones = at.trailing_ones();
    (at, last) = (at >> ones, last >> ones);
    // A perfect old tree is a node of the new one, and the proof leaves it out.
    let (first, rest) = match proof {
        _ if old_size.is_power_of_two() => (*old_root, proof),
        [first, rest @ ..] => (*first, rest),
        [] => return false,
    };
    let (mut of_old, mut of_new) = (first, first);
    for sibling in rest {
        if last == 0 {
            return false;
        }
        if at % 2 == 1 || at == last {
            of_old = node(sibling, &of_old);
            of_new = node(sibling, &of_new);
            while at.is_multiple_of(2) && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            of_new = node(&of_new, sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && of_old == *old_root && of_new == *new_root
}
