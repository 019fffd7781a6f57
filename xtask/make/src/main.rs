//! Makes components of the proxies, and generated files that are checked in. `cargo xtask`
//! builds and starts this program; see `cargo xtask --help`.

mod guests;
mod languages;
mod reproducible;
mod rules;
mod secrets;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "xtask-make")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build these proxies, or all, into `target/components`.
    Guests { names: Vec<String> },
    /// Build the first project of each language, measure it, and write the table of languages into the book.
    Languages,
    /// Regenerate the rules of `host/secrets` from their catalogue.
    Rules,
    /// Compare what `redact` finds with what the engine of its rules finds, in examples and in ordinary text.
    Secrets,
    /// Build these of our extensions, or all, from a copy of the checkout in another folder, and compare the bytes.
    Reproducible {
        names: Vec<String>,
        /// Build the program instead, with the profile `dist`.
        #[arg(long, conflicts_with = "names")]
        program: bool,
    },
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    xtask::main(|workspace| match command {
        Command::Guests { names } => guests::build(workspace, &names),
        Command::Languages => languages::run(workspace),
        Command::Rules => rules::make(workspace),
        Command::Secrets => secrets::compare(workspace),
        Command::Reproducible { program: true, .. } => reproducible::check_program(workspace),
        Command::Reproducible { names, .. } => reproducible::check(workspace, &names),
    })
}
