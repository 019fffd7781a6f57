//! Shared code of the developer commands: the checkout, steps with their logs, stamps, downloads, the platforms with
//! packages, the finished program, and what the programs of these commands begin with.
//!
//! `xtask` has few dependencies, since every command waits for its build. `xtask-make`, in the folder `make`, compiles
//! components: it shares most of its dependencies with the program. `xtask-dist`, in the folder `dist`, packs programs:
//! only the tests and the commands that need packages build it.

pub mod fetch;
pub mod platform;
pub mod program;
pub mod progress;
pub mod stamp;
pub mod workspace;

use std::process::{ExitCode, Termination};

use anyhow::Result;

use self::workspace::Workspace;

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
