//! Packs the program, and writes what a release has beside its packages. `cargo xtask dist` and
//! `cargo xtask release-files` build and start this program; see `cargo xtask --help`.
//!
//! It is a program of its own, so that `cargo xtask install` compiles nothing that only packing needs.

mod packages;
mod release_files;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::workspace::Workspace;

#[derive(Parser)]
#[command(name = "xtask-dist")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Pack a program as an archive and for Debian, RPM, npm and Python, and list what is in it.
    Pack(packages::Options),
    /// Write what a release has beside its packages: descriptions, a formula, a manifest for Scoop, and checksums.
    ReleaseFiles(release_files::Options),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let workspace = Workspace::find()?;
    match command {
        Command::Pack(options) => packages::pack(&workspace, options),
        Command::ReleaseFiles(options) => release_files::write(&workspace, options),
    }
}
