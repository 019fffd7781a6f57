//! The agent behind a chain: a program, or a remote agent.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use acp_chain_address::Address;
use serde::Deserialize;
use serde::de::value::{Error as ValueError, StrDeserializer};
use toml::Spanned;

use super::terms::Wrong;
use super::user::placed;
use super::{Environment, command};
use acp_chain_router::native::CommandLine;

/// `[agent]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct AgentTable {
    command: Option<String>,
    args: Vec<String>,
    env: Environment,
    connect: Option<Spanned<String>>,
    connect_ca: Option<PathBuf>,
    connect_token_file: Option<PathBuf>,
    pub hooks: Option<HooksMode>,
}

/// `hooks`: whether the agent's own hooks show its tool runs to the chain. The order is that of strictness.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum HooksMode {
    /// They are not attached.
    Off,
    /// They are attached if they can be; otherwise the user is told.
    #[default]
    BestEffort,
    /// Without them, nothing starts.
    Required,
}

impl FromStr for HooksMode {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let read = Self::deserialize(StrDeserializer::<ValueError>::new(name));
        read.map_err(|_| "it is `required`, `best-effort` or `off`")
    }
}

impl AgentTable {
    /// The command that starts the agent; `None` if the table names only the mode of hooks. The table begins at byte
    /// `start`. Paths are relative to `folder`.
    pub fn read(self, start: usize, folder: &Path) -> Result<Option<CommandLine>, Wrong> {
        let wrong = |what: &str| Err((start, what.to_owned()));
        let is_program = !self.args.is_empty() || !self.env.is_empty();
        let is_remote = self.connect_ca.is_some() || self.connect_token_file.is_some();
        match (self.command, self.connect) {
            (Some(program), None) if !is_remote => {
                command((start, &program), self.args, self.env, folder).map(Some)
            }
            (None, Some(url)) if !is_program => {
                let at = url.span().start;
                let remote = Remote {
                    url: url.into_inner(),
                    ca: self.connect_ca.map(|file| placed(folder, &file)),
                    token_file: self.connect_token_file.map(|file| placed(folder, &file)),
                };
                remote.command().map(Some).map_err(|what| (at, what))
            }
            (None, None) if self.hooks.is_some() && !is_program && !is_remote => Ok(None),
            (Some(_), Some(_)) => {
                wrong("an agent has a `command` or a URL to `connect` to, not both")
            }
            (Some(_), None) => wrong("`connect-ca` and `connect-token-file` belong to `connect`"),
            (None, Some(_)) => wrong("`args` and `env` belong to `command`"),
            (None, None) => wrong("an agent has a `command`, or a URL to `connect` to"),
        }
    }
}

/// A remote agent, and how to connect to it.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The URL of its endpoint.
    pub url: String,
    /// A file of certificates trusted besides the system's.
    pub ca: Option<PathBuf>,
    /// A file with the bearer token for the agent.
    pub token_file: Option<PathBuf>,
}

/// The subcommand that connects to a remote agent.
const CONNECT: &str = "connect";

impl Remote {
    /// The command line of another acp-chain process, which connects to the agent: a process with a chain may not open
    /// connections.
    pub fn command(self) -> Result<CommandLine, String> {
        // An error in the URL should not wait until that process runs.
        self.url
            .parse::<Address>()
            .map_err(|error| error.to_string())?;
        let program = std::env::current_exe()
            .map_err(|error| format!("the path of acp-chain's program file is unknown: {error}"))?;
        let mut args = vec![CONNECT.into(), self.url.into()];
        let files = [
            ("--connect-ca", self.ca),
            ("--connect-token-file", self.token_file),
        ];
        for (option, file) in files {
            let absolute = file.as_deref().map(std::path::absolute).transpose();
            let absolute = absolute.map_err(|error: io::Error| format!("{option}: {error}"))?;
            args.extend(
                absolute
                    .into_iter()
                    .flat_map(|file| [OsString::from(option), file.into()]),
            );
        }
        let command = CommandLine {
            program: program.into_os_string(),
            args,
            env: Vec::new(),
        };
        Ok(command.with_connect_token())
    }

    /// Whether a command line is one of [`Remote::command`].
    pub fn is_behind(command: &CommandLine) -> bool {
        let is_ours = std::env::current_exe().is_ok_and(|program| *program == *command.program);
        is_ours && command.args.first().is_some_and(|word| word == CONNECT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CommandLine, String> {
        let table: AgentTable = toml::from_str(text).map_err(|error| error.to_string())?;
        table
            .read(0, Path::new("/project"))
            .map(Option::unwrap)
            .map_err(|(_, what)| what)
    }

    #[test]
    fn a_table_may_have_only_the_mode_of_hooks() {
        let table: AgentTable = toml::from_str("hooks = 'required'").unwrap();
        assert_eq!(table.hooks, Some(HooksMode::Required));
        assert!(matches!(table.read(0, Path::new("/project")), Ok(None)));
        assert!(
            HooksMode::Off < HooksMode::default() && HooksMode::default() < HooksMode::Required
        );
    }

    #[test]
    fn a_remote_agent_is_a_command_of_this_program() {
        let agent = read(
            "connect = 'wss://host/acp'\nconnect-ca = 'ca.pem'\nconnect-token-file = '/token'",
        )
        .unwrap();
        assert!(Remote::is_behind(&agent));
        assert_eq!(
            agent.args,
            [
                "connect",
                "wss://host/acp",
                "--connect-ca",
                "/project/ca.pem",
                "--connect-token-file",
                "/token"
            ]
        );
        assert!(!Remote::is_behind(&read("command = 'connect'").unwrap()));
    }

    #[test]
    fn an_agent_is_a_program_or_remote() {
        for (text, expected) in [
            ("", "or a URL to `connect` to"),
            ("command = ''", "`command` is empty"),
            ("command = 'a'\nconnect = 'wss://host'", "not both"),
            (
                "connect = 'wss://host'\nargs = ['a']",
                "belong to `command`",
            ),
            ("command = 'a'\nconnect-ca = 'a'", "belong to `connect`"),
            ("connect = 'host'", "it is not a URL"),
            ("connect = 'https://me:secret@host'", "a user or a password"),
        ] {
            let told = read(text).unwrap_err();
            assert!(
                told.contains(expected) && !told.contains("secret"),
                "{text}: {told}"
            );
        }
    }
}
