//! How a command line names an agent: by name, command, or URL.

use std::ffi::OsString;

use super::super::connect::RemoteArgs;
use acp_chain_app::agent::AgentChoice;

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
    way: RemoteArgs,
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
    /// The named agent.
    pub fn choice(&self) -> AgentChoice {
        AgentChoice {
            name: self.name.clone(),
            words: self.words.clone(),
            remote: self.connect.as_deref().map(|url| self.way.to(url)),
            data: None,
        }
    }
}
