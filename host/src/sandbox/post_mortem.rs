//! Why a guest broke: the trap, where in its code that was, and what it said last.
//!
//! The names of its functions are the guest's own choice, and so are their length, and what they
//! look like.

use std::fmt::Write;

use wasmtime::WasmBacktrace;

use super::state::State;
use crate::channel::{Failure, WORDS, quote};

/// How much of the name of a function is shown, in bytes.
const NAME: usize = 200;

/// A guest was stopped for the time that it took.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TooLong(pub String);

/// What is known of the end of a guest.
pub fn of(state: &State, error: &wasmtime::Error) -> Failure {
    let reason = match error.downcast_ref() {
        Some(TooLong(told)) => told.clone(),
        None => error.root_cause().to_string(),
    };
    let said = state.journal.take_last();
    let mut details = String::new();
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        details.push_str("It was in\n");
        for frame in backtrace.frames() {
            let name = frame.func_name().map_or_else(
                || format!("function {}", frame.func_index()),
                |name| quote(&demangled(name), NAME),
            );
            let offset = frame.module_offset().unwrap_or_default();
            // Writing to a string does not fail.
            let _ = writeln!(details, "  {offset:#08x} {name}");
        }
    }
    if !said.is_empty() {
        details.push_str("What it said last:\n");
    }
    for line in &said {
        let _ = writeln!(details, "  {line}");
    }
    Failure::new(quote(&reason, WORDS))
        .with_words(said.last().cloned())
        .with_details(details)
}

/// The name of a function in Rust as it was written; any other, and any that is long, as it is.
fn demangled(name: &str) -> String {
    match rustc_demangle::try_demangle(name) {
        Ok(plain) if name.len() <= NAME => format!("{plain:#}"),
        _ => name.chars().take(NAME + 1).collect(),
    }
}
