//! The trace of a chain: the messages that crossed each hop, and the proxies' decisions, one JSON object per line.
//!
//! | file | what it is |
//! |---|---|
//! | `line` | the schema of a line, for writing and reading traces |
//! | `missed` | counts dropped lines |
//! | `sink` | receives lines while a chain runs |
//! | `read` | reads lines from an untrusted file |
//! | `findings` | the problems of a run |
//! | `diff` | the differences of two runs |
//! | `export` | formats of other programs |
//! | `ids` | ids of spans for a connection's events |
//! | `values` | JSON that Rust types cannot represent |
//!
//! Invariants: a trace is untrusted. Reading one takes bounded memory per line, and errors are reported with the line's
//! number. Its content must be escaped when shown.

#![forbid(unsafe_code)]

mod diff;
pub mod export;
mod findings;
mod ids;
mod line;
mod missed;
mod read;
mod sink;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use diff::{Difference, Run, Side, Turn, diff, is_id, is_time};
pub use findings::{Finding, Findings};
pub use ids::Ids;
pub use line::{Decision, Kind, Line, Role, State, VERSION, Would};
pub use missed::Missed;
pub use read::{Reader, TraceError};
pub use sink::Sink;
pub use values::{read_in_part, read_whole};

/// The file with the previous content of a trace, after a new one began.
pub fn kept(trace: &Path) -> PathBuf {
    let mut name = OsString::from(trace);
    name.push(".old");
    name.into()
}
