//! The steps of a transcript.

use std::time::Duration;

use super::pattern::JsonPattern;
use crate::channel::Peer;

/// What happens in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// `client: …`: an end says something.
    Says(Peer, Said),
    /// `agent calls: …`: the agent asks an MCP server of the chain.
    Calls(Call),
    /// `client gets: …`: an end is expected to get something.
    Gets(Peer, Said),
    /// `session NAME …`: a session is set up.
    Session(String, JsonPattern),
    /// `after TIME`: time goes by.
    After(Duration),
    /// `PROXY fails`: it breaks when it is called next.
    Fails(String),
    /// `PROXY restarts`: it is restarted, with what it saved.
    Restarts(String, Option<JsonPattern>),
    /// `PROXY logs: …`: it is expected to have logged something.
    Logs(String, JsonPattern),
}

/// What an end says or gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// What sort of message.
    pub kind: Kind,
    /// What the transcript calls the request that it is, or is about.
    pub name: Option<String>,
    /// The `params`, the `result` or the `error`; anything, if it is not said.
    pub body: Option<JsonPattern>,
}

/// What sort of message something is.
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

/// What the agent asks an MCP server.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the transcript calls the request.
    pub name: String,
    /// The name of the server.
    pub server: String,
    /// The method of MCP.
    pub method: String,
    /// Its parameters.
    pub params: JsonPattern,
}
