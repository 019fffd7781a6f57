//! What the chain made of messages. It is read from the trace, which is opened while there is the right to.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use acp_chain_picture::{Leg, legs};
use console::Term;
use tempfile::NamedTempFile;

use crate::trace::{Flush, Trace, TraceFile};
use crate::untrusted::Untrusted;

/// How wide the picture is where there is no terminal, in columns.
const WIDTH: usize = 110;

/// What comes to a trace.
pub struct Picture {
    trace: File,
    written: Flush,
    /// How much stands there that is of others, or was seen.
    offset: u64,
}

impl Picture {
    /// Begins a trace, and what sees it: in this file, or in one that is gone when both are.
    pub fn begin(path: Option<&Path>) -> Result<(Trace, Self), String> {
        let begun = match path {
            Some(path) => TraceFile::open(path).and_then(|trace| Self::of(trace, path)),
            // Its name is gone at once: it has all that is said.
            None => NamedTempFile::new().and_then(|file| {
                let trace = TraceFile::open_endless(file.path())?;
                Self::of(trace, file.path())
            }),
        };
        begun.map_err(|error| match path {
            Some(path) => {
                let path = Untrusted::new(path.display());
                format!("the trace file {path} cannot be opened: {error}")
            }
            None => format!("there is no place for a trace: {error}"),
        })
    }

    fn of(opened: TraceFile, path: &Path) -> io::Result<(Trace, Self)> {
        let opened = Trace::default().to(opened);
        let written = opened.flush();
        let trace = File::open(path)?;
        let offset = trace.metadata()?.len();
        let picture = Self {
            trace,
            written,
            offset,
        };
        Ok((opened, picture))
    }

    /// What has come since the last time, as far as its lines are whole.
    pub fn next(&mut self) -> Result<Vec<Leg>, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("the trace: {error}");
        let mut bytes = Vec::new();
        self.written.wait();
        let length = self.trace.metadata().map_err(|error| wrong(&error))?.len();
        if length < self.offset {
            // It has begun anew.
            self.offset = 0;
        }
        let read = self.trace.seek(SeekFrom::Start(self.offset));
        let read = read.and_then(|_| self.trace.read_to_end(&mut bytes));
        read.map_err(|error| wrong(&error))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole.map_or(0, |end| end + 1));
        self.offset += bytes.len() as u64;
        legs(&String::from_utf8_lossy(&bytes)).map_err(|error| wrong(&error))
    }
}

/// How wide it may be.
pub fn columns() -> usize {
    let columns = Term::stdout().size_checked();
    columns.map_or(WIDTH, |(_, columns)| usize::from(columns))
}
