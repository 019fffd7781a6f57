//! Attacks on the time of others.

use hostile::Mode;

use crate::hostile::module::{Module, PLAIN};
use crate::hostile::row::{Answer, Fate, PROMPT, Row, Step, withstands};

const SHORT: &str = "time = '500 ms'";

const SHORT_WAIT: &str = "wait = '500 ms'";

const FEW_CALLS: &str = "calls = 1000";

withstands! {
    it_computes_for_ever_over_a_request: Row::guest(Mode::Spin)
        .limits(SHORT)
        .fate(Fate::Breaks)
        .report(&["longer than 500", "hostile::time::spin"]);

    it_computes_for_ever_over_a_response: Row::guest(Mode::SpinOnResponse)
        .limits(SHORT)
        .fate(Fate::Breaks)
        .report(&["longer than 500", "hostile::time::spin"]);

    it_computes_for_ever_when_a_request_is_withdrawn: Row::guest(Mode::SpinOnCancel)
        .script(&[PROMPT, Step::Withdraw])
        .limits(SHORT)
        .fate(Fate::Breaks)
        .answer(Answer::Any)
        .report(&["longer than 500", "hostile::time::spin"]);

    it_computes_for_ever_while_it_starts: Row::guest(Mode::SpinInInit)
        .limits("init-time = '500 ms'")
        .fate(Fate::NeverStarts)
        .report(&["longer than 500"]);

    it_computes_for_ever_over_what_belongs_to_no_session: Row::guest(Mode::SpinOverNobodys)
        .limits("time = '1 min'")
        .script(&[Step::TellNobody])
        .apart();

    it_calls_the_host_for_ever: Row::guest(Mode::CallForEver)
        .limits(SHORT)
        .fate(Fate::Breaks)
        .report(&["longer than 500", "hostile::time::call_for_ever"]);

    it_calls_the_host_more_often_than_it_may: Row::guest(Mode::CallForEver)
        .limits(FEW_CALLS)
        .fate(Fate::Breaks)
        .report(&["more than 1000 times, its limit `calls`", "hostile::time::call_for_ever"]);

    it_has_itself_called_again_for_ever: Row::guest(Mode::WakeForEver);

    it_writes_to_standard_output_for_ever: Row::module(&WRITES)
        .limits(FEW_CALLS)
        .fate(Fate::Breaks)
        .report(&["more than 1000 times, its limit `calls`", "attack"]);

    it_waits_for_ever: Row::module(&WAITS)
        .limits(SHORT_WAIT)
        .fate(Fate::Breaks)
        .report(&["it waited longer than 500ms, its limit `wait`"]);

    it_waits_a_little_again_and_again: Row::module(&WAITS_AGAIN)
        .limits(SHORT_WAIT)
        .fate(Fate::Breaks)
        .report(&["it waited longer than 500ms, its limit `wait`"]);
}

const WRITES: Module = Module {
    imports: r#"
  (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))"#,
    attack: "(local $stdout i32)
        (local.set $stdout (call $stdout))
        (loop $again
            (call $write (local.get $stdout) (i32.const 1088) (i32.const 1) (i32.const 256))
            (br $again))
        unreachable",
    ..PLAIN
};

const CLOCK: &str = r#"
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration"
    (func $timer (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
  (import "wasi:io/poll@0.2.0" "[resource-drop]pollable" (func $drop (param i32)))"#;

/// Waits for the longest time that a number of nanoseconds can express.
const WAITS: Module = Module {
    imports: CLOCK,
    attack: "(call $block (call $timer (i64.const -1)))
        i32.const 0",
    ..PLAIN
};

/// Waits for 5 ms each time.
const WAITS_AGAIN: Module = Module {
    imports: CLOCK,
    attack: "(local $timer i32)
        (loop $again
            (local.set $timer (call $timer (i64.const 5000000)))
            (call $block (local.get $timer))
            (call $drop (local.get $timer))
            (br $again))
        unreachable",
    ..PLAIN
};
