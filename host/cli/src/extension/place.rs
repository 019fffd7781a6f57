//! The option of commands about extensions that names a chain.

use std::path::PathBuf;

use crate::Result;
use crate::path::path;

pub use acp_chain_app::place::{Changes, Place, agreed};

/// Names the chain of a command.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ManifestArg {
    /// The manifest; by default, your own config.toml
    #[arg(long, value_name = "FILE", value_parser = path())]
    manifest: Option<PathBuf>,
}

impl ManifestArg {
    /// Whether the command line names a manifest.
    pub fn is_named(&self) -> bool {
        self.manifest.is_some()
    }

    /// With this manifest, if the command line names none.
    pub fn or(self, other: Option<PathBuf>) -> Self {
        Self {
            manifest: self.manifest.or(other),
        }
    }

    /// Finds the files of a command that changes these.
    pub fn place(self, changes: Changes) -> Result<Place> {
        Ok(Place::open(self.manifest, changes)?)
    }
}
