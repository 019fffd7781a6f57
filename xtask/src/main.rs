//! Developer commands of the workspace: `cargo xtask --help`.
//!
//! A command fetches and builds what it needs, into `target/`, unless it is up to date.

mod agents;
mod arm64;
mod bench;
mod book;
mod client;
mod conformance;
mod demo;
mod dist;
mod host;
mod install;
mod make;
mod newest;
mod peers;
mod portable;
mod release;
mod schema;
mod soak;
mod systems;
mod test;
mod windows;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::make::BuildScope;
use xtask::workspace::Workspace;

/// Developer commands of acp-chain.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the proxies, ours and the examples in all languages, into `target/components`.
    Guests {
        /// The names of the components to build; all by default.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Build the program with its extensions, and install it where cargo installs programs.
    Install {
        /// Install into `bin` of this folder, instead of cargo's own.
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
    },
    /// Build the program for distribution, and pack it as an archive and for Debian, RPM, npm and Python.
    Dist(dist::Options),
    /// Write what a release has beside its packages: descriptions for `self-update`, a formula for Homebrew, a manifest
    /// for Scoop, and checksums.
    ReleaseFiles {
        /// `--url URL` is the address of the folder in which the files will be published; a folder with packages,
        /// instead of that of `dist`.
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "OPTIONS"
        )]
        options: Vec<String>,
    },
    /// Fetch the third-party software of the tests into `target/peers`.
    Peers,
    /// Run real coding agents, each alone and behind the chain, and compare what a client receives.
    Agents(agents::Options),
    /// Run `acp-chain demo`: two turns through a real chain.
    Demo {
        /// A program that carries the extensions, instead of a new build.
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// Drive a chain with a proxy that crashes now and then, and check that nothing grows or is lost.
    Soak {
        /// The duration in minutes.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
        minutes: u64,
    },
    /// Check that the host compiles for Windows and macOS, without needing either.
    Portable,
    /// Build the program for Windows, and run the tests that make sense there under Wine.
    Windows(windows::Options),
    /// Pack the program for Linux on arm64, and run its promises and tests in an emulator.
    Arm64(arm64::Options),
    /// Check that everything compiles without warnings with the newest stable Rust, in a separate toolchain, and list
    /// what the newest schema of the protocol would add.
    Newest,
    /// Check what only a release needs: that the extensions and packages are reproducible, that each package installs,
    /// and the MCP conformance suite.
    ReleaseCheck,
    /// Run the public MCP conformance suite, and write into the book what passes.
    Conformance,
    /// Build the first project of each language, measure it, and write the table of languages into the book.
    Languages,
    /// Copy files and help texts into the pages of the book that show them.
    Book,
    /// Follow the tutorial as on a machine without toolchains, and print how long it took.
    Tutorial,
    /// Regenerate the rules of `host/secrets` from their catalogue.
    Rules,
    /// Regenerate the protocol's schemas from their crate, and the types of the SDKs from the schemas and the WIT.
    Types,
    /// Compare what `redact` finds with what the engine of its rules finds, in examples and in ordinary text.
    Secrets,
    /// Build our extensions, or the program, from a copy of the checkout in another folder, and compare the bytes.
    Reproducible {
        /// The names of the extensions to build; all by default.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Build the program instead, with the profile `dist`.
        #[arg(long, conflicts_with = "names")]
        program: bool,
    },
    /// Measure what acp-chain costs, beside a byte relay and the reference conductor.
    Bench(bench::Options),
    /// Build everything, fetch the peers, and run all tests.
    Test {
        /// Arguments for `cargo test`.
        #[arg(last = true, value_name = "ARGS")]
        args: Vec<String>,
    },
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    xtask::main(|workspace| run(workspace, command))
}

fn run(workspace: &Workspace, command: Command) -> Result<ExitCode> {
    match command {
        Command::Guests { names } => {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            make::components(workspace, BuildScope::Tests, &names)?;
        }
        Command::Install { root } => install::run(workspace, root)?,
        Command::Dist(options) => {
            dist::run(workspace, options)?;
        }
        Command::ReleaseFiles { options } => dist::release_files(workspace, &options)?,
        Command::Peers => peers::fetch(workspace)?,
        Command::Agents(options) => return agents::run(workspace, &options),
        Command::Demo { program } => return demo::run(workspace, program),
        Command::Soak { minutes } => return soak::run(workspace, minutes),
        Command::Portable => portable::check(workspace)?,
        Command::Windows(options) => return windows::run(workspace, &options),
        Command::Arm64(options) => return arm64::run(workspace, options),
        Command::Newest => newest::check(workspace)?,
        Command::ReleaseCheck => release::check(workspace)?,
        Command::Languages => make(workspace, "languages", &[])?,
        Command::Book => return book::write(workspace),
        Command::Tutorial => return book::walk(workspace),
        Command::Conformance => conformance::run(workspace)?,
        Command::Rules => make(workspace, "rules", &[])?,
        Command::Types => return book::write_types(workspace),
        Command::Secrets => {
            peers::fetch(workspace)?;
            make(workspace, "secrets", &[])?;
        }
        Command::Reproducible { program: true, .. } => {
            make(workspace, "reproducible", &["--program".to_owned()])?;
        }
        Command::Reproducible { names, .. } => make(workspace, "reproducible", &names)?,
        Command::Bench(options) => return bench::run(workspace, &options),
        Command::Test { args } => return test::run(workspace, &args),
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a command of `xtask-make`.
fn make(workspace: &Workspace, command: &str, args: &[String]) -> Result<()> {
    let args = [command].into_iter().chain(args.iter().map(String::as_str));
    make::run(workspace, BuildScope::Tests, args)
}
