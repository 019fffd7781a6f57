//! `acp-chain trace check`: the problems of a run.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::{Result, code_if};
use acp_chain_trace::Findings;

use super::{each, empty};
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
pub struct Check {
    /// The trace
    #[arg(value_name = "FILE")]
    trace: PathBuf,
}

impl Check {
    pub fn main(self) -> Result<ExitCode> {
        let mut findings = Findings::default();
        let mut count = 0;
        each(&self.trace, |number, line| {
            findings.take(number, &line);
            count += 1;
            true
        })?;
        if count == 0 {
            return Err(empty(&self.trace).into());
        }
        let shown = Untrusted::new(self.trace.display());
        let found = findings.all();
        for (line, finding) in &found {
            say!("{shown}:{line}: {}", Untrusted::new(finding));
        }
        Ok(code_if(found.is_empty()))
    }
}
