//! `acp-chain find-projects` and `project-chain`, which a running chain starts.

use std::path::PathBuf;
use std::process::ExitCode;

use super::progress::TERMINAL;
use super::run::on_a_runtime;
use crate::Result;
use acp_chain_app::project::find_projects;
use acp_chain_app::project_chain;
use acp_chain_app::trace::TraceTarget;
use acp_chain_manifest::{OnReceiptsFailure, ReceiptsEntry};

#[derive(Debug, clap::Args)]
pub struct FindProjects {
    /// The project of every session
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

impl FindProjects {
    pub fn main(self) -> Result<()> {
        Ok(find_projects::serve(self.project)?)
    }
}

#[derive(Debug, clap::Args)]
pub struct ProjectChain {
    /// Where each hop of each message is written
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Leave secrets in it
    #[arg(long)]
    trace_bodies: bool,
    /// The folder of the receipts
    #[arg(long, value_name = "FOLDER")]
    receipts: Option<PathBuf>,
    /// How many days they are kept
    #[arg(long, value_name = "DAYS")]
    receipts_keep_days: Option<u32>,
    /// What follows when they cannot be written
    #[arg(long, value_name = "MODE", default_value = "stop")]
    receipts_on_failure: OnReceiptsFailure,
}

impl ProjectChain {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        let bodies = self.trace_bodies;
        let target = self.trace.map(|path| TraceTarget { path, bodies });
        let ledger = self.receipts.map(|folder| ReceiptsEntry {
            folder,
            keep_days: self.receipts_keep_days,
            on_failure: self.receipts_on_failure,
        });
        on_a_runtime(async { Ok(project_chain::serve(target, ledger, log, &TERMINAL).await?) })
    }
}
