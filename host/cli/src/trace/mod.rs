//! `acp-chain trace`: shows, checks, compares and exports recorded runs. Also the options for recording one.
//!
//! | file | what it is |
//! |---|---|
//! | `show` | a line per event |
//! | `check` | the problems of a run |
//! | `diff` | the differences of two runs |
//! | `export` | other formats |
//! | `args` | the options for recording |

mod args;
mod check;
mod diff;
mod export;
mod show;

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;

use crate::{Result, report_as};
use acp_chain_trace::{Line, Reader};

pub use self::args::TraceArgs;
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Subcommand)]
pub enum Trace {
    /// Print what crossed and what was decided, a line each
    Show(show::Show),
    /// Say what went wrong: requests without an answer, denied calls, holds that ran out, failures
    Check(check::Check),
    /// Compare two runs by session and turn, whatever their ids and times are
    Diff(diff::Diff),
    /// Write it in another format
    Export(export::Export),
}

/// The exit code if something cannot be read.
const UNREADABLE: u8 = 2;

impl Trace {
    pub fn main(self) -> ExitCode {
        // As with `diff` and `grep`, 1 is a result, not an error.
        match self {
            Self::Show(show) => report_as(UNREADABLE, show.main()),
            Self::Check(check) => report_as(UNREADABLE, check.main()),
            Self::Diff(diff) => report_as(UNREADABLE, diff.main()),
            Self::Export(export) => report_as(UNREADABLE, export.main()),
        }
    }
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let opened = File::open(path).and_then(|file| {
        if file.metadata()?.is_dir() {
            Err(std::io::ErrorKind::IsADirectory.into())
        } else {
            Ok(file)
        }
    });
    opened.map(BufReader::new).map_err(|error| {
        let path = Untrusted::new(path.display());
        wrong!(
            "{path}: the trace cannot be read: {error}; `acp-chain try --trace FILE` or `run --trace FILE` writes one"
        )
    })
}

/// Calls `take` with each line of a trace, and its number, until it returns false. Partial lines are reported.
pub fn each(path: &Path, mut take: impl FnMut(usize, Line) -> bool) -> Result<()> {
    let mut reader = Reader::new(open(path)?);
    // Unknown members are ignored, so that any JSON could pass for a trace.
    let (mut is_empty, mut is_known) = (true, false);
    for read in reader.by_ref() {
        let (number, line) = read.map_err(|error| wrong(path, &error))?;
        is_empty = false;
        is_known |= line.is_of_trace();
        if !take(number, line) {
            return Ok(());
        }
    }
    warn_of_cut(path, reader.cut());
    if !is_empty && !is_known {
        let shown = Untrusted::new(path.display());
        return Err(wrong!(
            "{shown}: no line of it is one of a trace; `acp-chain try --trace FILE` or `run --trace FILE` writes one"
        ));
    }
    Ok(())
}

/// The text of an error about a trace, most of which begin with the number of a line.
pub fn wrong(path: &Path, error: &dyn Error) -> String {
    let shown = Untrusted::new(path.display());
    let error = Untrusted::new(error).to_string();
    if error.starts_with(|c: char| c.is_ascii_digit()) {
        format!("{shown}:{error}")
    } else {
        format!("{shown}: {error}")
    }
}

/// The error about a trace without lines.
fn empty(path: &Path) -> String {
    let shown = Untrusted::new(path.display());
    format!("{shown}: there is nothing in this trace")
}

/// Reports partial lines, if there are any.
pub fn warn_of_cut(path: &Path, cut: usize) {
    if cut > 0 {
        let shown = Untrusted::new(path.display());
        tell!(
            "acp-chain: {shown}: {cut} lines end too early, as when the program is killed while it writes; they are \
             passed over"
        );
    }
}
