//! What stands between the callers of one MCP server and whoever provides it.
//!
//! A seat does no input or output: an [`Input`] goes in, [`Output`]s come out, in order. What always
//! holds: every [`Asked`] gets exactly one [`Output::Answer`], unless it was
//! [withdrawn](Input::Withdrawn), and then at most one; every [`Question`] gets exactly one
//! [`Input::Answered`], also when it was withdrawn or the provider is gone (an error then).
//!
//! There are two dialects. In that of the RFD (mcp-over-acp) a caller connects
//! (`mcp/connect` → `connectionId`), and requests and notifications flow both ways on the connection.
//! In the stateless one (schema 1.15) a caller sends requests that stand alone, each with a
//! `requestId`, and the provider may send notifications that belong to an open request.

use std::sync::Arc;

use super::mirrored::Mirrored;
use acp_chain_channel::{Change, Offer};
use acp_chain_rpc::{Error, Message};

/// The number of a request that came in and is to be answered.
pub type Asked = u64;

/// The number that a seat gives to a request of its own. Never used twice by one seat.
pub type Question = u64;

/// The host's number of a connection. Never used twice.
pub type ConnectionId = u64;

/// Which MCP client of the agent's speaks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// One that has connected.
    Connection(ConnectionId),
    /// A request that stands alone, by its `requestId`.
    Request(Arc<str>),
}

/// What comes to a seat. `params` are JSON text, `None` where there are none or `null`.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A caller wants to connect. The answer is [`connected`], or an error.
    Connect {
        /// To be answered.
        ask: Asked,
        /// The connection that it will be.
        connection: ConnectionId,
        /// The `_meta` of the ACP message, as with all that follow: an object.
        meta: Option<&'a str>,
    },
    /// A caller is gone. Its open requests were withdrawn before.
    Disconnect {
        /// To be answered with `{}`, if somebody waits for it.
        ask: Option<Asked>,
        /// The connection that is over.
        connection: ConnectionId,
        /// Of the ACP message.
        meta: Option<&'a str>,
    },
    /// An MCP request of a caller. Its answer is MCP's result or error.
    Request {
        /// To be answered.
        ask: Asked,
        /// Who asks.
        caller: Caller,
        /// The id that the request has for its caller: JSON text, a number or a string. It is what
        /// MCP calls the `subscriptionId`, and what `notifications/cancelled` names.
        id: &'a str,
        /// MCP's method.
        method: &'a str,
        /// MCP's parameters.
        params: Option<&'a str>,
        /// Whether who asks can begin with `initialize` instead. Then it hears itself from a provider
        /// that does not know its version.
        falls_back: bool,
        /// Of the ACP message.
        meta: Option<&'a str>,
    },
    /// An MCP notification of a caller that has connected.
    Notification {
        /// Who tells.
        connection: ConnectionId,
        /// MCP's method.
        method: &'a str,
        /// MCP's parameters.
        params: Option<&'a str>,
        /// Of the ACP message.
        meta: Option<&'a str>,
    },
    /// Nobody waits any more for the answer to a request.
    Withdrawn {
        /// The request.
        ask: Asked,
    },
    /// The answer to a question of the seat's own.
    Answered {
        /// The question.
        question: Question,
        /// A result or an error. For [`Output::AskProvider`] it is the provider's ACP answer; for
        /// [`Output::AskCaller`] MCP's.
        outcome: Message,
    },
    /// The provider sent the request `mcp/message`, with these params. Its answer is that of ACP.
    ProviderRequest {
        /// To be answered.
        ask: Asked,
        /// The params of the ACP request.
        params: &'a str,
    },
    /// The provider sent the notification `mcp/message`, with these params.
    ProviderNotification {
        /// The params of the ACP notification.
        params: &'a str,
    },
    /// The server went with its session, and whoever asked it was told: connections that the seat made
    /// for itself are to be closed.
    Over,
    /// The provider was started again, and knows nothing any more of what it had: connections, and
    /// requests of either side. Whatever is open with it fails with -33002, and it is told nothing
    /// of that. For a component it means nothing: its calls are answered as it breaks, and its lists
    /// are asked for again after [`Input::Changed`].
    ProviderLost,
    /// (Components only.) Something that it has has changed, or may have.
    Changed(&'a Change),
    /// (Components only.) The component asks the client of a call.
    Asks {
        /// The question that is the call.
        call: Question,
        /// What it asks, all at once.
        asks: Vec<Ask>,
    },
    /// (Components only.) How far a call has come.
    Progress {
        /// The question that is the call.
        question: Question,
        /// Grows with every report.
        progress: f64,
        /// What it reaches in the end, if that is known.
        total: Option<f64>,
        /// For people.
        message: Option<&'a str>,
    },
}

/// Something that a component asks the client of a call. Its answer is MCP's result or error.
#[derive(Clone, Debug)]
pub struct Ask {
    /// To be answered.
    pub ask: Asked,
    /// A request of MCP's. Whether the client can answer it was looked at.
    pub message: Message,
}

/// What a seat wants to be done. Texts are JSON.
#[derive(Clone, Debug)]
pub enum Output {
    /// The answer to a request.
    Answer {
        /// The request.
        ask: Asked,
        /// A result or an error.
        outcome: Message,
        /// What the provider's ACP answer had as `_meta` around MCP's outcome (stateless dialect).
        meta: Option<String>,
        /// Whether that answer was itself this error, and carried no outcome of MCP's.
        outer: bool,
    },
    /// Sends the provider an ACP request.
    AskProvider {
        /// The seat's number for it.
        question: Question,
        /// `mcp/connect`, `mcp/message` or `mcp/disconnect`.
        method: &'static str,
        /// The params of the ACP request.
        params: String,
    },
    /// Sends the provider the ACP notification `mcp/message`.
    TellProvider {
        /// The params of the ACP notification.
        params: String,
    },
    /// Sends an MCP request to a caller that has connected.
    AskCaller {
        /// The seat's number for it.
        question: Question,
        /// Whom.
        connection: ConnectionId,
        /// MCP's method.
        method: String,
        /// MCP's parameters.
        params: Option<String>,
        /// Of the ACP message.
        meta: Option<String>,
    },
    /// Sends an MCP notification to a caller. One of a [`Caller::Request`] has to be open.
    TellCaller {
        /// Whom.
        caller: Caller,
        /// MCP's method.
        method: String,
        /// MCP's parameters.
        params: Option<String>,
        /// Of the ACP message.
        meta: Option<String>,
    },
    /// Withdraws a question. Its answer still comes.
    Withdraw {
        /// The question.
        question: Question,
    },
    /// (Components only.) Asks the component what it has of this. The answer is a result of the form
    /// `{"instructions": string | null, "tools": […]}`, with `resources` and `templates`, or
    /// `prompts`, in place of `tools`; nothing is checked in it yet but that it is JSON. Or it is an
    /// error that says why there is none.
    List {
        /// The seat's number for it.
        question: Question,
        /// Of what.
        offer: Offer,
    },
    /// (Components only.) Tells the user something, if it was not told before.
    Notice {
        /// A sentence.
        text: String,
    },
    /// (Components only.) Calls something that the component has. The answer is what the component says
    /// is its result, unchecked but for being JSON; or an error.
    Call {
        /// The seat's number for it.
        question: Question,
        /// MCP's method.
        method: &'static str,
        /// What of MCP's parameters the component gets.
        params: String,
    },
}

/// What stands between the callers of one server and its provider.
pub trait Seat: Send {
    /// Takes something in, and says what is to be done, in order.
    fn take(&mut self, input: Input) -> Vec<Output>;

    /// What it keeps of what others said, in bytes.
    fn weight(&self) -> usize;

    /// Whether the headers of a `tools/call` over HTTP repeat what its params say, as the tool wants it.
    /// Only a server that is ours knows.
    fn check_headers(&self, params: &str, headers: &Mirrored) -> Result<(), Error> {
        let _ = (params, headers);
        Ok(())
    }

    /// Whether the provider knows by these ids something that is open here: a connection, or a
    /// request that stands alone. Of both a seat knows but one.
    fn has(&self, connection: Option<&str>, request: Option<&str>) -> bool {
        let _ = (connection, request);
        false
    }
}

/// The answer to [`Input::Connect`], with the `_meta` of the provider's.
#[must_use]
pub fn connected(connection: ConnectionId, meta: Option<&str>) -> Message {
    let meta = meta.map(|meta| format!(r#","_meta":{meta}"#));
    let meta = meta.unwrap_or_default();
    Message::result(&format!(r#"{{"connectionId":"{connection}"{meta}}}"#))
}
