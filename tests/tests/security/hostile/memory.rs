//! Attacks on memory from within it.

use hostile::Mode;

use crate::hostile::module::{Module, PLAIN};
use crate::hostile::row::{Fate, QUIET, Row, withstands};

withstands! {
    it_takes_all_memory: Row::guest(Mode::Grow)
        .fate(Fate::Breaks)
        .peak(QUIET + 64)
        .report(&["64 MiB", "hostile::memory::grow"]);

    it_calls_itself_without_end: Row::guest(Mode::Recurse)
        .fate(Fate::Breaks)
        .report(&["stack", "hostile::memory::dive"]);

    it_begins_with_too_much_memory: Row::module(&Module { pages: 65536, ..PLAIN })
        .fate(Fate::NeverStarts)
        .report(&["64 MiB"]);

    its_table_grows_for_ever: Row::module(&TABLE)
        .fate(Fate::Breaks)
        .report(&["100000", "attack"]);

    it_begins_with_too_long_a_table: Row::module(&LONG_TABLE)
        .fate(Fate::NeverStarts)
        .report(&["100000"]);

    it_is_a_crowd_of_instances: Row::module(&CROWD)
        .fate(Fate::NeverStarts)
        .report(&["instance"]);

    it_is_a_crowd_of_memories: Row::module(&MEMORIES)
        .fate(Fate::NeverStarts)
        .report(&["memor"]);
}

const TABLE: Module = Module {
    fields: "(table $table 0 funcref)",
    attack: "(loop $again
        (drop (table.grow $table (ref.null func) (i32.const 1000)))
        (br $again))
        unreachable",
    ..PLAIN
};

const LONG_TABLE: Module = Module {
    fields: "(table 500000000 funcref)",
    ..PLAIN
};

const CROWD: Module = Module {
    crowd: Some(("(module)", 20_000)),
    ..PLAIN
};

/// Each instance has ten memories, and none is ever touched.
const MEMORIES: Module = Module {
    crowd: Some((
        "(module
            (memory 0) (memory 0) (memory 0) (memory 0) (memory 0)
            (memory 0) (memory 0) (memory 0) (memory 0) (memory 0))",
        500,
    )),
    ..PLAIN
};
