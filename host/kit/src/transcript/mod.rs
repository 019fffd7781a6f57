//! Tests of proxies as transcripts: what a client and an agent send, and what each receives.
//!
//! Invariants:
//! - A transcript is played with the components and the chain of a run; only the two ends, and the time, are simulated.
//! - The outcome does not depend on how long anything takes.
//! - Every received message counts: one that no line expects is a difference.

mod act;
mod align;
mod compare;
pub(crate) mod deadline;
mod ends;
pub mod files;
mod format;
pub(crate) mod json;
pub mod junit;
pub mod log;
mod names;
mod outcome;
mod pattern;
pub(crate) mod play;
mod print;
mod recorded;
mod say;
mod stored;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

pub use act::{Act, Kind, Said, ValuesOf};
pub use format::{Script, Step, Wrong};
pub use json::Json;
pub use outcome::{Difference, Played};
pub use pattern::JsonPattern;
pub(crate) use pattern::has_parts;
pub use play::{PlayError, Setup, Tested, play};
pub(crate) use recorded::{KnownMessages, ends};
pub use recorded::{RecordedError, transcript as recorded};

/// Whether a request, a session or a value may have this name.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    begins && name.len() <= 64 && name.chars().all(plain)
}

/// The name of a session's setup request.
fn setup_of(session: &str) -> String {
    format!("session {session}")
}
