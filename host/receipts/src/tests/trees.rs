use data_encoding::HEXLOWER;
use proptest::prelude::*;

use crate::merkle::{
    Hash, Tree, consistency, inclusion, leaf, node, root, verifies_consistency, verifies_inclusion,
};

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
fn proofs_are_those_of_certificate_transparency() {
    let leaves = leaves();
    let expected = [
        hash("0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"),
        hash("ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"),
        hash(ROOTS[4]),
    ];
    assert_eq!(consistency(&leaves, 6).unwrap(), expected);
    assert_eq!(inclusion(&leaves[..3], 2).unwrap(), [hash(ROOTS[2])]);
    assert_eq!(inclusion(&leaves[..1], 0), Some(Vec::new()));
    assert_eq!(inclusion(&leaves, 8), None);
    assert_eq!(consistency(&leaves, 9), None);
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

    #[test]
    fn each_leaf_is_proved_to_be_at_its_place_only(count in 1u16..200, index: u16, other: u16) {
        let leaves = numbered(count);
        let (index, other) = (index % count, other % count);
        let proof = inclusion(&leaves, index.into()).unwrap();
        let (size, root) = (u64::from(count), root(&leaves));
        let verifies = |leaf: u16, at: u16| {
            verifies_inclusion(&leaves[usize::from(leaf)], at.into(), size, &proof, &root)
        };
        prop_assert!(verifies(index, index));
        prop_assert_eq!(verifies(other, index), other == index);
        prop_assert_eq!(verifies(index, other), other == index);
        prop_assert!(!verifies_inclusion(&leaves[usize::from(index)], size, size, &proof, &root));
    }

    #[test]
    fn a_tree_is_proved_to_begin_with_each_earlier_one_only(count in 1u16..200, old: u16, other: u16) {
        let leaves = numbered(count);
        let (old, other) = (old % (count + 1), other % (count + 1));
        let of = |size: u16| root(&leaves[..usize::from(size)]);
        let proof = consistency(&leaves, old.into()).unwrap();
        let new = (u64::from(count), &of(count));
        prop_assert!(verifies_consistency((old.into(), &of(old)), new, &proof));
        if old != other {
            prop_assert!(!verifies_consistency((old.into(), &of(other)), new, &proof));
        }
        let mut damaged = proof.clone();
        if let Some(first) = damaged.first_mut() {
            first[0] ^= 1;
            prop_assert!(!verifies_consistency((old.into(), &of(old)), new, &damaged));
        }
    }
}
