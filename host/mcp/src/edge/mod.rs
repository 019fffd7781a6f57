//! The edge between the callers of a server and a provider of requests that stand alone.
//!
//! Inside there is only MCP 2026-07-28: a [`Provider`] gets requests that stand alone, and answers them. Requests that
//! stand alone pass, whether or not they arrive on a connection. A client that begins with `initialize` is translated:
//! see `client` for its requests and their results, `subscription` for notifications of changes, and `rounds` for
//! requests to it during a call.
//!
//! Invariant beside those of every [seat](super::seat): a cancelled request is also answered, once.
//!
//! - Requests past [`OPEN`](protocol::OPEN) open ones fail with -33000, and so do calls that are too large together to
//!   keep until they need no retry. The edge's own subscriptions do not count, one for each client that is connected;
//!   those that a provider has not ended after it should have, do.
//! - When a provider outside the host is restarted, clients stay connected. They get no notifications of changes until
//!   their next `resources/subscribe`.

mod client;
mod rounds;
mod subscription;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

pub use self::client::Client;
use self::client::level;
use self::rounds::Round;
use self::subscription::{Changes, Listen};
use super::component::channel::FromComponent;
use super::param_headers::ParamHeaders;
use super::protocol::{self, KEPT, Version, connection_version, invalid, is_object, no_method};
use super::seat::{Caller, CallerRequest, Input, Output, Outputs, Seat, connected};
use super::versions;
use super::wire::McpMessage;
use super::{ConnectionId, IncomingId, OutgoingId};
use acp_chain_channel::limits::{Account, Charge};
use acp_chain_rpc::{Error, Id, Kind, Message, code, member, text_member};

/// A request that stands alone, of MCP 2026-07-28.
#[derive(Clone, Debug)]
pub struct Request {
    pub ask: IncomingId,
    pub caller: Caller,
    pub id: Option<Id>,
    /// The version that the caller speaks. The edge translates the result.
    pub version: Version,
}

impl Request {
    /// A caller's request, of this version.
    pub fn of(request: &CallerRequest, version: Version) -> Self {
        Self {
            ask: request.ask,
            caller: request.caller.clone(),
            id: request.id.clone(),
            version,
        }
    }
}

/// The provider of a server. A returned error answers the request.
pub trait Provider {
    /// Whether it is the host. Then it asks clients on their connections, rather than by `input_required`, and does not
    /// log.
    const IS_HOST: bool;

    /// The server's name, for errors.
    fn name(&self) -> &str;

    /// How many requests are open.
    fn open(&self) -> usize;

    fn request(
        &mut self,
        request: Request,
        said: &McpMessage,
        out: &mut Outputs,
    ) -> Result<(), Error>;

    /// A subscription of the edge, to the changes that a client subscribes to.
    fn listen(&mut self, request: Request, client: &Client, out: &mut Outputs) {
        let ask = request.ask;
        let done = self.request(request, &client.listen(), out);
        out.settle(ask, done);
    }

    fn withdraw(&mut self, ask: IncomingId, out: &mut Outputs);

    /// A connection was closed, after its open requests were cancelled.
    fn disconnected(&mut self, _connection: ConnectionId, _out: &mut Outputs) {}

    fn answered(&mut self, question: OutgoingId, outcome: Message, out: &mut Outputs);

    fn tells(&mut self, _message: &Message, _out: &mut Outputs) {}

    fn lost(&mut self, _waiting: &HashSet<OutgoingId>, _out: &mut Outputs) {}

    fn component(&mut self, _says: FromComponent, _out: &mut Outputs) {}

    fn has(&self, _request: &str) -> bool {
        false
    }

    fn check_headers(&self, _params: &str, _headers: &ParamHeaders) -> Result<(), Error> {
        Ok(())
    }
}

/// The seat of a provider of requests that stand alone.
#[derive(Debug)]
pub struct CallerEdge<P> {
    pub(crate) provider: P,
    clients: BTreeMap<ConnectionId, Client>,
    /// The open requests at the provider whose answers do not pass as they are.
    open: BTreeMap<IncomingId, Purpose>,
    /// The calls to retry once their client has answered.
    rounds: BTreeMap<IncomingId, Round>,
    /// The calls of requests to clients.
    inputs: BTreeMap<OutgoingId, IncomingId>,
    /// The number of the last subscription of the edge.
    last: IncomingId,
    /// The account of calls that may be retried.
    calls: Account,
    /// The account of what clients have declared and subscribe to.
    declared: Account,
    /// The outputs of the provider, before they are translated.
    made: Outputs,
    out: Outputs,
}

/// The purpose of a request at the provider.
#[derive(Debug)]
enum Purpose {
    /// `server/discover`, for the `initialize` of a connection.
    Initialize(ConnectionId),
    Call(Call),
    /// `subscriptions/listen`, with a number of the edge.
    Listen(Listen),
}

impl Purpose {
    fn connection(&self) -> ConnectionId {
        match self {
            Self::Initialize(connection) => *connection,
            Self::Call(call) => call.connection,
            Self::Listen(listen) => listen.connection,
        }
    }
}

/// A translated call, which may be retried.
#[derive(Debug)]
struct Call {
    request: Request,
    connection: ConnectionId,
    method: String,
    /// The params for the provider; empty if the call is never retried.
    params: String,
    /// The number of retries.
    rounds: usize,
    withdrawn: bool,
    /// The charge for what is kept to retry it.
    charge: Charge,
}

impl<P: Provider + Send> Seat for CallerEdge<P> {
    fn take(&mut self, input: Input) -> Vec<Output> {
        match input {
            Input::Connect {
                ask, connection, ..
            } => {
                self.clients.insert(connection, Client::default());
                self.out.answer(ask, connected(connection, None));
            }
            Input::Disconnect {
                ask, connection, ..
            } => {
                self.forget(connection);
                self.out.done(ask);
            }
            Input::Request(request) => {
                let done = self.request(&request);
                self.out.settle(request.ask, done);
            }
            // Others cannot be sent: the provider has no connections.
            Input::Notification { connection, said } => {
                if said.method() == "notifications/initialized" {
                    self.ready(connection);
                }
            }
            Input::Withdrawn { ask } => self.withdraw(ask),
            Input::Answered { question, outcome } => match self.inputs.remove(&question) {
                Some(ask) => self.input_answered(question, ask, outcome),
                None => self.provider.answered(question, outcome, &mut self.made),
            },
            Input::ProviderRequest { ask, .. } => self.out.fail(ask, &no_method("mcp/message")),
            Input::ProviderNotification { message } => self.provider.tells(message, &mut self.made),
            Input::ProviderLost { waiting } => {
                let lost = Message::error(&protocol::lost(self.provider.name()));
                for round in std::mem::take(&mut self.rounds).into_values() {
                    self.end_round(round, lost.clone());
                }
                self.provider.lost(waiting, &mut self.made);
            }
            Input::Component(says) => self.provider.component(says, &mut self.made),
            Input::Over => {}
        }
        self.pass();
        self.out.take()
    }

    fn check_headers(&self, params: &str, headers: &ParamHeaders) -> Result<(), Error> {
        self.provider.check_headers(params, headers)
    }

    fn has(&self, _: Option<&str>, request: Option<&str>) -> bool {
        request.is_some_and(|request| self.provider.has(request))
    }

    fn has_caller(&self, connection: ConnectionId) -> bool {
        self.clients.contains_key(&connection)
    }
}

impl<P: Provider> CallerEdge<P> {
    /// The seat of this provider. What it keeps is charged to parts of `kept`.
    pub(crate) fn of(provider: P, kept: &Account) -> Self {
        Self {
            provider,
            clients: BTreeMap::new(),
            open: BTreeMap::new(),
            rounds: BTreeMap::new(),
            inputs: BTreeMap::new(),
            // Callers' requests have small numbers.
            last: 1 << 63,
            calls: kept.part(KEPT),
            declared: kept.part(KEPT),
            made: Outputs::default(),
            out: Outputs::default(),
        }
    }

    /// An error if `more` further requests would be too many.
    fn check_room(&self, more: usize) -> Result<(), Error> {
        let clients = self.clients.values();
        let own = clients.filter(|client| client.changes.is_open()).count();
        let open = (self.provider.open() + self.inputs.len()).saturating_sub(own);
        if open + more > protocol::OPEN {
            return Err(protocol::full(self.provider.name()));
        }
        Ok(())
    }

    fn request(&mut self, of_caller: &CallerRequest) -> Result<(), Error> {
        let CallerRequest { caller, said, .. } = of_caller;
        self.check_room(1)?;
        let version = match caller {
            Caller::Request(_) => Version::Stateless,
            Caller::Connection(connection) => {
                let client = self.clients.get_mut(connection).ok_or_else(|| {
                    Error::new(code::INVALID_REQUEST, "There is no such connection")
                })?;
                connection_version(&mut client.version, said.method(), said.params())?
            }
        };
        let request = Request::of(of_caller, version);
        if let Caller::Connection(connection) = request.caller
            && version < Version::Stateless
        {
            return self.translate(request, connection, said);
        }
        self.pass_on(request, said);
        Ok(())
    }

    /// Answers a request of a client that begins with `initialize`, or sends it to the provider.
    fn translate(
        &mut self,
        request: Request,
        connection: ConnectionId,
        said: &McpMessage,
    ) -> Result<(), Error> {
        let Some(client) = self.clients.get_mut(&connection) else {
            return Err(Error::cancelled());
        };
        let (ask, params) = (request.ask, said.params());
        match said.method() {
            "initialize" => {
                let introduced = client.introduce(params, &self.declared, self.provider.name());
                if let Err(error) = introduced {
                    // The client may retry `initialize`.
                    *client = Client::default();
                    return Err(error);
                }
                let discover = McpMessage::new("server/discover", &client.stand_alone("null")?);
                let request = Request {
                    id: None,
                    ..request
                };
                self.send(Purpose::Initialize(connection), request, &discover);
            }
            "ping" => self.out.result(ask, "{}"),
            "logging/setLevel" if !P::IS_HOST => {
                client.level = Some(level(params)?);
                self.out.result(ask, "{}");
            }
            method @ ("resources/subscribe" | "resources/unsubscribe")
                if client.changes.subscribes =>
            {
                let uri = text_member(params, "uri")
                    .ok_or_else(|| invalid("the request lacks a uri, a string"))?;
                self.subscribe(ask, connection, uri, method == "resources/subscribe")?;
            }
            method @ ("resources/subscribe"
            | "resources/unsubscribe"
            | "logging/setLevel"
            | "server/discover"
            | "subscriptions/listen") => return Err(no_method(method)),
            method => {
                let meta = member(params, "_meta");
                let is_fine = |meta: &str| is_object(meta) || meta == "null";
                // The host's own servers ignore a malformed one.
                if !P::IS_HOST && !meta.is_none_or(is_fine) {
                    return Err(invalid("params._meta is an object"));
                }
                let params = client.stand_alone(params)?;
                let said = McpMessage::new(method, &params);
                // The host's own servers never require a retry.
                let kept = if P::IS_HOST { 0 } else { said.weight() };
                let call = Call {
                    request: request.clone(),
                    connection,
                    method: method.to_owned(),
                    params: if P::IS_HOST { String::new() } else { params },
                    rounds: 0,
                    withdrawn: false,
                    charge: protocol::keep(&self.calls, kept, self.provider.name())?,
                };
                self.send(Purpose::Call(call), request, &said);
            }
        }
        Ok(())
    }

    /// Sends a request to the provider, whose answer is for this purpose.
    fn send(&mut self, of: Purpose, request: Request, said: &McpMessage) {
        self.open.insert(request.ask, of);
        self.pass_on(request, said);
    }

    /// Passes a request on to the provider.
    fn pass_on(&mut self, request: Request, said: &McpMessage) {
        let ask = request.ask;
        let done = self.provider.request(request, said, &mut self.made);
        self.made.settle(ask, done);
        self.pass();
    }

    /// Passes on the outputs of the provider.
    fn pass(&mut self) {
        for output in self.made.take() {
            match output {
                Output::Answer {
                    ask, ref outcome, ..
                } => {
                    let outcome = outcome.clone();
                    match self.open.remove(&ask) {
                        Some(Purpose::Initialize(connection)) => {
                            self.initialized(ask, connection, outcome);
                        }
                        Some(Purpose::Call(call)) => self.call_answered(call, outcome),
                        Some(Purpose::Listen(listen)) => self.listened(ask, listen, outcome),
                        None => self.out.push(output),
                    }
                }
                Output::TellCaller {
                    of: Some(ask),
                    ref said,
                    ..
                } => match self.open.get(&ask) {
                    // The notification has no recipient.
                    Some(Purpose::Initialize(_)) => {}
                    Some(Purpose::Listen(_)) => self.published(ask, said),
                    _ => self.out.push(output),
                },
                output => self.out.push(output),
            }
        }
    }

    /// The provider answered `server/discover`: answers `initialize`.
    fn initialized(&mut self, ask: IncomingId, connection: ConnectionId, outcome: Message) {
        let Some(client) = self.clients.get_mut(&connection) else {
            return self.out.fail(ask, &Error::cancelled());
        };
        // If this fails, the client may retry `initialize`.
        let version = client.version.take();
        let (Kind::Result, Some(version)) = (outcome.kind(), version) else {
            client.changes = Changes::default();
            return self.out.answer(ask, outcome);
        };
        match client.begin(version, outcome.body(), self.provider.name()) {
            Ok(result) => {
                self.out.result(ask, &result);
                self.listen_to_lists(connection);
            }
            Err(error) => {
                client.changes = Changes::default();
                self.out.fail(ask, &error);
            }
        }
    }

    fn call_answered(&mut self, call: Call, outcome: Message) {
        let (ask, body) = (call.request.ask, outcome.body());
        if outcome.kind() != Kind::Result {
            return self.out.answer(ask, outcome);
        }
        match member(body, "resultType") {
            Some(r#""input_required""#) if call.withdrawn => {
                self.out.fail(ask, &Error::cancelled());
            }
            Some(r#""input_required""#) => {
                let begun = self.begin_round(call, body);
                self.out.settle(ask, begun);
            }
            None | Some(r#""complete""#) => {
                let outcome = match versions::older(&call.method, body) {
                    Cow::Owned(older) => Message::result(&older),
                    Cow::Borrowed(_) => outcome,
                };
                self.out.answer(ask, outcome);
            }
            Some(other) => {
                let text = format!(
                    "The MCP server {:?} gave a result of the type {}, which the client's version \
                     of MCP does not have",
                    self.provider.name(),
                    protocol::clipped(other)
                );
                self.out.fail(ask, &Error::new(code::INTERNAL_ERROR, text));
            }
        }
    }

    fn withdraw(&mut self, asked: IncomingId) {
        if let Some(round) = self.rounds.remove(&asked) {
            return self.end_round(round, Message::error(&Error::cancelled()));
        }
        let waits = self.open.values_mut().any(|of| match of {
            Purpose::Listen(listen) => listen.ask.take_if(|(ask, _)| *ask == asked).is_some(),
            _ => false,
        });
        if waits {
            return self.out.fail(asked, &Error::cancelled());
        }
        self.withdraw_open(asked);
    }

    /// Cancels a request, at the provider as well.
    fn withdraw_open(&mut self, ask: IncomingId) {
        if let Some(Purpose::Call(call)) = self.open.get_mut(&ask) {
            call.withdrawn = true;
        }
        self.provider.withdraw(ask, &mut self.made);
        self.pass();
    }

    /// Removes a disconnected client, and cancels its open requests.
    fn forget(&mut self, connection: ConnectionId) {
        self.clients.remove(&connection);
        let open = self.open.iter();
        let here = open.filter(|(_, of)| of.connection() == connection);
        for ask in here.map(|(ask, _)| *ask).collect::<Vec<_>>() {
            if let Some(Purpose::Listen(listen)) = self.open.get_mut(&ask)
                && let Some((asked, _)) = listen.ask.take()
            {
                self.out.fail(asked, &Error::cancelled());
            }
            self.withdraw_open(ask);
        }
        self.provider.disconnected(connection, &mut self.made);
        self.pass();
        let here = |_: &IncomingId, round: &mut Round| round.call.connection == connection;
        for (_, round) in self.rounds.extract_if(.., here).collect::<Vec<_>>() {
            self.end_round(round, Message::error(&Error::cancelled()));
        }
    }
}
