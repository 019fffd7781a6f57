//! `acp-chain build`: builds the extension of a project.

use std::env;
use std::path::PathBuf;

use crate::Result;
use acp_chain_author::{Purpose, Toolchains};

use crate::extension::about::{self, Reasons};
use acp_chain_app::home;
use acp_chain_extension::Digest;
use acp_chain_manifest::check_asks;
use acp_chain_rpc::untrusted::Untrusted;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain build
  acp-chain build ./shout --install
  acp-chain build --draft")]
pub struct Build {
    /// The project: its folder, or its Cargo.toml, package.json, pyproject.toml or extension.toml
    #[arg(value_name = "PATH", default_value = ".")]
    project: PathBuf,
    /// Install missing parts of the toolchain
    #[arg(long)]
    install: bool,
    /// Build faster: in JavaScript and TypeScript, the result is slower, and cannot be published
    #[arg(long)]
    draft: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Build {
    pub fn main(self) -> Result<()> {
        let toolchains = Toolchains {
            path: env::var_os("PATH").unwrap_or_default(),
            folder: home::toolchains(),
            install: self.install,
            told: &|command| tell!("acp-chain: {}", Untrusted::new(command)),
        };
        let purpose = if self.draft {
            Purpose::Draft
        } else {
            Purpose::Use
        };
        let shown = |error| Untrusted::new(error).to_string();
        let built = acp_chain_author::build(&self.project, &toolchains, purpose).map_err(shown)?;
        let file = Untrusted::new(built.file.display()).to_string();
        check_asks(&built.package).map_err(|error| wrong!("{file}: {error}"))?;
        built.write().map_err(shown)?;
        let (digest, size) = (Digest::of(&built.component), built.component.len() as u64);
        if self.json {
            let mut facts = about::json(&built.package, digest, size);
            facts["file"] = built.file.display().to_string().into();
            say!("{facts:#}");
            return Ok(());
        }
        about::print(&built.package, digest, size, Reasons::All);
        say!("It imports {}", about::imports(&built.package.imports));
        say!("It is in {file}");
        Ok(())
    }
}
