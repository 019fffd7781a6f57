//! The steps of a transcript.

use std::time::Duration;

use super::pattern::JsonPattern;
use crate::channel::Peer;

/// The action of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// `client: …`: an end sends a message.
    Says(Peer, Said),
    /// `agent calls: …`: the agent calls an MCP server of the chain.
    Calls(Call),
    /// `client gets: …`: an end should receive a message.
    Gets(Peer, Said),
    /// `session NAME …`: a session is set up.
    Session(String, JsonPattern),
    /// `after TIME`: time passes.
    After(Duration),
    /// `PROXY fails`: it breaks at its next call.
    Fails(String),
    /// `PROXY restarts`: it is restarted, with its saved state.
    Restarts(String, Option<JsonPattern>),
    /// `PROXY logs: …`: it should have logged something.
    Logs(String, JsonPattern),
}

/// A message that an end sends or receives.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Its kind.
    pub kind: Kind,
    /// The transcript's name for the request that it is, or belongs to.
    pub name: Option<String>,
    /// The `params`, the `result` or the `error`; without it, anything.
    pub body: Option<JsonPattern>,
}

/// The kind of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A request of this method.
    Request(String),
    /// A notification of this method.
    Notification(String),
    /// An answer.
    Result,
    /// An answer that is an error.
    Error,
    /// A `$/cancel_request`.
    Cancel,
}

/// An agent's call of an MCP server.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The transcript's name for the request.
    pub name: String,
    /// The name of the server.
    pub server: String,
    /// The method of MCP.
    pub method: String,
    /// Its parameters.
    pub params: JsonPattern,
}
