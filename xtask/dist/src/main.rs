//! Packs the program, and writes what a release has beside its packages. `cargo xtask dist` and
//! `cargo xtask release-files` build and start this program; see `cargo xtask --help`.
//!
//! It is a program of its own, so that `cargo xtask install` compiles nothing that only packing needs.

mod packages;
mod release_files;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    let command = Cli::parse().command;
    xtask::main(|workspace| match command {
        Command::Pack(options) => packages::pack(workspace, options),
        Command::ReleaseFiles(options) => release_files::write(workspace, options),
    })
}
