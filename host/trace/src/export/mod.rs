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

use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Line;

pub use chrome::chrome;
pub use conductor::conductor;
pub use har::har;

/// Writes a trace in a format. It fails only if writing does.
pub type Export = fn(&mut dyn Iterator<Item = Line>, &mut dyn Write) -> io::Result<()>;

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
