//! Developer commands of the workspace: `cargo xtask --help`.
//!
//! Whatever a command needs it fetches and builds itself, into `target/`; what is up to date is
//! left alone.

mod agents;
mod bench;
mod book;
mod client;
mod conformance;
mod demo;
mod host;
mod install;
mod make;
mod newest;
mod peers;
mod portable;
mod release;
mod schema;
mod soak;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::make::Beside;
use xtask::progress::Progress;
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
    #[command(flatten)]
    InCheckout(InCheckout),
    /// The agent of the demo, on standard input and output.
    #[command(hide = true)]
    DemoAgent {
        /// Where to write down what comes in.
        received: PathBuf,
    },
}

#[derive(Subcommand)]
enum InCheckout {
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
    Dist {
        /// `--from PROGRAM` packs this program in place of a new one; `--out DIR` puts the packages there.
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "OPTIONS"
        )]
        options: Vec<String>,
    },
    /// Fetch the third-party clients and agents that the tests talk to, into `target/peers`.
    Peers,
    /// Run real coding agents, each by itself and behind the chain, and compare what a client sees.
    Agents(agents::Options),
    /// Show one turn through the real host: what each proxy makes of each message.
    Demo {
        /// A program that carries the extensions, in place of one that is built.
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// Drive a chain with a proxy that crashes now and then, and see that nothing grows or is lost.
    Soak {
        /// For how long.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
        minutes: u64,
    },
    /// Check that the host compiles for Windows and macOS, neither of which this needs to be.
    Portable,
    /// Check that everything compiles without warnings with the newest stable Rust, in a toolchain of its own, and say what
    /// the newest schema of the protocol would add.
    Newest,
    /// Check what only a release needs: that whoever builds the extensions and the packages again gets the same bytes, and
    /// that each package installs.
    ReleaseCheck,
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
    /// Regenerate the protocol's schemas from their crate, and from these and the WIT the types of the SDKs.
    Types,
    /// Hold what `redact` finds against what the engine of its rules finds, in examples and in
    /// ordinary text.
    Secrets,
    /// Build our extensions from a copy of the checkout, elsewhere, and see that they have the same bytes.
    Reproducible {
        /// The extensions to build, by name; all of them by default.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
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
    let outcome = match Cli::parse().command {
        Command::InCheckout(command) => run(command),
        Command::DemoAgent { received } => demo::agent::run(&received).map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("Error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(command: InCheckout) -> Result<ExitCode> {
    let workspace = &Workspace::find()?;
    match command {
        InCheckout::Guests { names } => {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            make::components(workspace, &Progress::new(workspace), Beside::Tests, &names)?;
        }
        InCheckout::Install { root } => install::run(workspace, root)?,
        InCheckout::Dist { options } => make(workspace, "dist", &options)?,
        InCheckout::Peers => peers::fetch(workspace)?,
        InCheckout::Agents(options) => return agents::run(workspace, &options),
        InCheckout::Demo { program } => return demo::run(workspace, program),
        InCheckout::Soak { minutes } => return soak::run(workspace, minutes),
        InCheckout::Portable => portable::check(workspace)?,
        InCheckout::Newest => newest::check(workspace)?,
        InCheckout::ReleaseCheck => release::check(workspace)?,
        InCheckout::Languages => make(workspace, "languages", &[])?,
        InCheckout::Book => return book::write(workspace),
        InCheckout::Tutorial => return book::walk(workspace),
        InCheckout::Conformance => conformance::run(workspace)?,
        InCheckout::Rules => make(workspace, "rules", &[])?,
        InCheckout::Types => return book::write_types(workspace),
        InCheckout::Secrets => {
            peers::fetch(workspace)?;
            make(workspace, "secrets", &[])?;
        }
        InCheckout::Reproducible { names } => make(workspace, "reproducible", &names)?,
        InCheckout::Bench(options) => return bench::run(workspace, &options),
        InCheckout::Test { args } => return test::run(workspace, &args),
    }
    Ok(ExitCode::SUCCESS)
}

/// Has `xtask-make` carry out a command.
fn make(workspace: &Workspace, command: &str, args: &[String]) -> Result<()> {
    let args = [command].into_iter().chain(args.iter().map(String::as_str));
    make::run(workspace, &Progress::new(workspace), Beside::Tests, args)
}
