//! The steps of a transcript.

use std::time::Duration;

use super::pattern::JsonPattern;
use acp_chain_channel::Peer;

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
    /// `PROXY fails`: the proxy breaks in its next call.
    Fails(String),
    /// `PROXY restarts`: the proxy is restarted; its saved state, if given, must match.
    Restarts(String, Option<JsonPattern>),
    /// `PROXY logs: …`: the proxy should have logged a matching line.
    Logs(String, JsonPattern),
    /// `PROXY has stored …`: the proxy has stored these values in another connection.
    HasStored(ValuesOf, JsonPattern),
    /// `PROXY stores: …`: by now, the proxy should have stored matching values.
    Stores(ValuesOf, JsonPattern),
}

/// Which stored values are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuesOf {
    /// The id of the proxy.
    pub proxy: String,
    /// The folder of the project; `None` for the values of the user.
    pub folder: Option<String>,
}

/// A message that an end sends or receives.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// The kind of the message.
    pub kind: Kind,
    /// The transcript's name of the request, or of the request that an answer or a cancellation belongs to.
    pub name: Option<String>,
    /// The `params`, the `result` or the `error`. `None` matches any body.
    pub body: Option<JsonPattern>,
}

/// The kind of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A request of this method.
    Request(String),
    /// A notification of this method.
    Notification(String),
    /// An answer with a result.
    Result,
    /// An answer with an error.
    Error,
    /// A `$/cancel_request`.
    Cancel,
}

/// A call by the agent to an MCP server in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The transcript's name of the request.
    pub name: String,
    /// The name of the server.
    pub server: String,
    /// The MCP method.
    pub method: String,
    /// The parameters of the MCP method.
    pub params: JsonPattern,
}
