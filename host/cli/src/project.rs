//! `acp-chain find-projects` and `project-chain`, which a running chain starts.

use std::path::PathBuf;
use std::process::ExitCode;

use super::progress::TERMINAL;
use super::run::on_a_runtime;
use crate::Result;
use acp_chain_app::project::{find_projects, project_chain};
use acp_chain_app::trace::TraceTarget;

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
}

impl ProjectChain {
    pub fn main(self, log: Option<PathBuf>) -> ExitCode {
        let bodies = self.trace_bodies;
        let target = self.trace.map(|path| TraceTarget { path, bodies });
        on_a_runtime(async { Ok(project_chain::serve(target, log, &TERMINAL).await?) })
    }
}
