//! `acp-chain trace export`: a trace in another format, on standard output.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::open;
use crate::transcript::recorded;
use crate::untrusted::Untrusted;

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
    /// What both ends said and got, as `acp-chain test` plays it
    Transcript,
}

impl Export {
    pub fn main(self) -> Result<ExitCode, String> {
        let shown = Untrusted::new(self.trace.display());
        let text = match self.to {
            Format::Transcript => recorded(open(&self.trace)?),
        };
        let text = text.map_err(|error| {
            let error = error.to_string();
            format!("{shown}:{}", Untrusted::new(error))
        })?;
        // Whoever reads may have enough before the end.
        let _ = std::io::stdout().write_all(text.as_bytes());
        Ok(ExitCode::SUCCESS)
    }
}
