//! A provider that speaks the stateless dialect: every request stands alone, has a `requestId`, and is of MCP
//! 2026-07-28 (schema 1.15, `mcp/message`).
//!
//! Requests of callers of the same kind pass unchanged, with their own `requestId`. Requests of 2026-07-28 on a
//! connection get a `requestId` of the seat. For clients that begin with `initialize`, see `legacy.rs`.
//!
//! Invariants beside those of every [seat](super::seat): a cancelled request is also answered, once; a provider's
//! notification reaches only the caller of the request that it names, and only while the request is open.
//!
//! - The member `result` or `error` of the provider's result is the MCP outcome; if both are present, `result`. A
//!   result with neither becomes the error -33002. An ACP error passes unchanged, and so does the `_meta` of ACP's
//!   messages and answers.
//! - A `requestId` that is already open fails with -32602.
//! - Requests of the provider fail with -32601. A notification that names no open request is dropped, and so is
//!   `notifications/cancelled`.
//! - Requests past [`OPEN`](protocol::OPEN) open ones fail with -33000, and so do requests that are too large together
//!   to keep.
//! - When the provider is restarted, open requests fail with -33002, except those that it has not received yet. Legacy
//!   clients stay connected, but get no notifications of changes until their next `resources/subscribe`.

mod called;
mod legacy;
mod rounds;
mod subscription;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use self::called::Called;
use self::legacy::Client;
use self::rounds::Round;
use self::subscription::Listen;
use super::protocol::{self, Version, invalid, key, quoted};
use super::seat::{
    Adapter, Caller, CallerRequest, Input, Output, Outputs, Seat, connected, dispatch,
};
use super::wire::{self, Said};
use super::{Asked, ConnectionId, Question};
use acp_chain_rpc::{Error, Id, Kind, Message, code};

/// The seat of one provider.
#[derive(Debug)]
pub struct StatelessProvider {
    id: String,
    /// The id, truncated for errors.
    name: String,
    /// The prefix of the seat's own request ids.
    prefix: String,
    last: Question,
    clients: BTreeMap<ConnectionId, Client>,
    questions: BTreeMap<Question, Open>,
    /// The open requests, by `requestId`.
    requests: HashMap<Arc<str>, Question>,
    /// The calls to retry once their caller has answered.
    rounds: BTreeMap<Asked, Round>,
    /// The calls of requests to callers.
    inputs: BTreeMap<Question, Asked>,
    out: Outputs,
}

/// An open request at the provider.
#[derive(Debug)]
struct Open {
    request: Arc<str>,
    of: Of,
}

/// The purpose of a request at the provider.
#[derive(Debug)]
enum Of {
    /// A caller's request.
    Caller(Called),
    /// `server/discover`, for the `initialize` of a connection.
    Initialize {
        ask: Asked,
        connection: ConnectionId,
    },
    /// `subscriptions/listen`, for a legacy client.
    Listen(Listen),
}

impl Seat for StatelessProvider {
    fn take(&mut self, input: Input) -> Vec<Output> {
        dispatch(self, input)
    }

    fn weight(&self) -> usize {
        self.kept() + self.clients.values().map(Client::weight).sum::<usize>()
    }

    fn has(&self, _: Option<&str>, request: Option<&str>) -> bool {
        // A longer id cannot exist. It is not looked up, as it may come from any caller.
        let request = request.filter(|request| request.len() <= protocol::TOKEN);
        request.is_some_and(|request| self.requests.contains_key(request))
    }

    fn has_caller(&self, connection: ConnectionId) -> bool {
        self.clients.contains_key(&connection)
    }
}

impl Adapter for StatelessProvider {
    fn outputs(&mut self) -> &mut Outputs {
        &mut self.out
    }

    fn connect(&mut self, ask: Asked, id: ConnectionId, _: Option<&str>) -> Result<(), Error> {
        if self.clients.len() >= protocol::CONNECTIONS {
            return Err(protocol::full(&self.name));
        }
        self.clients.insert(id, Client::default());
        self.out.answer(ask, connected(id, None));
        Ok(())
    }

    fn disconnect(&mut self, ask: Option<Asked>, id: ConnectionId, _: Option<&str>) {
        self.forget(id);
        self.out.done(ask);
    }

    fn request(&mut self, request: CallerRequest) -> Result<(), Error> {
        if self.is_full() {
            return Err(protocol::full(&self.name));
        }
        let CallerRequest {
            ask,
            caller,
            id,
            said,
            ..
        } = request;
        let own = match &caller {
            Caller::Request(request) => Some(request.clone()),
            Caller::Connection(connection) => {
                let connection = *connection;
                let client = self.clients.get_mut(&connection).ok_or_else(|| {
                    Error::new(code::INVALID_REQUEST, "There is no such connection")
                })?;
                let version =
                    protocol::connection_version(&mut client.version, &said.method, said.params())?;
                if version < Version::Stateless {
                    let called = Called::new(ask, caller, id);
                    return self.legacy_request(called, connection, &said);
                }
                None
            }
        };
        if own
            .as_ref()
            .is_some_and(|own| self.requests.contains_key(own))
        {
            return Err(invalid("The requestId is that of a request that is open"));
        }
        // For a client on the bridge, the request has an id that differs from the `requestId`.
        let known = own.as_deref().map(quoted);
        let renamed = id.as_ref().map(Id::as_str) != known.as_deref();
        let listens = said.method == "subscriptions/listen";
        let subscription = id.clone().filter(|_| listens && renamed);
        let called = Called {
            subscription,
            ..Called::new(ask, caller, id)
        };
        self.ask(Of::Caller(called), own, &said);
        Ok(())
    }

    fn notification(&mut self, connection: ConnectionId, said: Said) {
        // Others cannot be sent: the provider has no connections.
        if said.method == "notifications/initialized" {
            self.ready(connection);
        }
    }

    fn named(&self, connection: ConnectionId, id: &Id) -> Option<Asked> {
        // MCP: `initialize` cannot be cancelled.
        let open = self.questions.values().filter_map(|open| match &open.of {
            Of::Caller(called) => Some(called),
            Of::Initialize { .. } | Of::Listen(_) => None,
        });
        let rounds = self.rounds.values().map(|round| &round.called);
        let mut all = open.chain(rounds);
        let is_it = |called: &&Called| called.is_on(connection) && called.id.as_ref() == Some(id);
        all.find(is_it).map(|called| called.ask)
    }

    fn withdraw(&mut self, asked: Asked) {
        for (question, open) in &mut self.questions {
            let is_it = match &mut open.of {
                Of::Caller(called) => {
                    called.withdrawn |= called.ask == asked;
                    called.ask == asked
                }
                Of::Initialize { ask, .. } => *ask == asked,
                Of::Listen(listen) => {
                    if listen.forget(asked) {
                        return self.out.fail(asked, &Error::cancelled());
                    }
                    false
                }
            };
            if is_it {
                return self.out.withdraw(*question);
            }
        }
        if let Some(round) = self.rounds.remove(&asked) {
            self.end_round(round, &Error::cancelled());
        }
    }

    fn answered(&mut self, question: Question, outcome: Message) {
        let Some(open) = self.questions.remove(&question) else {
            return self.input_answered(question, outcome);
        };
        self.requests.remove(&open.request);
        let outer = outcome.kind() == Kind::Error;
        let meta = wire::meta(outcome.body()).filter(|_| !outer);
        let meta = meta.map(str::to_owned);
        let outcome = if outer {
            outcome
        } else {
            wire::carried(&outcome).unwrap_or_else(|| {
                let text =
                    "The provider answered mcp/message with neither a result nor an MCP error";
                Message::error(&Error::new(protocol::code::BACKEND, text))
            })
        };
        match open.of {
            Of::Caller(mut called) => match called.legacy.take() {
                Some(legacy) => self.legacy_answered(called, legacy, outcome),
                None => self.out.push(Output::Answer {
                    ask: called.ask,
                    outcome: protocol::subscribed(outcome, called.subscription.as_ref()),
                    meta,
                    outer,
                }),
            },
            Of::Initialize { ask, connection } => self.initialized(ask, connection, outcome),
            Of::Listen(listen) => self.listened(question, listen, &outcome),
        }
    }

    fn provider_tells(&mut self, params: &str) {
        let text = |name| protocol::string(Some(params), name);
        let request = text("requestId").filter(|_| text("serverId").as_ref() == Some(&self.id));
        let question = request.and_then(|request| self.requests.get(&*request).copied());
        let open = question.and_then(|question| Some((question, self.questions.get(&question)?)));
        let Some(((question, open), said)) = open.zip(wire::said(params)) else {
            let name = &self.name;
            let why = format!(
                "the MCP server {name:?}: dropped a notification from its provider: it names no open request"
            );
            return self.out.push(Output::Drop { why });
        };
        if said.method == protocol::CANCELLED {
            return;
        }
        match &open.of {
            // The notification has no recipient.
            Of::Caller(Called {
                withdrawn: true, ..
            })
            | Of::Initialize { .. } => {}
            Of::Caller(called) => {
                let mut said = said.into_owned();
                if let Some(id) = &called.subscription
                    && protocol::meta(said.params(), key::SUBSCRIPTION).is_some()
                {
                    let id = Some(id.as_str());
                    let params = protocol::with_meta(said.params(), key::SUBSCRIPTION, id);
                    said.params = Some(params.into());
                }
                self.out.tell_caller(called.caller.clone(), said);
            }
            Of::Listen(_) => self.published(question, &said),
        }
    }

    fn provider_lost(&mut self, waiting: &HashSet<Question>) {
        let lost = protocol::lost(&self.name);
        for round in std::mem::take(&mut self.rounds).into_values() {
            self.end_round(round, &lost);
        }
        let is_lost = |question: &Question, _: &mut Open| !waiting.contains(question);
        let open: Vec<_> = self.questions.extract_if(.., is_lost).collect();
        for (question, open) in open {
            self.requests.remove(&open.request);
            let outcome = Message::error(&lost);
            match open.of {
                Of::Caller(called) => self.out.answer(called.ask, outcome),
                Of::Initialize { ask, connection } => self.initialized(ask, connection, outcome),
                Of::Listen(listen) => self.listened(question, listen, &outcome),
            }
        }
    }
}

impl StatelessProvider {
    /// The seat of the provider that declared its server with this `serverId`. The seat's own `requestId`s begin with
    /// `prefix`, which must differ between seats of one provider.
    #[must_use]
    pub fn new(id: &str, prefix: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: protocol::clipped(id),
            prefix: prefix.to_owned(),
            last: 0,
            clients: BTreeMap::new(),
            questions: BTreeMap::new(),
            requests: HashMap::new(),
            rounds: BTreeMap::new(),
            inputs: BTreeMap::new(),
            out: Outputs::default(),
        }
    }

    /// How many bytes are kept for calls that may be retried.
    fn kept(&self) -> usize {
        let open = self.questions.values().map(|open| match &open.of {
            Of::Caller(called) => called.weight(),
            Of::Initialize { .. } | Of::Listen(_) => 0,
        });
        let rounds = self.rounds.values().map(Round::weight);
        open.chain(rounds).sum()
    }

    fn is_full(&self) -> bool {
        self.questions.len() + self.inputs.len() >= protocol::OPEN
    }

    fn number(&mut self) -> Question {
        self.last += 1;
        self.last
    }

    /// Sends a request to the provider, with the caller's `requestId` or one of the seat.
    fn ask(&mut self, of: Of, request: Option<Arc<str>>, said: &Said) -> Question {
        let question = self.number();
        let request = request.unwrap_or_else(|| {
            let mut own: Arc<str> = format!("{}-{question}", self.prefix).into();
            // A caller may have chosen this id.
            while self.requests.contains_key(&own) {
                own = format!("{own}-").into();
            }
            own
        });
        let params = wire::alone(&self.id, &request, said);
        self.out.ask_provider(question, "mcp/message", params);
        self.requests.insert(request.clone(), question);
        self.questions.insert(question, Open { request, of });
        question
    }

    /// Removes a disconnected client, and cancels its open requests.
    fn forget(&mut self, connection: ConnectionId) {
        self.clients.remove(&connection);
        let cancelled = Error::cancelled();
        for (question, open) in &mut self.questions {
            let here = match &mut open.of {
                Of::Caller(called) => {
                    called.withdrawn |= called.is_on(connection);
                    called.is_on(connection)
                }
                Of::Initialize { connection: of, .. } => *of == connection,
                Of::Listen(listen) => {
                    let here = listen.connection == connection;
                    if let Some((ask, _)) = listen.ask.take_if(|_| here) {
                        self.out.fail(ask, &cancelled);
                    }
                    here
                }
            };
            if here {
                self.out.withdraw(*question);
            }
        }
        let here = |_: &Asked, round: &mut Round| round.called.is_on(connection);
        let rounds: Vec<_> = self.rounds.extract_if(.., here).collect();
        for (_, round) in rounds {
            self.end_round(round, &cancelled);
        }
    }
}
