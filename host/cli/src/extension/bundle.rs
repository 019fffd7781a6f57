//! `acp-chain bundle`: makes a copy of this program, or of one for another machine, with built-in extensions, each
//! compiled for the machine.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use crate::Result;
use acp_chain_channel::limits::about;
use acp_chain_package::Package;

use super::package;
use acp_chain_extension::carried::{self, Load};
use acp_chain_manifest::check_asks;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::{Component, Engine};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  acp-chain bundle rules.wasm redact.wasm --output acp-chain-ours
  acp-chain bundle redact.wasm --program acp-chain-arm64 --target aarch64-unknown-linux-gnu --output acp-chain-ours")]
pub struct Bundle {
    /// The extensions, instead of those built into this program
    #[arg(value_name = "EXTENSION", required = true)]
    extensions: Vec<PathBuf>,
    /// Copy this program, which is not run, instead of this one
    #[arg(long, value_name = "FILE", requires = "target")]
    program: Option<PathBuf>,
    /// Compile for this target, as Rust names it, and for any processor of it
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// The path of the new program
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
}

impl Bundle {
    pub fn main(self) -> Result<()> {
        let engine = Engine::new(None)?;
        let target = self.target.as_deref().map(for_target).transpose()?;
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
            let code = compiled.and_then(|compiled| match &target {
                Some(target) => target.code(&component),
                None => compiled.code(),
            });
            let code = code.map_err(|error| wrong!("{shown}: {error}"))?;
            let (name, version) = (&package.name, &package.version);
            let [size, compiled] = [&component, &code].map(|bytes| about(bytes.len() as u64));
            say!("{name} {version}, {size}, {compiled} compiled");
            loads.push(Load {
                package,
                component,
                code,
            });
        }
        let folder = self.output.parent().map_or(Ok(()), fs::create_dir_all);
        let program = folder.and(self.program.map_or_else(std::env::current_exe, Ok));
        let written = program.and_then(|program| carried::write(&program, &loads, &self.output));
        written.map_err(|error| {
            let output = Untrusted::new(self.output.display());
            wrong!("{output} cannot be written: {error}")
        })
    }
}

fn for_target(target: &str) -> Result<Engine> {
    Engine::for_target(target).map_err(|error| {
        wrong!(
            "--target {target}: {error}; for another machine, acp-chain must be built with the feature `cross`"
        )
    })
}
