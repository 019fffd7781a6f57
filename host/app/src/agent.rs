//! Agents by name, command or URL.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use acp_chain_agents::{Kind, Known, Record, Store, in_path};
use acp_chain_conductor::native::CommandLine;
use acp_chain_disk as disk;
use acp_chain_manifest::{Remote, written};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_secrets::masked;

use crate::{Error, home};

/// How a command line names an agent.
#[derive(Clone, Debug, Default)]
pub struct AgentChoice {
    /// The name of an installed agent.
    pub name: Option<String>,
    /// More arguments for it; without a name, the agent's command.
    pub words: Vec<OsString>,
    /// A remote agent, instead of these.
    pub remote: Option<Remote>,
    /// The folder of the user's data in which it is installed; by default, the usual one.
    pub data: Option<PathBuf>,
}

impl AgentChoice {
    /// Whether no agent is named.
    pub fn is_empty(&self) -> bool {
        self.name.is_none() && self.words.is_empty() && self.remote.is_none()
    }

    /// The named agent, if any. An installed one is launched exactly as its record says.
    pub fn command(&self) -> Result<Option<CommandLine>, Error> {
        if let Some(remote) = self.remote.clone() {
            return remote.command().map(Some).map_err(Error::Remote);
        }
        let Some(name) = &self.name else {
            let words = self.words.split_first();
            return Ok(words.map(|(program, args)| {
                let program = written(Path::new(program));
                CommandLine::new(program, args)
            }));
        };
        let mut command = installed_in(self.data.as_deref(), name)?;
        command.args.extend(self.words.iter().cloned());
        Ok(Some(command))
    }

    /// The name, if no such agent is installed.
    pub fn unknown(&self) -> Option<&str> {
        let name = self.name.as_deref()?;
        let found = store_in(self.data.as_deref()).map(|store| store.find(name));
        let is_unknown = matches!(found, Ok(Err(acp_chain_agents::Error::NotInstalled { .. })));
        is_unknown.then_some(name)
    }

    /// Removes an unknown name, with everything after it: arguments that an editor added for an agent named elsewhere.
    pub fn take_unknown(&mut self) -> Vec<OsString> {
        if self.unknown().is_none() {
            return Vec::new();
        }
        let name = self.name.take().map(OsString::from);
        name.into_iter().chain(self.words.drain(..)).collect()
    }
}

/// The installed agents. Only the user can write to the folder.
pub fn store() -> Result<Store, Error> {
    store_in(None)
}

/// The agents that are installed in this folder of a user's data, or else in the usual one.
fn store_in(data: Option<&Path>) -> Result<Store, Error> {
    let folder = home::agents_in(data).ok_or(Error::NoAgents)?;
    Ok(Store::new(folder, disk::write))
}

/// The names of the installed agents.
pub fn names() -> Result<Vec<String>, Error> {
    Ok(store()?.names()?)
}

/// An agent that can be launched on this machine.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name: of an installed agent, or under which a program in `PATH` would be installed.
    pub name: String,
    /// The agent in `PATH`; none if it is installed.
    pub in_path: Option<&'static Known>,
}

/// The installed agents, and the known programs in `PATH` under whose names none is installed.
pub fn candidates() -> Vec<Candidate> {
    let installed = names().unwrap_or_default();
    let found = in_path().into_iter();
    let found: Vec<_> = found
        .filter(|known| !installed.iter().any(|name| name == known.name))
        .map(|known| Candidate {
            name: known.name.to_owned(),
            in_path: Some(known),
        })
        .collect();
    let there = installed.into_iter().map(|name| Candidate {
        name,
        in_path: None,
    });
    there.chain(found).collect()
}

/// The command line of the agent of this name.
pub fn installed(name: &str) -> Result<CommandLine, Error> {
    installed_in(None, name)
}

fn installed_in(data: Option<&Path>, name: &str) -> Result<CommandLine, Error> {
    let record = store_in(data)?.find(name)?;
    record.check()?;
    Ok(launched(&record))
}

/// The command line of an installed agent.
fn launched(record: &Record) -> CommandLine {
    let mut words = record.words().map(OsString::from);
    let env = record.env.iter();
    CommandLine {
        program: words.next().unwrap_or_default(),
        args: words.collect(),
        env: env.map(|(key, value)| (key.into(), value.into())).collect(),
    }
}

/// An installed agent that cannot be launched.
pub struct Unusable {
    pub why: String,
    /// The command that repairs it.
    pub remedy: String,
}

/// The command line of each installed agent. Without a folder for them, there are none.
pub fn all() -> Vec<Result<CommandLine, Unusable>> {
    let Ok(store) = store() else {
        return Vec::new();
    };
    let unusable = |name: &str, kind: Option<Kind>, error: acp_chain_agents::Error| {
        let does = match kind {
            Some(Kind::Command) | None => "remove",
            Some(_) => "update",
        };
        Unusable {
            why: Error::from(error).to_string(),
            remedy: format!("acp-chain agent {does} {name}"),
        }
    };
    let names = store.names().unwrap_or_default();
    let agents = names.iter().map(|name| {
        let record = store.find(name);
        let record = record.map_err(|error| unusable(name, None, error))?;
        let usable = record.check();
        usable.map_err(|error| unusable(name, Some(record.kind), error))?;
        Ok(launched(&record))
    });
    agents.collect()
}

/// The path of a program in the `PATH` of a command.
pub fn find(command: &CommandLine, program: &OsStr) -> Option<PathBuf> {
    which::which_in(program, command.variable("PATH"), env::current_dir().ok()?).ok()
}

/// What speaks ACP in place of a command that is known not to.
pub fn correction(command: &CommandLine) -> Option<String> {
    acp_chain_agents::correction(&command.program, &command.args)
}

/// Whether a program that is named without arguments can be launched: by a name in our `PATH`, or by a path, of which
/// `~/…` is in the home, as editors read it.
pub fn is_there(program: &str) -> bool {
    which::which(written(Path::new(program))).is_ok()
}

/// How much of a command is shown, in bytes.
const LONGEST: usize = 8 * MAX_QUOTE;

/// A command, for people, without the secrets that are found in its arguments.
pub fn command_line(command: &CommandLine) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    // Before it is cut, which could leave a part of a secret.
    quote(&masked(&words.join(" ")), LONGEST)
}
