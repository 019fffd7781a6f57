//! `acp-chain bundle`: makes a copy of this program with built-in extensions, each compiled for this machine.

use std::io::Cursor;
use std::path::PathBuf;

use crate::Result;
use acp_chain_package::Package;

use super::package;
use acp_chain_extension::carried::{self, Load};
use acp_chain_manifest::check_asks;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::{Component, Engine};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain bundle rules.wasm redact.wasm --output acp-chain-ours")]
pub struct Bundle {
    /// The extensions, instead of those built into this program
    #[arg(value_name = "EXTENSION", required = true)]
    extensions: Vec<PathBuf>,
    /// The path of the new program
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
}

impl Bundle {
    pub fn main(self) -> Result<()> {
        let engine = Engine::new(None)?;
        let mut loads: Vec<Load> = Vec::new();
        for path in &self.extensions {
            let shown = Untrusted::new(path.display());
            let component = package::read(path)?;
            let package = Package::read(Cursor::new(&component));
            let package = package.map_err(|error| wrong!("{shown}: {}", Untrusted::new(error)))?;
            check_asks(&package).map_err(|error| wrong!("{shown}: {error}"))?;
            if loads.iter().any(|load| load.package.name == package.name) {
                return Err(wrong!("{shown}: there is another `{}`", package.name));
            }
            let compiled = Component::compile(&engine, &component);
            let code = compiled.and_then(|compiled| compiled.code());
            let code = code.map_err(|error| wrong!("{shown}: {error}"))?;
            say!(
                "{} {}, {} kB, {} kB compiled",
                package.name,
                package.version,
                component.len() / 1000,
                code.len() / 1000
            );
            loads.push(Load {
                package,
                component,
                code,
            });
        }
        let program = std::env::current_exe();
        let written = program.and_then(|program| carried::write(&program, &loads, &self.output));
        written.map_err(|error| {
            let output = Untrusted::new(self.output.display());
            wrong!("{output} cannot be written: {error}")
        })
    }
}
