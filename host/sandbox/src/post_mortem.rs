//! Why a guest broke: the trap, its place in the code, and the last output.
//!
//! The guest chooses the names of its functions and files, and so their length and characters.

use std::fmt::Write;

use wasmtime::{FrameInfo, WasmBacktrace};

use super::state::State;
use acp_chain_channel::Failure;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// How many bytes of a function's name are shown.
const NAME: usize = 200;

/// How many bytes of a line's place are shown.
const PLACE: usize = 400;

/// The failure of a guest that broke. (Writing to a string does not fail.)
pub fn of(state: &State, error: &wasmtime::Error) -> Failure {
    let reason = error.root_cause().to_string();
    let output = state.journal.take_last();
    let mut details = String::new();
    if let Some(cause) = cause(&output) {
        let _ = writeln!(details, "{cause}");
    }
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        details.push_str("It was in\n");
        let offsets = backtrace.frames().iter();
        let offsets: Vec<_> = offsets.filter_map(FrameInfo::module_offset).collect();
        let lines = state.lines.of(&offsets);
        for frame in backtrace.frames() {
            let name = frame.func_name().map_or_else(
                || format!("function {}", frame.func_index()),
                |name| quote(&demangled(name), NAME),
            );
            let offset = frame.module_offset().unwrap_or_default();
            let _ = write!(details, "  {offset:#08x} {name}");
            if let Some(line) = lines.get(&offset) {
                let _ = write!(details, " at {}", quote(line, PLACE));
            }
            details.push('\n');
        }
    }
    if !output.is_empty() {
        details.push_str("Its last output:\n");
    }
    for line in &output {
        let _ = writeln!(details, "  {line}");
    }
    // The output is only in the details: it is for the log, not for the client.
    Failure::new(quote(&reason, MAX_QUOTE)).with_details(details)
}

/// The cause of the end among the last lines of output: a line that looks like a panic of some language, otherwise the
/// last line.
fn cause(said: &[String]) -> Option<String> {
    let last = |is: fn(&str) -> bool| said.iter().rposition(|line| is(line));
    // Rust: the place, and on the next line the message.
    if let Some(at) = last(|line| line.contains("panicked at ")) {
        let why = said.get(at + 1).filter(|_| said[at].ends_with(':'));
        return Some(why.map_or_else(|| said[at].clone(), |why| format!("{} {why}", said[at])));
    }
    // Python: the first line after the stack.
    if let Some(at) = last(|line| line.starts_with("Traceback ")) {
        let behind = said[at + 1..].iter().find(|line| !line.starts_with(' '));
        return behind.or(said.last()).cloned();
    }
    // Go and Zig; C; JavaScript.
    let looks_so = |line: &str| {
        line.contains("panic: ")
            || line.starts_with("Assertion failed")
            || line
                .split(": ")
                .next()
                .is_some_and(|name| name.ends_with("Error"))
    };
    let at = said.iter().rposition(|line| looks_so(line));
    at.map(|at| &said[at]).or(said.last()).cloned()
}

/// The demangled name of a Rust function; other and long names unchanged.
fn demangled(name: &str) -> String {
    match rustc_demangle::try_demangle(name) {
        Ok(plain) if name.len() <= NAME => format!("{plain:#}"),
        _ => name.chars().take(NAME + 1).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_the_panic_and_not_the_last_line() {
        for (said, expected) in [
            (
                &[
                    "x",
                    "thread 'main' panicked at src/lib.rs:3:5:",
                    "no rules",
                    "note: run with",
                ][..],
                "thread 'main' panicked at src/lib.rs:3:5: no rules",
            ),
            (
                &["panicked at src/lib.rs:3:5: none", "  at f"],
                "panicked at src/lib.rs:3:5: none",
            ),
            (
                &[
                    "Traceback (most recent call last):",
                    "  File \"app.py\"",
                    "    x",
                    "ValueError: 7",
                ],
                "ValueError: 7",
            ),
            (
                &["panic: index out of range", "", "goroutine 1 [running]:"],
                "panic: index out of range",
            ),
            (
                &["TypeError: not a function", "    at onRequest (p.js)"],
                "TypeError: not a function",
            ),
            (&["one", "two"], "two"),
        ] {
            let said: Vec<_> = said.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(cause(&said).as_deref(), Some(expected));
        }
        assert_eq!(cause(&[]), None);
    }
}
