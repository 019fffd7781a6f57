//! How to start a program.

use std::ffi::OsString;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// A command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    /// The program, a path or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables added to our environment.
    pub env: Vec<(OsString, OsString)>,
}

impl CommandLine {
    /// With our own standard streams.
    pub fn plain(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        command
    }
}
