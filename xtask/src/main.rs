//! Developer commands of the workspace: `cargo xtask --help`.
//!
//! Whatever a command needs it fetches and builds itself, into `target/`; what is up to date is
//! left alone.

mod bench;
mod book;
mod conformance;
mod demo;
mod dist;
mod fetch;
mod guests;
mod host;
mod install;
mod languages;
mod peers;
mod portable;
mod progress;
mod reproducible;
mod rules;
mod secrets;
mod soak;
mod stamp;
mod test;
mod types;
mod wire;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

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
        /// The components to build, by name; all of them by default.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Build the program and the extensions that come with it, and put it where cargo installs programs.
    Install {
        /// The folder to whose `bin` it goes, in place of cargo's own.
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
    },
    /// Pack the program, built for others, as an archive and for Debian, npm and Python.
    Dist(dist::Options),
    /// Fetch the third-party clients and agents that the tests talk to, into `target/peers`.
    Peers,
    /// Show one turn through the real host: what each proxy makes of each message.
    Demo,
    /// The agent of the demo, on standard input and output.
    #[command(hide = true)]
    DemoAgent {
        /// Where to write down what comes in.
        received: PathBuf,
    },
    /// Drive a chain with a proxy that crashes now and then, and see that nothing grows or is lost.
    Soak {
        /// For how long.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
        minutes: u64,
    },
    /// Check that the host compiles for Windows and macOS, neither of which this needs to be.
    Portable,
    /// Run the public MCP conformance suite, and write into the book what passes.
    Conformance,
    /// Build what each language begins with, measure it, and write the table of languages into the book.
    Languages,
    /// Copy the files that pages of the book show into them.
    Book,
    /// Do what the tutorial says, as on a machine without toolchains, and say how long it took.
    Tutorial,
    /// Regenerate the rules of `host/secrets` from the catalogue that they come from.
    Rules,
    /// Regenerate the types of the SDKs, from the WIT and the protocol's schema.
    Types,
    /// Hold what `redact` finds against what the engine of its rules finds, in examples and in
    /// ordinary text.
    Secrets,
    /// Build our extensions from a copy of the checkout, elsewhere, and see that they have the same bytes.
    Reproducible,
    /// Measure what acp-chain costs, beside a relay of bytes and the reference conductor.
    Bench(bench::Options),
    /// Build everything, fetch the peers, and run all tests.
    Test {
        /// Passed to `cargo test`.
        #[arg(last = true, value_name = "ARGS")]
        args: Vec<String>,
    },
}

fn main() -> ExitCode {
    run(Cli::parse().command).unwrap_or_else(|error| {
        eprintln!("Error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Guests { names } => guests::build(&Workspace::find()?, &names)?,
        Command::Install { root } => install::run(&Workspace::find()?, root)?,
        Command::Dist(options) => dist::run(&Workspace::find()?, options)?,
        Command::Peers => peers::fetch(&Workspace::find()?)?,
        Command::Demo => return demo::run(&Workspace::find()?),
        Command::DemoAgent { received } => demo::agent::run(&received)?,
        Command::Soak { minutes } => return soak::run(&Workspace::find()?, minutes),
        Command::Portable => portable::check(&Workspace::find()?)?,
        Command::Languages => languages::run(&Workspace::find()?)?,
        Command::Book => return book::write(&Workspace::find()?),
        Command::Tutorial => return book::walk(&Workspace::find()?),
        Command::Conformance => conformance::run(&Workspace::find()?)?,
        Command::Rules => rules::make(&Workspace::find()?)?,
        Command::Types => types::make(&Workspace::find()?)?,
        Command::Secrets => secrets::compare(&Workspace::find()?)?,
        Command::Reproducible => reproducible::check(&Workspace::find()?)?,
        Command::Bench(options) => return bench::run(&Workspace::find()?, &options),
        Command::Test { args } => return test::run(&Workspace::find()?, &args),
    }
    Ok(ExitCode::SUCCESS)
}
