//! Where a run writes its trace: what the command line says, else the environment, else the user's config.toml.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::manifest::User;
use crate::trace::{Trace, TraceFile};
use crate::untrusted::Untrusted;

#[derive(Clone, Debug, Default, clap::Args)]
pub struct Target {
    /// Append each message that crosses from one part of the chain to the next, and what each proxy
    /// decides about it, to this file, one JSON object a line; an empty name is none. It will hold everything that is
    /// said, secrets included
    #[arg(long, value_name = "FILE", env = "ACP_CHAIN_TRACE")]
    trace: Option<OsString>,
}

impl Target {
    /// The file, if there is to be one.
    pub fn path(&self) -> Option<PathBuf> {
        match &self.trace {
            Some(name) => Some(name)
                .filter(|name| !name.is_empty())
                .map(PathBuf::from),
            // What is wrong with the user's file is told with the chain.
            None => crate::cli::user().ok().and_then(|user: User| user.trace),
        }
    }
}

/// Opens the file for the trace, if there is to be one.
pub fn open(path: Option<&Path>) -> Result<Option<Trace>, String> {
    let Some(path) = path else {
        return Ok(None);
    };
    let file = TraceFile::open(path).map_err(|error| {
        let path = Untrusted::new(path.display());
        format!("the trace file {path} cannot be opened: {error}")
    })?;
    Ok(Some(Trace::default().to(file)))
}

/// The files that a trace is written to: its own, and that which keeps what stood in it.
pub fn files(trace: &Path) -> [PathBuf; 2] {
    [trace.to_owned(), acp_chain_trace::kept(trace)]
}
