//! Whatever a proxy does, it harms only itself: a neighbouring session in the same chain has its turns,
//! memory stays within a limit, every request gets one answer, and the user learns which proxy it was.
//!
//! The table consists of the `withstands!` in the files below, one file for each family of attacks. A row is
//! an attack, and makes three tests: one for each failure policy. Each test starts the program, with the
//! attacker and a bystander in the chain (see `chain`), and checks the state after the attack (see
//! `aftermath`). Once all tests have run, their measurements are written to `hostile.md` in the target
//! folder.

mod aftermath;
mod attack;
mod chain;
mod module;
mod results;
mod row;

mod boundary;
mod crash;
mod flood;
mod forge;
mod grant;
mod memory;
mod size;
mod text;
mod time;

use std::collections::HashSet;

use hostile::Mode;
use row::{Attacker, NamedRow};

/// All attacks, by family.
const TABLE: &[(&str, &[NamedRow])] = &[
    ("time", time::ROWS),
    ("memory", memory::ROWS),
    ("crashes", crash::ROWS),
    ("floods", flood::ROWS),
    ("sizes", size::ROWS),
    ("forgery", forge::ROWS),
    ("grants", grant::ROWS),
    ("text", text::ROWS),
    ("the boundary", boundary::ROWS),
];

#[test]
fn every_attack_that_the_guest_knows_is_in_the_table() {
    let rows = TABLE.iter().flat_map(|(_, rows)| *rows);
    let tested: HashSet<Mode> = rows
        .filter_map(|(_, row)| match row.by {
            Attacker::Guest(mode) => Some(mode),
            Attacker::Module(_) => None,
        })
        .collect();
    let missing: Vec<_> = Mode::ALL
        .iter()
        .filter(|mode| !tested.contains(mode))
        .collect();
    assert!(missing.is_empty(), "no row has {missing:?}");
}
