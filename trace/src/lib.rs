//! The trace of a chain: what crossed which hop, and what the proxies decided, one JSON object per line.
//!
//! | file | what it is |
//! |---|---|
//! | `line` | what a line says: the schema, by which traces are written and read |
//! | `sink` | where lines go while a chain runs |
//! | `read` | lines out of a file, whoever wrote it |
//! | `findings` | what went wrong in a run |
//! | `diff` | what differs between two runs |
//! | `export` | formats of other programs |
//! | `ids` | ids of spans, for what happens on a connection |
//!
//! What always holds: a trace may come from anybody. Reading one takes bounded memory per line, and errors are reported
//! with the line's number. Its content is text from outside, to be escaped when shown.

#![forbid(unsafe_code)]

mod diff;
mod export;
mod findings;
mod ids;
mod line;
mod read;
mod sink;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use diff::{Difference, Run, Side, Turn, diff};
pub use export::{ExportError, Format, export};
pub use findings::{Finding, Findings};
pub use ids::Ids;
pub use line::{Decision, Kind, Line, Role, State, VERSION};
pub use read::{Reader, TraceError};
pub use sink::Sink;

/// Where the old content of a trace is kept when a new one begins.
#[must_use]
pub fn kept(trace: &Path) -> PathBuf {
    let mut name = OsString::from(trace);
    name.push(".old");
    name.into()
}
