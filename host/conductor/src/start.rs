//! What a connection needs to start.

use std::sync::Arc;

use super::{AgentHooks, Member, Projects, StoredValues};
use crate::native::{Dialect, Supervisor};
use acp_chain_acp::INITIALIZE;
use acp_chain_channel::limits::LINE;
use acp_chain_mcp::reach::Reach;
use acp_chain_process::{ChildIo, Process};
use acp_chain_rpc::code;
use acp_chain_rpc::transport::Transport;

/// The role of a chain for its client, shown by the first message (RFD proxy-chains).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An agent: the first message is `initialize`.
    Agent,
    /// A proxy of a conductor that uses this dialect: the first message is `proxy/initialize`.
    Proxy(Dialect),
}

impl Role {
    /// The role that a method begins; `None` if it begins none.
    pub fn of(method: &str) -> Option<Self> {
        match method {
            INITIALIZE => Some(Self::Agent),
            _ => Dialect::of_initialize(method).map(Self::Proxy),
        }
    }
}

/// Everything behind the client: the proxies in order, and the agent.
pub struct Chain {
    /// The proxies, the client's neighbour first.
    pub proxies: Vec<Member>,
    /// The agent; `None` in the [`Role`] of a proxy, where the parent is the agent's end, too.
    pub agent: Option<Agent>,
    /// The notices for the user's first turn.
    pub notices: Vec<String>,
    /// Opens the sockets through which the agent reaches MCP servers within the chain; if `None`, this process opens
    /// them.
    pub supervisor: Option<Supervisor>,
    /// How the agent reaches these servers, where there is a choice.
    pub reach: Reach,
    /// The agent's hooks; if `None`, proxies do not see what the agent runs without asking.
    pub hooks: Option<AgentHooks>,
    /// Finds further proxies for each session; if `None`, all sessions have the same proxies.
    pub projects: Option<Box<dyn Projects>>,
    /// Where proxies store values that outlast the connection; if `None`, they cannot store any.
    pub values: Option<StoredValues>,
    /// Whether proxies are only called, and nothing that they do has an effect; the trace and the user are told what
    /// they would have done. All proxies must be components, and no session gets those of a project.
    pub is_dry_run: bool,
    /// Whether the agent runs on another machine. Then the client is offered no way to sign in for which it would run a
    /// command on this one, with words and variables of the agent's choice.
    pub is_remote: bool,
    /// What the chain consists of, and who agreed to it, as JSON: for an observer of the trace.
    pub about: Option<Arc<str>>,
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Chain")
            .field("proxies", &self.proxies)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

impl Chain {
    /// A chain of these proxies, the client's neighbour first, in front of an agent. This process opens the sockets
    /// through which the agent reaches their MCP servers.
    pub fn new(proxies: Vec<Member>, agent: impl Into<Agent>) -> Self {
        Self {
            proxies,
            agent: Some(agent.into()),
            notices: Vec::new(),
            supervisor: None,
            reach: Reach::default(),
            hooks: None,
            projects: None,
            values: None,
            is_dry_run: false,
            is_remote: false,
            about: None,
        }
    }

    /// This chain, if it fits a role: that of an agent requires an agent.
    pub(super) fn fit(self, role: Role) -> Result<Self, StartError> {
        let why = match (role, &self.agent) {
            (Role::Agent, Some(_)) | (Role::Proxy(_), None) => return Ok(self),
            (Role::Agent, None) => "the client wants an agent, and the chain was made without one",
            (Role::Proxy(_), Some(_)) => {
                "the client wants a proxy, and the chain was made with an agent"
            }
        };
        Err(StartError {
            message: why.to_owned(),
            code: code::INTERNAL_ERROR,
        })
    }
}

/// The agent: its transport, and its process if the host started it.
#[derive(Debug)]
pub struct Agent {
    /// The messages from and to the agent.
    pub transport: Transport,
    /// The process, which ends with the connection.
    pub process: Option<Process>,
}

impl From<ChildIo> for Agent {
    fn from(child: ChildIo) -> Self {
        Self {
            transport: Transport::lines(child.output, child.input, LINE),
            process: child.process,
        }
    }
}

/// Why a chain could not begin.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct StartError {
    /// The message of the error that the client gets, in one or two sentences.
    pub message: String,
    /// The code of the error that the client gets (JSON-RPC 2.0 §5.1).
    pub code: i64,
}
