use data_encoding::HEXLOWER;
use proptest::prelude::*;

use crate::merkle::{Hash, Tree, leaf, node};

/// The leaves of the test vectors of Certificate Transparency, in hexadecimal.
const LEAVES: [&str; 8] = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
];

/// The hashes of the trees of the first leaves, from none on.
const ROOTS: [&str; 9] = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

fn bytes(hex: &str) -> Vec<u8> {
    HEXLOWER.decode(hex.as_bytes()).unwrap()
}

fn hash(hex: &str) -> Hash {
    bytes(hex).try_into().unwrap()
}

/// The hash of a tree with these leaves.
fn root(leaves: &[Hash]) -> Hash {
    let mut tree = Tree::default();
    for leaf in leaves {
        tree.push(*leaf);
    }
    tree.root()
}

fn leaves() -> Vec<Hash> {
    LEAVES.iter().map(|hex| leaf(&bytes(hex))).collect()
}

#[test]
fn trees_are_those_of_rfc_6962() {
    let mut tree = Tree::default();
    assert_eq!(tree.root(), hash(ROOTS[0]));
    for (leaf, expected) in leaves().into_iter().zip(&ROOTS[1..]) {
        tree.push(leaf);
        assert_eq!(tree.root(), hash(expected));
    }
    assert_eq!(tree.subtrees().len(), 1);
}

#[test]
fn a_tree_has_as_many_subtrees_as_its_size_has_ones() {
    let some = leaf(b"");
    assert_eq!(Tree::of(3, vec![some]), None);
    let tree = Tree::of(3, vec![node(&some, &some), some]).unwrap();
    assert_eq!(tree.root(), root(&[some, some, some]));
}

fn numbered(count: u16) -> Vec<Hash> {
    (0..count)
        .map(|number| leaf(&number.to_be_bytes()))
        .collect()
}

proptest! {
    #[test]
    fn a_tree_that_is_continued_is_that_of_all_leaves(count in 0u16..200, at in 0u16..200) {
        let leaves = numbered(count);
        let at = usize::from(at.min(count));
        let mut first = Tree::default();
        leaves[..at].iter().for_each(|leaf| first.push(*leaf));
        let mut tree = Tree::of(first.size(), first.subtrees().to_vec()).unwrap();
        leaves[at..].iter().for_each(|leaf| tree.push(*leaf));
        prop_assert_eq!(tree.root(), root(&leaves));
    }
}
