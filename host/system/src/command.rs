//! How to start a program.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::here::programs;

/// The one variable that may differ each time a program is started: the token for the hooks of an agent.
pub const HOOK_TOKEN: &str = "ACP_CHAIN_HOOK_TOKEN";

/// The password of the store of replicas. Programs that we start do not inherit it.
pub const STORE_PASSWORD: &str = "ACP_CHAIN_STORE_PASSWORD";

/// The token for a remote agent. Only the program that connects to it [gets](CommandLine::with_connect_token) it.
pub const CONNECT_TOKEN: &str = "ACP_CHAIN_CONNECT_TOKEN";

/// The variables that only we need.
const OWN_SECRETS: [&str; 2] = [STORE_PASSWORD, CONNECT_TOKEN];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    /// A path, or a name that is looked up in `PATH`; on Windows, also without its extension.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Variables added to our environment, without our secrets.
    pub env: Vec<(OsString, OsString)>,
}

impl CommandLine {
    /// A program with its arguments, in our environment.
    pub fn new<A: Into<OsString>>(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: Vec::new(),
        }
    }

    /// The command, which inherits our standard streams.
    pub fn plain(&self) -> Command {
        let mut command = Command::new(programs::find(self));
        for name in OWN_SECRETS {
            command.env_remove(name);
        }
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        command
    }

    /// The value of a variable in the program's environment.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        let own = self.env.iter().rfind(|(key, _)| key == name);
        own.map_or_else(|| env::var_os(name), |(_, value)| Some(value.clone()))
    }

    /// Adds the token for a remote agent, if our environment has one.
    #[must_use]
    pub fn with_connect_token(mut self) -> Self {
        let token = env::var_os(CONNECT_TOKEN);
        self.env
            .extend(token.map(|token| (CONNECT_TOKEN.into(), token)));
        self
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_program_inherits_no_secret_of_ours_unless_it_is_given_one() {
        let mut line = CommandLine::new("program", [""; 0]);
        let changed = |line: &CommandLine, name: &str| {
            let command = line.plain();
            let mut changes = command.get_envs();
            let found = changes.find(|(changed, _)| *changed == OsStr::new(name));
            found.map(|(_, value)| value.map(OsStr::to_owned))
        };
        for name in OWN_SECRETS {
            assert_eq!(changed(&line, name), Some(None), "{name}");
        }
        line.env.push((CONNECT_TOKEN.into(), "given".into()));
        assert_eq!(changed(&line, CONNECT_TOKEN), Some(Some("given".into())));
    }
}
