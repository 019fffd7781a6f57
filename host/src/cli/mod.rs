//! The command line: one file a subcommand.

mod check;
mod log;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::sandbox::{Engine, EngineError};

/// Stands sandboxed proxies between an editor and its coding agent (Agent Client Protocol).
#[derive(Debug, Parser)]
#[command(name = "acp-chain", version)]
struct Cli {
    /// What to log, e.g. `info` or `acp_chain=debug`; without it, nothing
    #[arg(long, global = true, value_name = "FILTER", env = "ACP_CHAIN_LOG")]
    log: Option<String>,
    /// Append the log to this file instead of printing it on standard error
    #[arg(long, global = true, value_name = "FILE")]
    log_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve an editor on standard input and output
    Run(run::Run),
    /// Validate a manifest and its components without running anything, and print the chain
    Check(check::Check),
}

/// Does what the command line says.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(error) = log::start(cli.log.as_deref(), cli.log_file.as_deref()) {
        eprintln!("acp-chain: {error}");
        return ExitCode::from(2);
    }
    match cli.command {
        Command::Run(run) => run.main(),
        Command::Check(check) => check.main(),
    }
}

/// An engine with the user's cache of compiled code, or without one where there is no place for it.
fn engine() -> Result<Engine, EngineError> {
    let folders = directories::ProjectDirs::from("", "", "acp-chain");
    let cache = folders.map(|folders| folders.cache_dir().join("compiled"));
    let Some(cache) = cache else {
        tracing::warn!("there is no home folder: compiled components are not kept");
        return Engine::new(None);
    };
    Engine::new(Some(&cache)).or_else(|error| {
        tracing::warn!("compiled components are not kept: {error}");
        Engine::new(None)
    })
}
