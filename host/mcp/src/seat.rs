//! The part between the callers of one MCP server and its provider.
//!
//! A seat does no input or output: an [`Input`] goes in, [`Output`]s come out, in order. Invariants: every [`Asked`]
//! gets exactly one [`Output::Answer`], unless it was [cancelled](Input::Withdrawn), and then at most one; every
//! [`Question`] gets exactly one [`Input::Answered`], even when it was cancelled or the provider is gone (an error
//! then).
//!
//! There are two dialects. In that of the RFD (mcp-over-acp) a caller connects (`mcp/connect` → `connectionId`), and
//! requests and notifications flow both ways on the connection. In the stateless one (schema 1.15) a caller sends
//! requests that stand alone, each with a `requestId`, and the provider may send notifications that belong to an open
//! request. In both, a caller's message arrives here in one form, a [`CallerRequest`] or a notification on a
//! connection; the adapter to the provider decides how to handle it.

use std::collections::HashSet;
use std::sync::Arc;

use super::component::channel::{FromComponent, ToComponent};
use super::mirrored::Mirrored;
use super::protocol::{self, TOKEN, invalid, no_method};
use super::wire::{self, Said};
use super::{Asked, ConnectionId, Question};
use acp_chain_rpc::{Error, Id, Message, member};

/// The MCP client of the agent that sends a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// One that has connected.
    Connection(ConnectionId),
    /// A request that stands alone, by its `requestId`.
    Request(Arc<str>),
}

/// An MCP request of a caller. Its answer is MCP's result or error.
#[derive(Clone, Debug)]
pub struct CallerRequest<'a> {
    /// To be answered.
    pub ask: Asked,
    /// Who asks.
    pub caller: Caller,
    /// The caller's id of the request, if it is valid and not too long. MCP uses it as the `subscriptionId`, and
    /// `notifications/cancelled` names it.
    pub id: Option<Id>,
    /// The MCP request.
    pub said: Said<'a>,
    /// Whether the caller can begin with `initialize` instead. Then it gets the error of a provider that does not
    /// support its version.
    pub falls_back: bool,
}

impl CallerRequest<'_> {
    /// The same, to be kept.
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
    /// A caller wants to connect. The answer has the `connectionId`, or is an error.
    Connect {
        /// To be answered.
        ask: Asked,
        /// Its future connection.
        connection: ConnectionId,
        /// Of the ACP message.
        meta: Option<&'a str>,
    },
    /// A caller is gone. Its open requests were cancelled before.
    Disconnect {
        /// To be answered with `{}`, if somebody waits for it.
        ask: Option<Asked>,
        /// The ended connection.
        connection: ConnectionId,
        /// Of the ACP message.
        meta: Option<&'a str>,
    },
    /// A caller asks.
    Request(CallerRequest<'a>),
    /// An MCP notification of a caller that has connected.
    Notification {
        /// The caller.
        connection: ConnectionId,
        /// The MCP notification.
        said: Said<'a>,
    },
    /// Nobody waits for the answer to a request any more.
    Withdrawn {
        /// The request.
        ask: Asked,
    },
    /// The answer to a question of the seat.
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
    /// The server ended with its session, and its callers were told: connections that the seat made for itself must
    /// be closed.
    Over,
    /// The provider was restarted, and lost its connections, and the requests of both sides. Whatever is open with it
    /// fails with -33002, without telling it. For a component this does nothing: its calls are answered when it
    /// breaks, and its lists are requested again after [`FromComponent::Changed`].
    ProviderLost {
        /// The questions that have not reached it yet, and still will.
        waiting: &'a HashSet<Question>,
    },
    /// A message from the component, if one is the provider.
    Component(FromComponent<'a>),
}

/// An output of a seat. Texts are JSON.
#[derive(Clone, Debug)]
pub enum Output {
    /// The answer to a request.
    Answer {
        /// The request.
        ask: Asked,
        /// A result or an error.
        outcome: Message,
        /// The `_meta` of the provider's ACP answer, around MCP's outcome (stateless dialect).
        meta: Option<String>,
        /// Whether that answer was itself this error, and carried no MCP outcome.
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
        /// The caller's connection.
        connection: ConnectionId,
        /// The request.
        said: Said<'static>,
    },
    /// Sends an MCP notification to a caller. If it is a [`Caller::Request`], it must be open.
    TellCaller {
        /// The caller's connection.
        caller: Caller,
        /// The notification.
        said: Said<'static>,
    },
    /// Withdraws a question. Its answer still comes.
    Withdraw {
        /// The question.
        question: Question,
    },
    /// Tells the user something, once.
    Notice {
        /// The sentence.
        text: String,
    },
    /// Drops something to which no answer is due.
    Drop {
        /// What, and why.
        why: String,
    },
    /// Asks the component, if one is the provider.
    Component {
        /// The seat's number for it.
        question: Question,
        /// The request.
        asks: ToComponent,
    },
}

/// The outputs of a seat, in order.
#[derive(Debug, Default)]
pub(crate) struct Outputs(Vec<Output>);

impl Outputs {
    /// Takes all of them.
    pub fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.0)
    }

    pub fn push(&mut self, output: Output) {
        self.0.push(output);
    }

    /// The outcome of a request.
    pub fn answer(&mut self, ask: Asked, outcome: Message) {
        self.push(Output::Answer {
            ask,
            outcome,
            meta: None,
            outer: false,
        });
    }

    /// The result of a request.
    pub fn result(&mut self, ask: Asked, result: &str) {
        self.answer(ask, Message::result(result));
    }

    /// A request failed.
    pub fn fail(&mut self, ask: Asked, error: &Error) {
        self.answer(ask, Message::error(error));
    }

    /// Fails a request if it failed. Otherwise its answer has come or will come.
    pub fn settle(&mut self, ask: Asked, done: Result<(), Error>) {
        if let Err(error) = done {
            self.fail(ask, &error);
        }
    }

    /// Answers with success, if somebody waits for it.
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

/// The part between the callers of one server and its provider.
pub trait Seat: Send {
    /// Handles an input, and returns the outputs, in order.
    fn take(&mut self, input: Input) -> Vec<Output>;

    /// How many bytes of others' messages it keeps.
    fn weight(&self) -> usize;

    /// Whether the headers of a `tools/call` over HTTP match its params. Only the server of a component knows.
    fn check_headers(&self, params: &str, headers: &Mirrored) -> Result<(), Error> {
        let _ = (params, headers);
        Ok(())
    }

    /// Whether the provider's ids belong to something open here: a connection, or a request that stands alone. A seat
    /// has only one of the two.
    fn has(&self, connection: Option<&str>, request: Option<&str>) -> bool {
        let _ = (connection, request);
        false
    }

    /// Whether a caller is connected, or about to be. A restart of the provider may end that.
    fn has_caller(&self, connection: ConnectionId) -> bool {
        let _ = connection;
        false
    }
}

/// Handles inputs for one kind of provider. An error is the answer to the request.
pub(crate) trait Adapter {
    /// Where its outputs go.
    fn outputs(&mut self) -> &mut Outputs;

    fn connect(&mut self, ask: Asked, id: ConnectionId, meta: Option<&str>) -> Result<(), Error>;

    fn disconnect(&mut self, ask: Option<Asked>, id: ConnectionId, meta: Option<&str>);

    fn request(&mut self, request: CallerRequest) -> Result<(), Error>;

    /// A notification other than `notifications/cancelled`.
    fn notification(&mut self, connection: ConnectionId, said: Said);

    /// The open request with this id of the caller on a connection.
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

/// Hands an input to an adapter, and returns its outputs.
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

/// Checks the id of a request that stands alone.
fn check_id(caller: &Caller) -> Result<(), Error> {
    match caller {
        Caller::Request(id) if id.len() > TOKEN => Err(invalid(format!(
            "The requestId is longer than {TOKEN} bytes"
        ))),
        _ => Ok(()),
    }
}

/// The answer to [`Input::Connect`], with the `_meta` of the provider's.
pub(crate) fn connected(connection: ConnectionId, meta: Option<&str>) -> Message {
    let connection = wire::own(connection);
    let members = [("connectionId", Some(&*connection)), ("_meta", meta)];
    Message::result(&protocol::object(&members))
}
