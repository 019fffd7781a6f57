//! Modules that lie where they touch the host: about addresses, lengths, texts and numbers.

use crate::hostile::module::{Module, PLAIN};
use crate::hostile::row::{Fate, QUIET, Row, Step, withstands};

/// As much as a component may have at all. None of it is ever touched.
const GIB: &str = "memory = '1 GiB'";

withstands! {
    it_logs_a_gibibyte: Row::module(&LOG_GIB)
        .limits(GIB)
        .fate(Fate::Breaks)
        .report(&["attack"]);

    it_sends_a_gibibyte: Row::module(&SEND_GIB)
        .limits(GIB)
        .fate(Fate::Breaks)
        .report(&["attack"]);

    it_saves_a_gibibyte: Row::module(&SAVE_GIB)
        .limits(GIB)
        .fate(Fate::Breaks)
        .report(&["attack"]);

    it_returns_fifty_million_edits: Row::module(&MANY_EDITS)
        .limits(GIB)
        .fate(Fate::Breaks);

    it_registers_fifty_million_subscriptions: Row::module(&MANY_SUBSCRIPTIONS)
        .limits(GIB)
        .fate(Fate::NeverStarts);

    its_text_is_not_in_its_memory: Row::module(&OUTSIDE)
        .fate(Fate::Breaks)
        .report(&["attack"]);

    its_text_is_not_utf8: Row::module(&NOT_UTF8)
        .fate(Fate::Breaks)
        .report(&["attack"]);

    its_result_is_not_in_its_memory: Row::module(&Module { attack: "i32.const -16", ..PLAIN })
        .fate(Fate::Breaks);

    its_result_is_not_aligned: Row::module(&Module { attack: "i32.const 3", ..PLAIN })
        .fate(Fate::Breaks);

    its_result_is_no_action: Row::module(&NO_ACTION)
        .fate(Fate::Breaks);

    it_gives_the_host_an_address_that_is_not_its_own: Row::module(&REALLOC_OUTSIDE)
        .script(&[Step::LongPrompt(200_000)])
        .fate(Fate::Breaks);

    it_computes_for_ever_when_the_host_wants_an_address: Row::module(&REALLOC_SPINS)
        .script(&[Step::LongPrompt(200_000)])
        .limits("time = '500 ms'")
        .fate(Fate::Breaks)
        .report(&["longer than 500", "realloc"]);

    it_calls_the_host_while_the_host_calls_it: Row::module(&REALLOC_CALLS)
        .script(&[Step::LongPrompt(200_000)])
        .fate(Fate::Breaks)
        .report(&["realloc"]);

    it_computes_for_ever_when_all_is_said: Row::module(&POST_SPINS)
        .limits("time = '500 ms'")
        .fate(Fate::Breaks)
        .report(&["longer than 500"]);

    it_computes_for_ever_before_it_can_be_called: Row::module(&START_SPINS)
        .limits("init-time = '500 ms'")
        .fate(Fate::NeverStarts)
        .report(&["longer than 500"]);

    it_fills_all_its_memory_again_and_again: Row::module(&FILLS)
        .limits("time = '500 ms'")
        .fate(Fate::Breaks)
        .peak(QUIET + 64)
        .report(&["longer than 500", "attack"]);
}

/// A gibibyte.
const PAGES: u32 = 16384;

const LOG_GIB: Module = Module {
    pages: PAGES,
    attack: "(call $log (i32.const 2) (i32.const 65536) (i32.const 0x3fff0000))
        i32.const 0",
    ..PLAIN
};

const SEND_GIB: Module = Module {
    pages: PAGES,
    attack: "(call $notify (i32.const 1) (i32.const 1088) (i32.const 1)
            (i32.const 65536) (i32.const 0x3fff0000) (i32.const 256))
        i32.const 0",
    ..PLAIN
};

const SAVE_GIB: Module = Module {
    pages: PAGES,
    attack: "(call $save (i32.const 65536) (i32.const 0x3fff0000) (i32.const 256))
        i32.const 0",
    ..PLAIN
};

/// `ok(edit(…))` with a list of zeros: empty pointers, no values.
const MANY_EDITS: Module = Module {
    pages: PAGES,
    attack: "(i32.store8 (i32.const 260) (i32.const 1))
        (i32.store (i32.const 264) (i32.const 65536))
        (i32.store (i32.const 268) (i32.const 50000000))
        i32.const 256",
    ..PLAIN
};

const MANY_SUBSCRIPTIONS: Module = Module {
    pages: PAGES,
    init: "(i32.store (i32.const 132) (i32.const 65536))
        (i32.store (i32.const 136) (i32.const 50000000))",
    ..PLAIN
};

const OUTSIDE: Module = Module {
    attack: "(call $log (i32.const 2) (i32.const -16) (i32.const 4096))
        i32.const 0",
    ..PLAIN
};

const NOT_UTF8: Module = Module {
    attack: "(i32.store (i32.const 256) (i32.const 0x80ff80ff))
        (call $log (i32.const 2) (i32.const 256) (i32.const 4))
        i32.const 0",
    ..PLAIN
};

const NO_ACTION: Module = Module {
    attack: "(i32.store8 (i32.const 260) (i32.const 200))
        i32.const 256",
    ..PLAIN
};

const REALLOC_OUTSIDE: Module = Module {
    realloc: "(if (i32.gt_u (local.get $size) (i32.const 100000))
        (then (return (i32.const -65536))))",
    ..PLAIN
};

const REALLOC_SPINS: Module = Module {
    realloc: "(if (i32.gt_u (local.get $size) (i32.const 100000))
        (then (loop $again (br $again))))",
    ..PLAIN
};

const REALLOC_CALLS: Module = Module {
    realloc: "(if (i32.gt_u (local.get $size) (i32.const 100000))
        (then (call $log (i32.const 2) (i32.const 1088) (i32.const 1))))",
    ..PLAIN
};

const POST_SPINS: Module = Module {
    fields: "(global $attacked (mut i32) (i32.const 0))",
    attack: "(global.set $attacked (i32.const 1))
        i32.const 0",
    post_return: "(if (global.get $attacked) (then (loop $again (br $again))))",
    ..PLAIN
};

const START_SPINS: Module = Module {
    fields: "(func $start (loop $again (br $again))) (start $start)",
    ..PLAIN
};

/// One instruction fills the whole memory, and cannot be interrupted.
const FILLS: Module = Module {
    pages: 1000,
    attack: "(loop $again
            (memory.fill (i32.const 4096) (i32.const 7) (i32.const 65000000))
            (br $again))
        unreachable",
    ..PLAIN
};
