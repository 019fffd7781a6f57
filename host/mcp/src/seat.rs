//! The seat of one MCP server: between its callers and its provider.
//!
//! A seat does no input or output: it maps each [`Input`] to [`Output`]s, in order. Invariants: every [`IncomingId`]
//! gets exactly one [`Output::Answer`], unless it was [cancelled](Input::Withdrawn), and then at most one; every
//! [`OutgoingId`] gets exactly one [`Input::Answered`], even if it was cancelled, or the provider is closed (then an
//! error).
//!
//! There are two dialects. In the dialect of the RFD (mcp-over-acp) a caller connects (`mcp/connect` → `connectionId`),
//! and both sides send requests and notifications on the connection. In the stateless dialect (schema 1.15) a caller
//! sends requests that stand alone, each with a `requestId`, and the provider may send notifications that belong to an
//! open request. A caller's message of either dialect becomes a [`CallerRequest`] or a notification on a connection.

use std::collections::HashSet;
use std::sync::Arc;

use super::component::channel::{FromComponent, ToComponent};
use super::param_headers::ParamHeaders;
use super::protocol;
use super::wire::{self, McpMessage};
use super::{ConnectionId, IncomingId, OutgoingId};
use acp_chain_rpc::{Error, Id, Message};

/// The MCP client that sends a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// A client that has connected.
    Connection(ConnectionId),
    /// A request that stands alone, by its `requestId`, which is not too long.
    Request(Arc<str>),
}

/// An MCP request of a caller. The answer is MCP's result or error.
#[derive(Clone, Debug)]
pub struct CallerRequest {
    pub ask: IncomingId,
    pub caller: Caller,
    /// The caller's id of the request, if it is valid and not too long. MCP uses it as the `subscriptionId`.
    pub id: Option<Id>,
    pub said: McpMessage,
    /// Whether the caller can begin with `initialize` instead. Such a caller gets the error of a provider that does not
    /// support 2026-07-28.
    pub falls_back: bool,
}

/// An input of a seat. `meta` is the `_meta` of the ACP message: an object, as JSON text.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A caller connects. The answer has the `connectionId`, or is an error.
    Connect {
        ask: IncomingId,
        connection: ConnectionId,
        meta: Option<&'a str>,
    },
    /// A caller disconnects. Its open requests were cancelled before.
    Disconnect {
        /// Must be answered with `{}`, if present.
        ask: Option<IncomingId>,
        connection: ConnectionId,
        meta: Option<&'a str>,
    },
    /// A caller sends an MCP request.
    Request(CallerRequest),
    /// A caller sends an MCP notification on its connection. Of `notifications/cancelled`, the seat gets
    /// [`Input::Withdrawn`] instead.
    Notification {
        connection: ConnectionId,
        said: McpMessage,
    },
    /// A request is cancelled.
    Withdrawn { ask: IncomingId },
    /// The answer to a request of the seat.
    Answered {
        question: OutgoingId,
        /// For [`Output::Provider`] the provider's ACP result or error; for [`Output::AskCaller`] MCP's.
        outcome: Message,
    },
    /// The provider sent the ACP request `mcp/message`. The answer is ACP's.
    ProviderRequest {
        ask: IncomingId,
        message: &'a Message,
    },
    /// The provider sent the ACP notification `mcp/message`.
    ProviderNotification { message: &'a Message },
    /// The server was closed with its session, and its callers were notified. The seat closes the connections that it
    /// made itself.
    Over,
    /// The provider was restarted, and lost its connections and the requests of both sides. The open requests at the
    /// provider fail with -33002, and are not cancelled there. For a component this does nothing: its calls are
    /// answered when it fails, and its lists are requested again after [`FromComponent::Changed`].
    ProviderLost {
        /// The seat's requests that have not been delivered yet, and will be.
        waiting: &'a HashSet<OutgoingId>,
    },
    /// A message from the component that is the provider.
    Component(FromComponent<'a>),
}

/// An output of a seat. Texts are JSON.
#[derive(Clone, Debug)]
pub enum Output {
    /// Answers a request.
    Answer {
        ask: IncomingId,
        outcome: Message,
        /// The `_meta` of the provider's ACP answer (stateless dialect).
        meta: Option<String>,
        /// Whether `outcome` is the error of the provider's ACP answer, not an MCP outcome in its result.
        outer: bool,
    },
    /// Sends the provider an ACP message: `mcp/connect`, `mcp/message` or `mcp/disconnect`. A request has a number.
    Provider(Option<OutgoingId>, Message),
    /// Sends an MCP request to a caller on its connection.
    AskCaller {
        question: OutgoingId,
        connection: ConnectionId,
        said: McpMessage,
    },
    /// Sends an MCP notification to a caller. A [`Caller::Request`] must be open.
    TellCaller {
        caller: Caller,
        /// The caller's request that it belongs to, if it belongs to one.
        of: Option<IncomingId>,
        said: McpMessage,
    },
    /// Cancels a request of the seat. It must still be answered.
    Withdraw { question: OutgoingId },
    /// Notifies the user, once. The text is a sentence.
    Notice { text: String },
    /// A notification was dropped, for this reason.
    Drop { why: String },
    /// Sends a request to the component that is the provider.
    Component {
        question: OutgoingId,
        asks: ToComponent,
    },
}

/// Between the callers of one server and its provider.
pub trait Seat: Send {
    /// Handles an input. Returns the outputs in order.
    fn take(&mut self, input: Input) -> Vec<Output>;

    /// Checks that the headers of a `tools/call` over HTTP match its params. Only the server of a component can check
    /// this.
    fn check_headers(&self, _params: &str, _headers: &ParamHeaders) -> Result<(), Error> {
        Ok(())
    }

    /// Whether one of the provider's ids is that of an open connection, or of an open request that stands alone. A seat
    /// has only one of the two.
    fn has(&self, connection: Option<&str>, request: Option<&str>) -> bool;

    /// Whether a caller is connected or connecting. `false` once a restart of the provider has closed the connection.
    fn has_caller(&self, connection: ConnectionId) -> bool;
}

/// The answer to [`Input::Connect`], with the `_meta` of the provider's answer.
pub(crate) fn connected(connection: ConnectionId, meta: Option<&str>) -> Message {
    let connection = wire::own(connection);
    let members = [("connectionId", Some(&*connection)), ("_meta", meta)];
    Message::result(&protocol::object(&members))
}

/// The outputs of a seat, in order, and the number of its last request.
#[derive(Debug, Default)]
pub struct Outputs {
    all: Vec<Output>,
    pub last: OutgoingId,
}

impl Outputs {
    pub fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.all)
    }

    pub fn push(&mut self, output: Output) {
        self.all.push(output);
    }

    /// A number for a request of the seat.
    pub fn number(&mut self) -> OutgoingId {
        self.last += 1;
        self.last
    }

    pub fn answer(&mut self, ask: IncomingId, outcome: Message) {
        self.push(Output::Answer {
            ask,
            outcome,
            meta: None,
            outer: false,
        });
    }

    pub fn result(&mut self, ask: IncomingId, result: &str) {
        self.answer(ask, Message::result(result));
    }

    pub fn fail(&mut self, ask: IncomingId, error: &Error) {
        self.answer(ask, Message::error(error));
    }

    /// Answers a request with the error, if there is one. Otherwise the request has been or will be answered.
    pub fn settle(&mut self, ask: IncomingId, done: Result<(), Error>) {
        if let Err(error) = done {
            self.fail(ask, &error);
        }
    }

    /// Answers with `{}`, if an answer is expected.
    pub fn done(&mut self, ask: Option<IncomingId>) {
        if let Some(ask) = ask {
            self.result(ask, "{}");
        }
    }

    /// Sends the provider an ACP request.
    pub fn ask_provider(&mut self, question: OutgoingId, method: &str, params: &str) {
        let message = Message::request(method, params);
        self.push(Output::Provider(Some(question), message));
    }

    pub fn ask_caller(&mut self, question: OutgoingId, connection: ConnectionId, said: McpMessage) {
        self.push(Output::AskCaller {
            question,
            connection,
            said,
        });
    }

    /// Sends a notification to a caller. `of` is the request that it belongs to.
    pub fn tell_caller(&mut self, caller: Caller, of: Option<IncomingId>, said: McpMessage) {
        self.push(Output::TellCaller { caller, of, said });
    }

    pub fn withdraw(&mut self, question: OutgoingId) {
        self.push(Output::Withdraw { question });
    }
}
