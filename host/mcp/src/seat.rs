//! The adapter between the callers of one MCP server and its provider.
//!
//! A seat does no input or output: it maps each [`Input`] to [`Output`]s, in order. Invariants: every [`Asked`] gets
//! exactly one [`Output::Answer`], unless it was [cancelled](Input::Withdrawn), and then at most one; every
//! [`Question`] gets exactly one [`Input::Answered`], even if it was cancelled, or the provider is closed (then an
//! error).
//!
//! There are two dialects. In the dialect of the RFD (mcp-over-acp) a caller connects (`mcp/connect` → `connectionId`),
//! and both sides send requests and notifications on the connection. In the stateless dialect (schema 1.15) a caller
//! sends requests that stand alone, each with a `requestId`, and the provider may send notifications that belong to an
//! open request. A caller's message of either dialect becomes a [`CallerRequest`] or a notification on a connection,
//! which the adapter for the kind of provider handles.

use std::collections::HashSet;
use std::sync::Arc;

use super::component::channel::{FromComponent, ToComponent};
use super::mirrored::Mirrored;
use super::protocol::{self, TOKEN, invalid, no_method};
use super::wire::{self, Said};
use super::{Asked, ConnectionId, Question};
use acp_chain_rpc::{Error, Id, Message, member};

/// The MCP client that sends a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// A client that has connected.
    Connection(ConnectionId),
    /// A request that stands alone, by its `requestId`.
    Request(Arc<str>),
}

/// An MCP request of a caller. The answer is MCP's result or error.
#[derive(Clone, Debug)]
pub struct CallerRequest<'a> {
    pub ask: Asked,
    pub caller: Caller,
    /// The caller's id of the request, if it is valid and not too long. MCP uses it as the `subscriptionId`, and in
    /// `notifications/cancelled`.
    pub id: Option<Id>,
    pub said: Said<'a>,
    /// Whether the caller can begin with `initialize` instead. Such a caller gets the error of a provider that does not
    /// support 2026-07-28.
    pub falls_back: bool,
}

impl CallerRequest<'_> {
    pub(crate) fn into_owned(self) -> CallerRequest<'static> {
        CallerRequest {
            ask: self.ask,
            caller: self.caller,
            id: self.id,
            said: self.said.into_owned(),
            falls_back: self.falls_back,
        }
    }
}

/// An input of a seat. `params` are JSON text; `meta` is the `_meta` of the ACP message, an object.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A caller connects. The answer has the `connectionId`, or is an error.
    Connect {
        ask: Asked,
        connection: ConnectionId,
        meta: Option<&'a str>,
    },
    /// A caller disconnects. Its open requests were cancelled before.
    Disconnect {
        /// Must be answered with `{}`, if present.
        ask: Option<Asked>,
        connection: ConnectionId,
        meta: Option<&'a str>,
    },
    /// A caller sends an MCP request.
    Request(CallerRequest<'a>),
    /// A caller sends an MCP notification on its connection.
    Notification {
        connection: ConnectionId,
        said: Said<'a>,
    },
    /// A request is cancelled.
    Withdrawn { ask: Asked },
    /// The answer to a request of the seat.
    Answered {
        question: Question,
        /// For [`Output::AskProvider`] the provider's ACP result or error; for [`Output::AskCaller`] MCP's.
        outcome: Message,
    },
    /// The provider sent the ACP request `mcp/message`. The answer is ACP's.
    ProviderRequest { ask: Asked, params: &'a str },
    /// The provider sent the ACP notification `mcp/message`.
    ProviderNotification { params: &'a str },
    /// The server was closed with its session, and its callers were notified. The seat closes the connections that it
    /// made itself.
    Over,
    /// The provider was restarted, and lost its connections and the requests of both sides. The open requests at the
    /// provider fail with -33002, and are not cancelled there. For a component this does nothing: its calls are
    /// answered when it fails, and its lists are requested again after [`FromComponent::Changed`].
    ProviderLost {
        /// The seat's requests that have not been delivered yet, and will be.
        waiting: &'a HashSet<Question>,
    },
    /// A message from the component that is the provider.
    Component(FromComponent<'a>),
}

/// An output of a seat. Texts are JSON.
#[derive(Clone, Debug)]
pub enum Output {
    /// Answers a request.
    Answer {
        ask: Asked,
        outcome: Message,
        /// The `_meta` of the provider's ACP answer (stateless dialect).
        meta: Option<String>,
        /// Whether `outcome` is the error of the provider's ACP answer, not an MCP outcome in its result.
        outer: bool,
    },
    /// Sends an ACP request to the provider.
    AskProvider {
        question: Question,
        /// `mcp/connect`, `mcp/message` or `mcp/disconnect`.
        method: &'static str,
        params: String,
    },
    /// Sends the ACP notification `mcp/message` to the provider.
    TellProvider { params: String },
    /// Sends an MCP request to a caller on its connection.
    AskCaller {
        question: Question,
        connection: ConnectionId,
        said: Said<'static>,
    },
    /// Sends an MCP notification to a caller. A [`Caller::Request`] must be open.
    TellCaller { caller: Caller, said: Said<'static> },
    /// Cancels a request of the seat. It must still be answered.
    Withdraw { question: Question },
    /// Notifies the user, once. The text is a sentence.
    Notice { text: String },
    /// A notification was dropped, for this reason.
    Drop { why: String },
    /// Sends a request to the component that is the provider.
    Component {
        question: Question,
        asks: ToComponent,
    },
}

/// The outputs of a seat, in order.
#[derive(Debug, Default)]
pub(crate) struct Outputs(Vec<Output>);

impl Outputs {
    pub fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.0)
    }

    pub fn push(&mut self, output: Output) {
        self.0.push(output);
    }

    pub fn answer(&mut self, ask: Asked, outcome: Message) {
        self.push(Output::Answer {
            ask,
            outcome,
            meta: None,
            outer: false,
        });
    }

    pub fn result(&mut self, ask: Asked, result: &str) {
        self.answer(ask, Message::result(result));
    }

    pub fn fail(&mut self, ask: Asked, error: &Error) {
        self.answer(ask, Message::error(error));
    }

    /// Answers a request with the error, if there is one. Otherwise the request has been or will be answered.
    pub fn settle(&mut self, ask: Asked, done: Result<(), Error>) {
        if let Err(error) = done {
            self.fail(ask, &error);
        }
    }

    /// Answers with `{}`, if an answer is expected.
    pub fn done(&mut self, ask: Option<Asked>) {
        if let Some(ask) = ask {
            self.result(ask, "{}");
        }
    }

    pub fn ask_provider(&mut self, question: Question, method: &'static str, params: String) {
        self.push(Output::AskProvider {
            question,
            method,
            params,
        });
    }

    pub fn ask_caller(
        &mut self,
        question: Question,
        connection: ConnectionId,
        said: Said<'static>,
    ) {
        self.push(Output::AskCaller {
            question,
            connection,
            said,
        });
    }

    pub fn tell_caller(&mut self, caller: Caller, said: Said<'static>) {
        self.push(Output::TellCaller { caller, said });
    }

    pub fn withdraw(&mut self, question: Question) {
        self.push(Output::Withdraw { question });
    }
}

/// The adapter between the callers of one server and its provider.
pub trait Seat: Send {
    /// Handles an input. Returns the outputs in order.
    fn take(&mut self, input: Input) -> Vec<Output>;

    /// How many bytes of peers' messages it keeps.
    fn weight(&self) -> usize;

    /// Checks that the headers of a `tools/call` over HTTP match its params. Only the server of a component can check
    /// this.
    fn check_headers(&self, params: &str, headers: &Mirrored) -> Result<(), Error> {
        let _ = (params, headers);
        Ok(())
    }

    /// Whether one of the provider's ids is that of an open connection, or of an open request that stands alone. A seat
    /// has only one of the two.
    fn has(&self, connection: Option<&str>, request: Option<&str>) -> bool {
        let _ = (connection, request);
        false
    }

    /// Whether a caller is connected or connecting. `false` once a restart of the provider has closed the connection.
    fn has_caller(&self, connection: ConnectionId) -> bool {
        let _ = connection;
        false
    }
}

/// Handles inputs for one kind of provider. A returned error answers the request.
pub(crate) trait Adapter {
    fn outputs(&mut self) -> &mut Outputs;

    fn connect(&mut self, ask: Asked, id: ConnectionId, meta: Option<&str>) -> Result<(), Error>;

    fn disconnect(&mut self, ask: Option<Asked>, id: ConnectionId, meta: Option<&str>);

    fn request(&mut self, request: CallerRequest) -> Result<(), Error>;

    /// A notification other than `notifications/cancelled`.
    fn notification(&mut self, connection: ConnectionId, said: Said);

    /// The open request with this id on a connection.
    fn named(&self, connection: ConnectionId, id: &Id) -> Option<Asked>;

    fn withdraw(&mut self, ask: Asked);

    fn answered(&mut self, question: Question, outcome: Message);

    fn provider_asks(&mut self, _ask: Asked, _params: &str) -> Result<(), Error> {
        Err(no_method("mcp/message"))
    }

    fn provider_tells(&mut self, _params: &str) {}

    fn over(&mut self) {}

    fn provider_lost(&mut self, _waiting: &HashSet<Question>) {}

    fn component(&mut self, _says: FromComponent) {}
}

/// Passes an input to an adapter. Returns the outputs.
pub(crate) fn dispatch(adapter: &mut impl Adapter, input: Input) -> Vec<Output> {
    match input {
        Input::Connect {
            ask,
            connection,
            meta,
        } => {
            let done = adapter.connect(ask, connection, meta);
            adapter.outputs().settle(ask, done);
        }
        Input::Disconnect {
            ask,
            connection,
            meta,
        } => adapter.disconnect(ask, connection, meta),
        Input::Request(request) => {
            let ask = request.ask;
            let done = check_id(&request.caller).and_then(|()| adapter.request(request));
            adapter.outputs().settle(ask, done);
        }
        Input::Notification { connection, said } if said.method == protocol::CANCELLED => {
            let id = said.params().and_then(|params| member(params, "requestId"));
            let ask = protocol::token(id).and_then(|id| adapter.named(connection, &id));
            if let Some(ask) = ask {
                adapter.withdraw(ask);
            }
        }
        Input::Notification { connection, said } => adapter.notification(connection, said),
        Input::Withdrawn { ask } => adapter.withdraw(ask),
        Input::Answered { question, outcome } => adapter.answered(question, outcome),
        Input::ProviderRequest { ask, params } => {
            let done = adapter.provider_asks(ask, params);
            adapter.outputs().settle(ask, done);
        }
        Input::ProviderNotification { params } => adapter.provider_tells(params),
        Input::Over => adapter.over(),
        Input::ProviderLost { waiting } => adapter.provider_lost(waiting),
        Input::Component(says) => adapter.component(says),
    }
    adapter.outputs().take()
}

/// Checks the length of a `requestId`.
fn check_id(caller: &Caller) -> Result<(), Error> {
    match caller {
        Caller::Request(id) if id.len() > TOKEN => Err(invalid(format!(
            "The requestId is longer than {TOKEN} bytes"
        ))),
        _ => Ok(()),
    }
}

/// The answer to [`Input::Connect`], with the `_meta` of the provider's answer.
pub(crate) fn connected(connection: ConnectionId, meta: Option<&str>) -> Message {
    let connection = wire::own(connection);
    let members = [("connectionId", Some(&*connection)), ("_meta", meta)];
    Message::result(&protocol::object(&members))
}
