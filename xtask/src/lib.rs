//! Shared code of the developer commands: the checkout, steps with their logs, stamps, downloads, the platforms with
//! packages, the finished program, tables in the book, and what the programs of these commands begin with.
//!
//! `xtask` has few dependencies, since every command waits for its build. `xtask-make`, in the folder `make`, compiles
//! components: it shares most of its dependencies with the program. `xtask-dist`, in the folder `dist`, packs programs:
//! only the tests and the commands that need packages build it.

pub mod fetch;
pub mod platform;
pub mod program;
pub mod progress;
pub mod publish;
pub mod stamp;
pub mod workspace;

use std::process::{Command, ExitCode, Termination};

use anyhow::{Context, Result, ensure};

use self::workspace::Workspace;

/// The exit code of a command that finds that all is well, or not.
pub fn verdict(is_well: bool) -> ExitCode {
    ExitCode::from(u8::from(!is_well))
}

/// Runs a program with our standard output. The exit code says whether it succeeds.
pub fn follow(command: &mut Command) -> Result<ExitCode> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status();
    let status = status.with_context(|| format!("{program} cannot be started"))?;
    Ok(verdict(status.success()))
}

/// What a program prints, which must succeed.
pub fn printed(command: &mut Command) -> Result<String> {
    let output = command.output();
    let output = output.with_context(|| format!("{command:?} cannot be started"))?;
    ensure!(
        output.status.success(),
        "{command:?} ended with {}:\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command in the checkout. An error is printed in one line.
pub fn main<T: Termination>(run: impl FnOnce(&Workspace) -> Result<T>) -> ExitCode {
    match Workspace::find().and_then(|workspace| run(&workspace)) {
        Ok(done) => done.report(),
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
