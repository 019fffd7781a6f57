//! `acp-chain check`: what a manifest would run, without running it.

use std::path::PathBuf;
use std::process::ExitCode;

use super::folders;
use super::progress::Progress;
use super::words::{self, Abilities};
use crate::channel::{WORDS, quote};
use crate::manifest::{ComponentEntry, Make, Manifest, NativeEntry, ProxyEntry, User};
use crate::native::AgentCommand;
use crate::sandbox::{Component, Engine};

#[derive(Debug, clap::Args)]
pub struct Check {
    /// The manifest
    #[arg(long, value_name = "FILE", default_value = "acp-chain.toml")]
    manifest: PathBuf,
}

impl Check {
    pub fn main(self) -> ExitCode {
        let read = super::user().and_then(|user| {
            let manifest = Manifest::read(&self.manifest, &user)?;
            Ok((manifest, user))
        });
        let (manifest, user) = match read {
            Ok(read) => read,
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
            valid &= match &entry.make {
                Make::Component(component) => check_proxy(&engine, &manifest, entry, component),
                Make::Native(native) => {
                    check_program(entry, native, &user);
                    true
                }
            };
        }
        println!("  │");
        match &manifest.agent {
            Some(agent) => {
                println!("agent  {}", command_line(agent));
            }
            None => println!("agent  named on the command line"),
        }
        match valid {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }
}

/// Prints a proxy of the chain that is a program.
fn check_program(entry: &ProxyEntry, native: &NativeEntry, user: &User) {
    println!("{}  {}", entry.id, command_line(&native.command));
    let config = folders::config_file();
    for line in words::of_program(native, entry.on_failure, user, config.as_deref()) {
        println!("  │  {line}");
    }
}

fn command_line(command: &AgentCommand) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    let words = words.map(|word| quote(&word.to_string_lossy(), WORDS));
    words.collect::<Vec<_>>().join(" ")
}

/// Prints one proxy of the chain; says whether it could be run.
fn check_proxy(
    engine: &Engine,
    manifest: &Manifest,
    entry: &ProxyEntry,
    terms: &ComponentEntry,
) -> bool {
    let path = quote(&terms.path.display().to_string(), WORDS);
    println!("{}  {path}", entry.id);
    let load = || Component::load(engine, &terms.path);
    let component = match Progress::default().while_loading(&entry.id, load) {
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
    for line in words::terms(terms, entry.on_failure, &abilities) {
        println!("  │  {line}");
    }
    true
}
