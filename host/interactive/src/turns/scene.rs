//! What surrounds the client: what it starts with, what is known of the chain, and how it ends.

use std::path::PathBuf;
use std::time::Duration;

use super::files::Files;
use crate::Screen;
use acp_chain_conductor::native::{CommandLine, Tail};

/// The environment of a client.
pub struct Scene {
    /// The agent's command.
    pub agent: CommandLine,
    /// The working directory of the session.
    pub folder: PathBuf,
    /// The files of that directory, unless they cannot be served.
    pub files: Option<Files>,
    /// How long an agent that has to answer may send nothing; without it, for ever.
    pub patience: Option<Duration>,
    /// The command that checks the agent and the chain.
    pub doctor: String,
    /// The log of the chain, if it is a file.
    pub log: Option<PathBuf>,
    /// The maximum width of the picture.
    pub columns: usize,
    /// Whether there is a user to ask.
    pub has_terminal: bool,
    /// Where texts for the user go.
    pub screen: &'static dyn Screen,
}

/// What is known of the chain once it has begun.
#[derive(Debug, Default)]
pub struct RunningChain {
    /// The names of its proxies.
    pub proxies: Vec<String>,
    /// The agent's standard error.
    pub stderr: Option<Tail>,
}

/// How the client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The prompts ended.
    Done,
    /// The chain, the agent or the last turn failed, which was reported.
    Failed,
    /// The agent was silent for longer than the user waits, which was reported.
    Silent,
    /// The agent requires a login, which was reported.
    Login,
    /// The user interrupted the client.
    Interrupted,
}
