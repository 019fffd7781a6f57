//! What starts a program.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

/// A command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    /// The program, a path or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// What its environment has beside ours.
    pub env: Vec<(OsString, OsString)>,
}

impl CommandLine {
    /// As the runtime takes it, with a pipe for each standard stream.
    pub(super) fn piped(&self) -> tokio::process::Command {
        use std::process::Stdio;
        let mut command = tokio::process::Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}
