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
//! `requestId`, and the provider may send notifications that belong to an open request. In either, what
//! a caller says comes here as one thing, a [`CallerRequest`] or a notification on a connection; what
//! becomes of it is the business of the adapter to the provider.

use std::sync::Arc;

use super::component::{ComponentProvider, FromComponent, ToComponent};
use super::protocol::{self, no_method};
use super::wire::Said;
use acp_chain_rpc::{Error, Id, Message, member};

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

/// An MCP request of a caller. Its answer is MCP's result or error.
#[derive(Clone, Debug)]
pub struct CallerRequest<'a> {
    /// To be answered.
    pub ask: Asked,
    /// Who asks.
    pub caller: Caller,
    /// The id that the request has for its caller, if that is one and not too long. It is what MCP
    /// calls the `subscriptionId`, and what `notifications/cancelled` names.
    pub id: Option<Id>,
    /// What is asked.
    pub said: Said<'a>,
    /// Whether who asks can begin with `initialize` instead. Then it hears itself from a provider
    /// that does not know its version.
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

/// What comes to a seat. `params` are JSON text; `meta` is the `_meta` of the ACP message, an object.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A caller wants to connect. The answer has the `connectionId`, or is an error.
    Connect {
        /// To be answered.
        ask: Asked,
        /// The connection that it will be.
        connection: ConnectionId,
        /// Of the ACP message.
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
    /// A caller asks.
    Request(CallerRequest<'a>),
    /// An MCP notification of a caller that has connected.
    Notification {
        /// Who tells.
        connection: ConnectionId,
        /// What is told.
        said: Said<'a>,
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
    /// are asked for again after [`FromComponent::Changed`].
    ProviderLost,
    /// The component says something, if one is the provider.
    Component(FromComponent<'a>),
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
        /// What it is asked.
        said: Said<'static>,
    },
    /// Sends an MCP notification to a caller. One of a [`Caller::Request`] has to be open.
    TellCaller {
        /// Whom.
        caller: Caller,
        /// What it is told.
        said: Said<'static>,
    },
    /// Withdraws a question. Its answer still comes.
    Withdraw {
        /// The question.
        question: Question,
    },
    /// Tells the user something, if it was not told before.
    Notice {
        /// A sentence.
        text: String,
    },
    /// Asks the component, if one is the provider.
    Component {
        /// The seat's number for it.
        question: Question,
        /// What it is asked.
        asks: ToComponent,
    },
}

/// What a seat wants to be done, in order.
#[derive(Debug, Default)]
pub(crate) struct Outputs(Vec<Output>);

impl Outputs {
    /// All that there is; none of it is left.
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

    /// Answers a request with why it failed, if it did. Else its answer came or will come.
    pub fn settle(&mut self, ask: Asked, done: Result<(), Error>) {
        if let Err(error) = done {
            self.fail(ask, &error);
        }
    }

    /// All is well, if somebody waits to hear it.
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

/// What stands between the callers of one server and its provider.
pub trait Seat: Send {
    /// Takes something in, and says what is to be done, in order.
    fn take(&mut self, input: Input) -> Vec<Output>;

    /// What it keeps of what others said, in bytes.
    fn weight(&self) -> usize;

    /// The server of a component, if it is one.
    fn as_component(&self) -> Option<&ComponentProvider> {
        None
    }

    /// Whether the provider knows by these ids something that is open here: a connection, or a
    /// request that stands alone. Of both a seat knows but one.
    fn has(&self, connection: Option<&str>, request: Option<&str>) -> bool {
        let _ = (connection, request);
        false
    }
}

/// What a kind of provider makes of each input. An error is the answer to the request.
pub(crate) trait Adapter {
    /// Where it says what is to be done.
    fn outputs(&mut self) -> &mut Outputs;

    fn connect(&mut self, ask: Asked, id: ConnectionId, meta: Option<&str>) -> Result<(), Error>;

    fn disconnect(&mut self, ask: Option<Asked>, id: ConnectionId, meta: Option<&str>);

    fn request(&mut self, request: CallerRequest) -> Result<(), Error>;

    /// A notification, but for `notifications/cancelled`.
    fn notification(&mut self, connection: ConnectionId, said: Said);

    /// The open request that has this id for the caller on a connection.
    fn named(&self, connection: ConnectionId, id: &Id) -> Option<Asked>;

    fn withdraw(&mut self, ask: Asked);

    fn answered(&mut self, question: Question, outcome: Message);

    fn provider_asks(&mut self, _ask: Asked, _params: &str) -> Result<(), Error> {
        Err(no_method("mcp/message"))
    }

    fn provider_tells(&mut self, _params: &str) {}

    fn over(&mut self) {}

    fn provider_lost(&mut self) {}

    fn component(&mut self, _says: FromComponent) {}
}

/// Hands an input to an adapter, and gives what that wants to be done.
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
            let carried = protocol::is_carried(&request.caller);
            let done = carried.and_then(|()| adapter.request(request));
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
        Input::ProviderLost => adapter.provider_lost(),
        Input::Component(says) => adapter.component(says),
    }
    adapter.outputs().take()
}

/// The answer to [`Input::Connect`], with the `_meta` of the provider's.
pub(crate) fn connected(connection: ConnectionId, meta: Option<&str>) -> Message {
    let connection = format!("\"{connection}\"");
    let members = [("connectionId", Some(&*connection)), ("_meta", meta)];
    Message::result(&protocol::object(&members))
}
