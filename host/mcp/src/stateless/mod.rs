//! A provider that speaks the stateless dialect: every request stands alone, by its `requestId`, and
//! is of MCP 2026-07-28 (schema 1.15, `mcp/message`).
//!
//! What callers of the same sort say passes as it is, under the `requestId` that they gave. Requests
//! of 2026-07-28 on a connection get a `requestId` of the seat's. Clients that begin with `initialize`
//! are served too; `legacy.rs` says how.
//!
//! What always holds beside what every [seat](super::seat) promises: a request that was withdrawn is
//! answered as well, once; what the provider tells reaches only the caller of the request that it
//! names, and only as long as that is open.
//!
//! - The outcome within the provider's answer, `result` or `error`, is MCP's; of both, `result`. An
//!   outer error passes as it is, and so does the `_meta` of ACP's messages and answers. An answer with
//!   neither is the error -33002.
//! - A `requestId` that is open already is the error -32602.
//! - The provider sends no requests: -32601. A notification that names no open request is dropped, and
//!   so is `notifications/cancelled`.
//! - More than [`OPEN`](protocol::OPEN) open requests are the error -33000, and so is what would be too
//!   much to keep.
//! - When the provider was started again, what it had fails with -33002. Legacy clients stay, but hear
//!   of no changes until they subscribe to something.

mod called;
mod legacy;
mod rounds;
mod subscription;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Deserialize;

use self::called::Called;
use self::legacy::Client;
use self::rounds::Round;
use self::subscription::Listen;
use super::protocol::{self, Dropped, Version, invalid, key, no_method, quoted};
use super::seat::{Asked, Caller, ConnectionId, Input, Output, Question, Seat, connected};
use super::wire;
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};

/// The seat of one provider.
#[derive(Debug)]
pub struct StatelessProvider {
    id: String,
    /// The same, short enough for errors.
    name: String,
    /// With what the seat's own request ids begin.
    prefix: String,
    last: Question,
    clients: BTreeMap<ConnectionId, Client>,
    questions: BTreeMap<Question, Open>,
    /// The open requests, by what the provider knows them by.
    requests: HashMap<Arc<str>, Question>,
    /// Calls that come again as soon as their caller has given what it was asked for.
    rounds: BTreeMap<Asked, Round>,
    /// What callers were asked for, and for which call.
    inputs: BTreeMap<Question, Asked>,
    dropped: Dropped,
}

/// A request that the provider has.
#[derive(Debug)]
struct Open {
    request: Arc<str>,
    of: Of,
}

/// Whose it is.
#[derive(Debug)]
enum Of {
    /// A request of 2026-07-28.
    Caller {
        ask: Asked,
        caller: Caller,
        id: Option<Id>,
        /// The same id, if this is a `subscriptions/listen` that the provider knows by another.
        subscription: Option<Id>,
        withdrawn: bool,
    },
    /// `server/discover`, for the `initialize` of a connection.
    Initialize {
        ask: Asked,
        connection: ConnectionId,
    },
    /// A request of a legacy client.
    Legacy(Called),
    /// `subscriptions/listen`, for a legacy client.
    Listen(Listen),
}

impl Seat for StatelessProvider {
    fn take(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        match input {
            Input::Connect {
                ask, connection, ..
            } => {
                if self.clients.len() >= protocol::CONNECTIONS {
                    out.push(protocol::failed(ask, &protocol::full(&self.name)));
                } else {
                    self.clients.insert(connection, Client::default());
                    let outcome = connected(connection, None);
                    out.push(protocol::answer(ask, outcome));
                }
            }
            Input::Disconnect {
                ask, connection, ..
            } => {
                self.disconnect(connection, &mut out);
                out.extend(ask.map(|ask| protocol::result(ask, "{}")));
            }
            Input::Request {
                ask,
                caller,
                id,
                method,
                params,
                falls_back: _,
                meta,
            } => {
                let id = protocol::token(Some(id));
                let params = [params, meta];
                if let Err(error) = self.request(ask, caller, id, method, params, &mut out) {
                    out.push(protocol::failed(ask, &error));
                }
            }
            Input::Notification {
                connection,
                method,
                params,
                ..
            } => match method {
                "notifications/initialized" => self.ready(connection, &mut out),
                protocol::CANCELLED => {
                    let named = params.and_then(|params| member(params, "requestId"));
                    let named = protocol::token(named).and_then(|id| self.named(connection, &id));
                    if let Some(ask) = named {
                        self.withdraw(ask, &mut out);
                    }
                }
                // The provider has no connection to tell it on.
                _ => {}
            },
            Input::Withdrawn { ask } => self.withdraw(ask, &mut out),
            Input::Answered { question, outcome } => self.answered(question, outcome, &mut out),
            Input::ProviderRequest { ask, .. } => {
                out.push(protocol::failed(ask, &no_method("mcp/message")));
            }
            Input::ProviderNotification { params } => self.provider_tells(params, &mut out),
            Input::ProviderLost => self.lose(&mut out),
            Input::Changed(_) | Input::Asks { .. } | Input::Progress { .. } | Input::Over => {}
        }
        out
    }

    fn weight(&self) -> usize {
        self.kept() + self.clients.values().map(Client::weight).sum::<usize>()
    }

    fn has(&self, _: Option<&str>, request: Option<&str>) -> bool {
        // One that is longer is none, and is not looked at: anybody may ask for it.
        let request = request.filter(|request| request.len() <= protocol::TOKEN);
        request.is_some_and(|request| self.requests.contains_key(request))
    }
}

impl StatelessProvider {
    /// The seat of the provider that declared its server with this `serverId`. The requests that have
    /// no id of their callers' get one that begins with `prefix`; no two seats of one provider may
    /// have the same.
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
            dropped: Dropped::default(),
        }
    }

    /// How many bytes it keeps of calls that may come again.
    fn kept(&self) -> usize {
        let open = self.questions.values().map(|open| match &open.of {
            Of::Legacy(called) => called.weight(),
            _ => 0,
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

    /// Asks the provider, under the id that the caller has for it or under one of the seat's.
    fn ask(
        &mut self,
        of: Of,
        request: Option<Arc<str>>,
        method: &str,
        [params, meta]: [Option<&str>; 2],
        out: &mut Vec<Output>,
    ) -> Question {
        let question = self.number();
        let request = request.unwrap_or_else(|| {
            let mut own: Arc<str> = format!("{}-{question}", self.prefix).into();
            // Callers choose as they like.
            while self.requests.contains_key(&own) {
                own = format!("{own}-").into();
            }
            own
        });
        let params = params.map(|params| format!(r#","params":{params}"#));
        let meta = meta.map(|meta| format!(r#","_meta":{meta}"#));
        out.push(Output::AskProvider {
            question,
            method: "mcp/message",
            params: format!(
                r#"{{"serverId":{},"requestId":{},"method":{}{}{}}}"#,
                quoted(&self.id),
                quoted(&request),
                quoted(method),
                params.unwrap_or_default(),
                meta.unwrap_or_default()
            ),
        });
        self.requests.insert(request.clone(), question);
        self.questions.insert(question, Open { request, of });
        question
    }

    fn request(
        &mut self,
        ask: Asked,
        caller: Caller,
        id: Option<Id>,
        method: &str,
        [params, meta]: [Option<&str>; 2],
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        if self.is_full() {
            return Err(protocol::full(&self.name));
        }
        protocol::is_carried(&caller)?;
        let request = match &caller {
            Caller::Request(request) => Some(request.clone()),
            Caller::Connection(connection) => {
                let client = self.clients.get_mut(connection).ok_or_else(|| {
                    Error::new(code::INVALID_REQUEST, "There is no such connection")
                })?;
                let version = protocol::connection_version(&mut client.version, method, params)?;
                if version < Version::Stateless {
                    return self.legacy_request(
                        Called::new(ask, *connection, id, method),
                        params,
                        out,
                    );
                }
                None
            }
        };
        if request
            .as_ref()
            .is_some_and(|request| self.requests.contains_key(request))
        {
            return Err(invalid("The requestId is that of a request that is open"));
        }
        // A client that came by the bridge has an id for it that is not the `requestId`.
        let known = request.as_deref().map(quoted);
        let renamed = id.as_ref().map(Id::as_str) != known.as_deref();
        let listens = method == "subscriptions/listen";
        let of = Of::Caller {
            ask,
            caller,
            subscription: id.clone().filter(|_| listens && renamed),
            id,
            withdrawn: false,
        };
        self.ask(of, request, method, [params, meta], out);
        Ok(())
    }

    /// The open request that has this id for the client on a connection.
    fn named(&self, connection: ConnectionId, named: &Id) -> Option<Asked> {
        let here = Caller::Connection(connection);
        let is_named = |id: &Option<Id>| id.as_ref() == Some(named);
        let open = self.questions.values().find_map(|open| match &open.of {
            Of::Caller {
                ask, caller, id, ..
            } if *caller == here && is_named(id) => Some(*ask),
            Of::Legacy(called) if called.connection == connection && is_named(&called.id) => {
                Some(called.ask)
            }
            // MCP: `initialize` cannot be withdrawn.
            _ => None,
        });
        let rounds = || self.rounds.values().map(|round| &round.called);
        open.or_else(|| {
            let is_it = |called: &&Called| called.connection == connection && is_named(&called.id);
            rounds().find(is_it).map(|called| called.ask)
        })
    }

    fn withdraw(&mut self, asked: Asked, out: &mut Vec<Output>) {
        for (question, open) in &mut self.questions {
            let is_it = match &mut open.of {
                Of::Caller { ask, withdrawn, .. } => {
                    *withdrawn |= *ask == asked;
                    *ask == asked
                }
                Of::Initialize { ask, .. } => *ask == asked,
                Of::Legacy(called) => {
                    called.withdrawn |= called.ask == asked;
                    called.ask == asked
                }
                Of::Listen(listen) => {
                    if listen.forget(asked) {
                        out.push(protocol::failed(asked, &Error::cancelled()));
                        return;
                    }
                    false
                }
            };
            if is_it {
                out.push(Output::Withdraw {
                    question: *question,
                });
                return;
            }
        }
        if let Some(round) = self.rounds.remove(&asked) {
            round.end(out);
            out.push(protocol::failed(asked, &Error::cancelled()));
        }
    }

    fn answered(&mut self, question: Question, outcome: Message, out: &mut Vec<Output>) {
        let Some(open) = self.questions.remove(&question) else {
            return self.input_answered(question, outcome, out);
        };
        self.requests.remove(&open.request);
        let meta = wire::meta(outcome.body()).map(str::to_owned);
        let outer = outcome.kind() == Kind::Error;
        let meta = meta.filter(|_| !outer);
        let outcome = inner(outcome);
        match open.of {
            Of::Caller {
                ask, subscription, ..
            } => {
                let outcome = protocol::subscribed(outcome, subscription.as_ref());
                out.push(Output::Answer {
                    ask,
                    outcome,
                    meta,
                    outer,
                });
            }
            Of::Initialize { ask, connection } => {
                out.push(self.initialized(ask, connection, outcome));
            }
            Of::Legacy(called) => self.legacy_answered(called, outcome, out),
            Of::Listen(listen) => self.listened(question, listen, &outcome, out),
        }
    }

    /// The provider was started again: what was open with it is over, and it is not asked for it.
    fn lose(&mut self, out: &mut Vec<Output>) {
        let lost = protocol::lost(&self.name);
        for (ask, round) in std::mem::take(&mut self.rounds) {
            round.end(out);
            out.push(protocol::failed(ask, &lost));
        }
        self.requests.clear();
        for (question, open) in std::mem::take(&mut self.questions) {
            let outcome = Message::error(&lost);
            match open.of {
                Of::Caller { ask, .. } | Of::Legacy(Called { ask, .. }) => {
                    out.push(protocol::answer(ask, outcome));
                }
                Of::Initialize { ask, connection } => {
                    out.push(self.initialized(ask, connection, outcome));
                }
                Of::Listen(listen) => self.listened(question, listen, &outcome, out),
            }
        }
    }

    fn provider_tells(&mut self, params: &str, out: &mut Vec<Output>) {
        let text = |name| protocol::string(Some(params), name);
        let (server, request, method) = (text("serverId"), text("requestId"), text("method"));
        let question = request
            .filter(|_| server.as_ref() == Some(&self.id))
            .and_then(|request| self.requests.get(&*request).copied());
        let open = question.and_then(|question| Some((question, self.questions.get(&question)?)));
        let Some(((question, open), method)) = open.zip(method) else {
            let reason = "dropped a notification of its provider's: it is of no open request";
            return self.dropped.note(&self.name, reason);
        };
        let meta = wire::meta(params).map(str::to_owned);
        let params = member(params, "params").filter(|params| *params != "null");
        if method == protocol::CANCELLED {
            return;
        }
        match &open.of {
            // Nobody is there to be told.
            Of::Caller {
                withdrawn: true, ..
            }
            | Of::Legacy(Called {
                withdrawn: true, ..
            })
            | Of::Initialize { .. } => {}
            Of::Caller {
                caller,
                subscription,
                ..
            } => {
                let named = subscription
                    .as_ref()
                    .filter(|_| protocol::meta(params, key::SUBSCRIPTION).is_some());
                let params = match named {
                    Some(id) => {
                        let id = Some(id.as_str());
                        Some(protocol::with_meta(params, key::SUBSCRIPTION, id))
                    }
                    None => params.map(str::to_owned),
                };
                out.push(Output::TellCaller {
                    caller: caller.clone(),
                    method,
                    params,
                    meta,
                });
            }
            Of::Legacy(called) => out.push(Output::TellCaller {
                caller: Caller::Connection(called.connection),
                method,
                params: params.map(str::to_owned),
                meta,
            }),
            Of::Listen(_) => self.published(question, method, params, out),
        }
    }
}

/// MCP's outcome in the provider's answer.
fn inner(outcome: Message) -> Message {
    /// What an error has at least.
    #[derive(Deserialize)]
    struct Told {
        #[serde(rename = "code")]
        _code: i32,
        #[serde(rename = "message")]
        _message: String,
    }

    if outcome.kind() != Kind::Result {
        return outcome;
    }
    if let Some(result) = member(outcome.body(), "result") {
        return Message::result(result);
    }
    let error = member(outcome.body(), "error");
    let told = error.filter(|error| serde_json::from_str::<Told>(error).is_ok());
    // As text, so that what else it says passes too.
    let line = told.map(|error| format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#));
    match line.map(|line| Message::parse(line.into())) {
        Some(Ok(message)) => message,
        _ => Message::error(&Error::new(
            protocol::code::BACKEND,
            "The provider answered mcp/message with neither a result nor an MCP error",
        )),
    }
}
