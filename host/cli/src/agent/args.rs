//! How a command line names an agent: by name, command, or URL.

use std::ffi::OsString;

use acp_chain_agents::{Error, Record};

use super::super::connect::Way;
use super::place;
use acp_chain_conductor::native::CommandLine;

#[derive(Clone, Debug, clap::Args)]
pub struct AgentArgs {
    /// An agent installed by `acp-chain agent add`
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// After a NAME, more arguments for that agent; otherwise the agent's command and its arguments. By default, the
    /// manifest's agent
    #[arg(last = true, value_name = "AGENT")]
    words: Vec<OsString>,
    /// Connect to a remote agent at this URL: http, https, ws or wss
    #[arg(long, value_name = "URL", conflicts_with_all = ["name", "words"])]
    connect: Option<String>,
    #[command(flatten)]
    way: Way,
}

/// Replaces the default in the help of an [`AgentArgs`].
pub fn by_default(agent: &str) -> impl FnOnce(clap::Arg) -> clap::Arg {
    move |arg| {
        let help = arg.get_help().map(ToString::to_string);
        arg.help(
            help.unwrap_or_default()
                .replace("the manifest's agent", agent),
        )
    }
}

impl AgentArgs {
    /// Whether no agent is named.
    pub fn is_empty(&self) -> bool {
        self.name.is_none() && self.words.is_empty() && self.connect.is_none()
    }

    /// The name of the installed agent, if one is named.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The named agent, if any. An installed one is launched exactly as its record says.
    pub fn command(&self) -> Result<Option<CommandLine>, String> {
        if let Some(url) = &self.connect {
            return self.way.command(url).map(Some);
        }
        let Some(name) = &self.name else {
            return Ok(self.words.split_first().map(|(program, args)| CommandLine {
                program: program.clone(),
                args: args.to_vec(),
                env: Vec::new(),
            }));
        };
        let mut command = installed(name)?;
        command.args.extend(self.words.iter().cloned());
        Ok(Some(command))
    }

    /// Removes an unknown name, with everything after it: arguments that an editor added for an agent named elsewhere.
    pub fn take_unknown(&mut self) -> Vec<OsString> {
        match self.name.take_if(|name| is_unknown(name)) {
            Some(name) => [name.into()]
                .into_iter()
                .chain(self.words.drain(..))
                .collect(),
            None => Vec::new(),
        }
    }
}

/// Whether no agent of this name is installed.
pub fn is_unknown(name: &str) -> bool {
    let found = place::store().map(|store| store.find(name));
    matches!(found, Ok(Err(Error::NotInstalled { .. })))
}

/// The command line of the agent of this name.
pub fn installed(name: &str) -> Result<CommandLine, String> {
    let record = place::store()?.find(name);
    let record = record.and_then(|record| record.check().map(|()| record));
    Ok(launched(&record.map_err(place::shown)?))
}

/// The command line of an installed agent.
pub fn launched(record: &Record) -> CommandLine {
    let mut words = record.words().map(OsString::from);
    let env = record.env.iter();
    CommandLine {
        program: words.next().unwrap_or_default(),
        args: words.collect(),
        env: env.map(|(key, value)| (key.into(), value.into())).collect(),
    }
}
