//! Exports traces to formats of other programs.
//!
//! | file | what it is |
//! |---|---|
//! | `conductor` | the format of the reference conductor's `--trace`, which can be read as well |
//! | `chrome` | Chrome's trace format, for Perfetto |
//! | `har` | an HTTP Archive with frames of web sockets, for the network view of browsers |
//!
//! Invariant: nothing is invented, and lines that a format cannot express are left out.

mod chrome;
pub(crate) mod conductor;
mod har;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Line;

/// An export format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The trace of the reference conductor, `agent-client-protocol-conductor`.
    Conductor,
    /// Chrome's trace format, in JSON.
    Chrome,
    /// HTTP Archive 1.2.
    Har,
}

/// Why a trace cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Writing fails.
    #[error("the trace cannot be written: {0}")]
    Unwritable(#[from] io::Error),
    /// The format is unknown.
    #[error("unknown format `{0}`; the formats are {names}", names = names())]
    Unknown(String),
}

/// Writes a trace in a format.
///
/// # Errors
/// If it cannot be written.
pub fn export(
    format: Format,
    lines: impl IntoIterator<Item = Line>,
    to: impl Write,
) -> Result<(), ExportError> {
    let written = match format {
        Format::Conductor => conductor::write(lines, to),
        Format::Chrome => chrome::write(lines, to),
        Format::Har => har::write(lines, to),
    };
    Ok(written?)
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Conductor, Self::Chrome, Self::Har];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Conductor => "conductor",
            Self::Chrome => "chrome",
            Self::Har => "har",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = ExportError;

    fn from_str(name: &str) -> Result<Self, ExportError> {
        let mut all = Self::ALL.into_iter();
        all.find(|format| format.name() == name)
            .ok_or_else(|| ExportError::Unknown(name.to_owned()))
    }
}

fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

/// Reads the times of lines. A line without a valid time has the previous line's.
#[derive(Default)]
struct Clock(u64);

impl Clock {
    /// Microseconds since 1970.
    fn of(&mut self, line: &Line) -> u64 {
        if let Ok(time) = humantime::parse_rfc3339_weak(&line.time) {
            self.0 = micros(time);
        }
        self.0
    }
}

fn micros(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Converts microseconds to seconds.
#[expect(clippy::cast_precision_loss, reason = "exact for some hundred years")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
