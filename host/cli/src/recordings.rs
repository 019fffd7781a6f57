//! What agents have recorded on this machine, and traces: for `scan` and for `permissions suggest`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use acp_chain_manifest::User;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_scan::{Format, Home, Recording, find};
use clap::builder::PossibleValuesParser;

use crate::Result;

#[derive(Debug, clap::Args)]
pub struct Recordings {
    /// Traces of acp-chain, in place of what agents have recorded
    #[arg(value_name = "TRACE", conflicts_with_all = ["agent", "home"])]
    traces: Vec<PathBuf>,
    /// Only what this agent has recorded; repeatable
    #[arg(long, value_name = "AGENT", value_parser = names())]
    agent: Vec<String>,
    /// The home folder in which agents have recorded; by default, yours
    #[arg(long, value_name = "FOLDER")]
    home: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    Format::AGENTS.map(Format::as_str).into()
}

impl Recordings {
    /// Whether traces are named.
    pub fn names_traces(&self) -> bool {
        !self.traces.is_empty()
    }

    /// Those that are meant: by agent, and for each in the order of their names.
    pub fn find(&self, user: &User) -> Result<Vec<Recording>> {
        if !self.traces.is_empty() {
            return self.traces.iter().map(|path| trace(path)).collect();
        }
        // Another one would depend on the working directory.
        let own = std::env::home_dir().filter(|home| home.is_absolute());
        let folder = self.home.clone().or(own);
        let folder = folder.ok_or("you have no home folder; name one with `--home`")?;
        if self.home.is_some() && !folder.is_dir() {
            let shown = Untrusted::new(folder.display());
            return Err(wrong!("--home {shown}: there is no such folder"));
        }
        let variable = |name: &str| -> Option<OsString> {
            let is_own = self.home.is_none();
            is_own.then(|| std::env::var_os(name)).flatten()
        };
        let home = Home {
            folder: &folder,
            variable: &variable,
        };
        let is_wanted = |format: &Format| {
            self.agent.is_empty() || self.agent.iter().any(|name| name == format.as_str())
        };
        let formats = Format::AGENTS.into_iter().filter(is_wanted);
        let mut found: Vec<_> = formats.flat_map(|format| find(format, &home)).collect();
        if self.agent.is_empty() && self.home.is_none() {
            let traces = user.trace.iter();
            let traces = traces.flat_map(|path| [acp_chain_trace::kept(path), path.clone()]);
            found.extend(traces.filter_map(|path| Recording::of(Format::Trace, &path).ok()));
        }
        Ok(found)
    }
}

fn trace(path: &Path) -> Result<Recording> {
    let shown = Untrusted::new(path.display());
    Recording::of(Format::Trace, path).map_err(|error| wrong!("{shown}: {error}"))
}
