//! `acp-chain sdk`: puts the SDK and the interface of this version into a project.

use std::path::PathBuf;

use crate::Result;
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain sdk
  acp-chain sdk ./shout")]
pub struct Sdk {
    /// The project: its folder, or its Cargo.toml, package.json, pyproject.toml or extension.toml
    #[arg(value_name = "PATH", default_value = ".")]
    project: PathBuf,
}

impl Sdk {
    pub fn main(self) -> Result<()> {
        let written = acp_chain_author::sdk(&self.project);
        let language = written.map_err(|error| Untrusted::new(error).to_string())?;
        let version = env!("CARGO_PKG_VERSION");
        say!("the SDK for {language} of acp-chain {version} is in the project");
        Ok(())
    }
}
