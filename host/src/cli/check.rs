//! `acp-chain check`: what a manifest would run, without running it.

use std::path::PathBuf;
use std::process::ExitCode;

use super::folders;
use super::words::{self, Abilities};
use crate::channel::{WORDS, quote};
use crate::manifest::{Manifest, ProxyEntry};
use crate::sandbox::{Component, Engine};

#[derive(Debug, clap::Args)]
pub struct Check {
    /// The manifest
    #[arg(long, value_name = "FILE", default_value = "acp-chain.toml")]
    manifest: PathBuf,
}

impl Check {
    pub fn main(self) -> ExitCode {
        let read = super::user().and_then(|user| Manifest::read(&self.manifest, &user));
        let manifest = match read {
            Ok(manifest) => manifest,
            Err(error) => {
                eprintln!("acp-chain: {error}");
                return ExitCode::FAILURE;
            }
        };
        if let Err(error) = folders::check(&manifest) {
            eprintln!("acp-chain: {error}");
            return ExitCode::FAILURE;
        }
        let engine = match super::engine() {
            Ok(engine) => engine,
            Err(error) => {
                eprintln!("acp-chain: {error}");
                return ExitCode::FAILURE;
            }
        };
        println!("client");
        let mut valid = true;
        for entry in &manifest.proxies {
            println!("  │");
            valid &= check_proxy(&engine, &manifest, entry);
        }
        println!("  │");
        match &manifest.agent {
            Some(agent) => {
                let words = std::iter::once(&agent.program).chain(&agent.args);
                let words = words.map(|word| quote(&word.to_string_lossy(), WORDS));
                let words: Vec<_> = words.collect();
                println!("agent  {}", words.join(" "));
            }
            None => println!("agent  named on the command line"),
        }
        match valid {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }
}

/// Prints one proxy of the chain; says whether it could be run.
fn check_proxy(engine: &Engine, manifest: &Manifest, entry: &ProxyEntry) -> bool {
    let path = quote(&entry.path.display().to_string(), WORDS);
    println!("{}  {path}", entry.id);
    let component = match Component::load(engine, &entry.path) {
        Ok(component) => component,
        Err(error) => {
            println!("  │  cannot be used");
            eprintln!("acp-chain: {}", manifest.about(entry, &error));
            return false;
        }
    };
    let imports = component.imports(engine);
    let abilities = Abilities {
        wasi: imports.iter().any(|name| name.starts_with("wasi:")),
        tools: component.has_tools(),
    };
    println!("  │  {} kB", component.size() / 1000);
    for line in words::terms(entry, &abilities) {
        println!("  │  {line}");
    }
    true
}
