//! `acp-chain trace export`: a trace in another format, on standard output.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, stdout};
use std::path::PathBuf;

use crate::Result;
use acp_chain_otel::otlp_json;
use acp_chain_trace::{Reader, TraceError, export};

use super::{open, warn_of_cut, wrong};
use crate::out::print_all;
use acp_chain_kit::transcript::recorded;

#[derive(Debug, clap::Args)]
pub struct Export {
    /// The trace
    #[arg(value_name = "FILE")]
    trace: PathBuf,
    /// The format
    #[arg(long)]
    to: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// What both ends sent and received, as `acp-chain test` plays it
    Transcript,
    /// The trace of the reference conductor, for its viewer
    Conductor,
    /// Chrome's trace format, for Perfetto
    Chrome,
    /// An HTTP Archive with frames of a web socket, for the network view of browsers
    Har,
    /// Spans for OpenTelemetry (OTLP/JSON), as a run exports them; no content of messages
    Otlp,
}

impl Export {
    #[expect(clippy::disallowed_methods, reason = "programs read it")]
    pub fn main(self) -> Result<()> {
        let write: export::Export = match self.to {
            Format::Transcript => return self.whole(recorded),
            Format::Conductor => export::conductor,
            Format::Chrome => export::chrome,
            Format::Har => export::har,
            Format::Otlp => return self.whole(spans),
        };
        let mut reader = Reader::new(open(&self.trace)?);
        let mut out = BufWriter::new(stdout());
        let (written, read) = reader.with_lines(|lines| write(lines, &mut out));
        match written {
            // The reader may stop before the end.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            done => done.map_err(|error| {
                wrong!("standard output: the exported trace cannot be written: {error}")
            })?,
        }
        read.map_err(|error| wrong(&self.trace, &error))?;
        warn_of_cut(&self.trace, reader.cut());
        Ok(())
    }

    /// Prints a trace in a format that is made from the whole trace.
    fn whole<E: Error>(
        &self,
        turned: impl FnOnce(&mut Reader<BufReader<File>>) -> Result<String, E>,
    ) -> Result<()> {
        let mut reader = Reader::new(open(&self.trace)?);
        let text = turned(&mut reader).map_err(|error| wrong(&self.trace, &error))?;
        warn_of_cut(&self.trace, reader.cut());
        print_all(text.as_bytes());
        Ok(())
    }
}

/// The spans of a trace, as OTLP/JSON.
fn spans(reader: &mut Reader<impl BufRead>) -> Result<String, TraceError> {
    let mut text = Vec::new();
    let (written, read) = reader.with_lines(|lines| otlp_json(lines, &mut text));
    read?;
    written?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
