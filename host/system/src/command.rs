//! How to start a program.

use std::ffi::OsString;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::here::programs;

/// The one variable that may differ each time a program is started: the token for the hooks of an agent.
pub const HOOK_TOKEN: &str = "ACP_CHAIN_HOOK_TOKEN";

/// The password of the store of replicas. Programs that we start do not inherit it.
pub const STORE_PASSWORD: &str = "ACP_CHAIN_STORE_PASSWORD";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    /// A path, or a name that is looked up in `PATH`; on Windows, also without its extension.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Variables added to our environment.
    pub env: Vec<(OsString, OsString)>,
}

impl CommandLine {
    /// The command, which inherits our standard streams.
    pub fn plain(&self) -> Command {
        let mut command = Command::new(programs::find(self));
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        command
    }
}
