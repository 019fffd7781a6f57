//! Errors, in words for the user. They may contain text from outside.

use std::io;
use std::path::{Path, PathBuf};

use crate::kind::Kind;
use crate::known;
use crate::name::is_name;
use acp_chain_system::writable;

/// Why an agent cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system reports an error about a file.
    #[error("{}: {error}{}", path.display(), writable::next_step(path, error))]
    Disk { path: PathBuf, error: io::Error },
    /// Something could not be fetched from a web server, in the words of [`Web::get`](crate::Web::get).
    #[error("{0}")]
    Web(String),
    /// The kind of location is unknown.
    #[error(
        "`{0}` is not a location that acp-chain supports: give an `https:` URL, or the path of a file"
    )]
    Location(String),
    /// A file is too large.
    #[error("{what}: it is larger than {} MiB", most >> 20)]
    TooLarge {
        what: String,
        /// The maximum, in bytes.
        most: u64,
    },
    /// It is not a registry.
    #[error("{from}: this is not a registry of agents: {wrong}")]
    NoRegistry {
        /// Its source.
        from: String,
        wrong: String,
    },
    /// A registry has no such agent.
    #[error(
        "there is no agent `{name}` in {from}{}; `acp-chain agent list --available` shows all, and `acp-chain agent add {name} -- COMMAND` gives your own command a name",
        nearest(near.as_deref())
    )]
    Unknown {
        /// The user's spelling.
        name: String,
        from: String,
        /// A similar name.
        near: Option<String>,
    },
    /// An entry of a registry cannot be used.
    #[error("{from}: the agent `{name}` {wrong}")]
    Entry {
        name: String,
        from: String,
        wrong: String,
    },
    /// The agent is not installed.
    #[error(
        "no agent `{name}` is installed{}; {}",
        nearest(near.as_deref()),
        instead(name, *is_program)
    )]
    NotInstalled {
        /// The user's spelling.
        name: String,
        /// A similar name.
        near: Option<String>,
        /// Whether a program has that name, or path.
        is_program: bool,
    },
    /// The agent is already installed.
    #[error("an agent `{name}` is installed already: {}", kind.replacement(name))]
    Taken {
        name: String,
        /// The kind of installation.
        kind: Kind,
    },
    /// The name is invalid.
    #[error(
        "`{0}` cannot be an agent's name: expected 1 to 64 letters, digits, `-`, `_` or `.`, a letter or a digit first"
    )]
    Name(String),
    /// A record cannot be read.
    #[error("{}: {wrong}; `acp-chain agent remove {name}` and `acp-chain agent add {name}` recreate it", path.display())]
    Record {
        name: String,
        /// The record of the agent.
        path: PathBuf,
        wrong: String,
    },
    /// Installed files are missing.
    #[error("the agent `{name}` is broken: {} is missing; {}", path.display(), kind.repair(name))]
    Broken {
        name: String,
        /// The missing path.
        path: PathBuf,
        /// The kind of installation.
        kind: Kind,
    },
    /// Another process is changing the store.
    #[error("another `acp-chain agent` is at work in {}; wait until it has finished", .0.display())]
    Busy(PathBuf),
    /// The digest differs.
    #[error(
        "{what}: expected {expected}, but got {actual}: it was changed or truncated; nothing was installed"
    )]
    OtherDigest {
        /// The downloaded file.
        what: String,
        /// The registry's digest.
        expected: String,
        /// The actual digest.
        actual: String,
    },
    /// A version has changed its content.
    #[error(
        "{what} claims to be version {version}, like yours, but differs: {actual} was {before}. Its publisher has put something else under the same version; nothing was changed. Ask the publisher why; `acp-chain agent remove {name}` and `acp-chain agent add {name}` install it anyway"
    )]
    Moved {
        name: String,
        /// Its source.
        what: String,
        /// The common version.
        version: String,
        /// The installed digest.
        before: String,
        /// The new digest.
        actual: String,
    },
    /// An archive cannot be unpacked, or a package cannot be launched.
    #[error("{what}: {wrong}; nothing was installed")]
    Unfit { what: String, wrong: String },
    /// An installer program is missing.
    #[error("`{program}` is not in PATH, and this agent needs it: {next}")]
    NoProgram {
        program: String,
        /// Where to get it.
        next: &'static str,
    },
    /// The user's command is not a program.
    #[error("`{0}` cannot be found: give the path of a program, or one that is in PATH")]
    NoCommand(String),
    /// A word of the user's command cannot be recorded.
    #[error(
        "`{0}` is not UTF-8, so it cannot be recorded: put the command into a script, and give that"
    )]
    NotText(String),
    /// An installer failed.
    #[error("`{command}` {how}; nothing was installed{}", if output.is_empty() { "" } else { ". Its output:" })]
    Tool {
        /// The whole command.
        command: String,
        /// How the program ended.
        how: String,
        /// Its output.
        output: String,
    },
}

impl Error {
    /// An error of the system about a file.
    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Disk {
            path: path.into(),
            error,
        }
    }

    /// An error of an archive or a package.
    pub(crate) fn unfit(what: String) -> impl Fn(String) -> Self {
        move |wrong| Self::Unfit {
            what: what.clone(),
            wrong,
        }
    }

    /// The output of a program before it failed, with its line breaks.
    pub fn output(&self) -> &str {
        match self {
            Self::Tool { output, .. } => output,
            _ => "",
        }
    }
}

fn nearest(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"))
}

/// What to do about a name that no installed agent has.
fn instead(name: &str, is_program: bool) -> String {
    if is_program {
        return launched(name);
    }
    let extension = Path::new(name).extension();
    if extension.is_some_and(|extension| extension == "toml") {
        return format!("a manifest is named with `--manifest {name}`");
    }
    if !is_name(name) {
        return "a command goes after `--`".to_owned();
    }
    format!(
        "`acp-chain agent add {name}` installs one from the registry, and a command goes after `--`"
    )
}

/// How a program is launched, whose name was given as that of an agent.
fn launched(name: &str) -> String {
    let line = match known::named(name) {
        Some(known) if known.program != name => {
            let program = known.program;
            return format!(
                "the program `{name}` does not speak ACP; `{program}` does, and is launched with `-- {program}`; \
                 `acp-chain agent list --available` shows agents to install"
            );
        }
        Some(known) => known.line(),
        None => name.to_owned(),
    };
    format!("the program `{name}` is launched after `--`, as in `-- {line}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_is_told_with_what_works_for_its_kind() {
        let told = |kind| {
            let name = "it".to_owned();
            Error::Taken { name, kind }.to_string()
        };
        assert!(told(Kind::Npx).contains("`acp-chain agent update it` looks for a newer version"));
        let own = told(Kind::Command);
        assert!(own.contains("`acp-chain agent remove it`"), "{own}");
        assert!(!own.contains("agent update"), "{own}");
    }

    #[test]
    fn a_name_that_is_not_of_an_agent_is_told_with_what_it_is() {
        for (name, is_program, told) in [
            (
                "claude-agent-acp",
                true,
                "; the program `claude-agent-acp` is launched after `--`, as in `-- claude-agent-acp`",
            ),
            (
                "gemini",
                true,
                "; the program `gemini` is launched after `--`, as in `-- gemini --acp`",
            ),
            (
                "claude",
                true,
                "; the program `claude` does not speak ACP; `claude-agent-acp` does, and is launched with \
                 `-- claude-agent-acp`; `acp-chain agent list --available` shows agents to install",
            ),
            ("/no/such/program", false, "; a command goes after `--`"),
            (
                "chain.toml",
                false,
                "; a manifest is named with `--manifest chain.toml`",
            ),
            (
                "gemini",
                false,
                "; `acp-chain agent add gemini` installs one from the registry, and a command goes after `--`",
            ),
        ] {
            let error = Error::NotInstalled {
                name: name.to_owned(),
                near: None,
                is_program,
            };
            let error = error.to_string();
            assert!(error.ends_with(told), "{error}\nlacks\n{told}");
        }
    }
}
