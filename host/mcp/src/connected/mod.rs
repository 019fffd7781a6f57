//! A provider that speaks the dialect of the RFD: it is connected to, and then both sides talk.
//!
//! What a caller on a connection and the provider say to each other passes as it is, `_meta` of ACP's
//! messages and answers included: only the connection's id is exchanged, and the `subscriptionId` of `subscriptions/listen`, which is an id of
//! one hop. Callers whose requests stand alone share one connection of the seat's own, which is closed
//! with the server; `own.rs` says what becomes of theirs.
//!
//! What always holds beside what every [seat](super::seat) promises: a request that was withdrawn is
//! answered as well, once; the provider reaches no connection but those that it has accepted and that
//! are not over.
//!
//! - What comes while a connection is being made waits for it, and fails with it.
//! - An error of the provider's passes as it is. A `connectionId` that is no string, or that is open
//!   already, is the error -32603.
//! - A request of the provider's for a connection that it does not have is the error -32602; a
//!   notification is dropped.
//! - `notifications/cancelled` names an id of one hop, so it never passes. A caller's withdraws what
//!   it names; a provider withdraws with `$/cancel_request`.
//! - On one connection only one `subscriptions/listen` at a time waits to be acknowledged, since
//!   nothing but the order tells whose an acknowledgement is.
//! - More than [`OPEN`](protocol::OPEN) open requests are the error -33000, and so is what would be too
//!   much to keep until it can be sent.
//! - With a connection end the requests that the provider has on it. A provider that was started again
//!   has no connections: whoever asked is told so, and connects anew.

mod link;
mod listens;
mod own;
mod provider;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};

use self::listens::Listens;
use self::own::Legacy;
use super::protocol::{self, Dropped, key, quoted};
use super::seat::{Asked, Caller, ConnectionId, Input, Output, Question, Seat};
use acp_chain_rpc::{Error, Id, Message, code, member};

/// The request of which one at a time waits to be acknowledged.
const LISTEN: &str = "subscriptions/listen";

/// The seat of one provider.
#[derive(Debug)]
pub struct ConnectedProvider {
    id: String,
    /// The same, short enough for errors.
    name: String,
    /// By which name `mcp/connect` has the id.
    named: &'static str,
    last: Question,
    links: BTreeMap<Owner, ProviderConnection>,
    /// The connections that the provider knows, by its ids.
    theirs: HashMap<Id, Owner>,
    questions: BTreeMap<Question, Open>,
    dropped: Dropped,
}

/// Whose a connection to the provider is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Caller(ConnectionId),
    /// Of all callers whose requests stand alone.
    Own,
}

/// A connection to the provider.
#[derive(Debug, Default)]
struct ProviderConnection {
    /// The provider's id, as soon as it has given one.
    theirs: Option<Id>,
    /// Whether what is said goes out at once.
    open: bool,
    /// Who waits for the connection.
    ask: Option<Asked>,
    waiting: VecDeque<Waits>,
    listens: Listens,
    /// What there is to know of a provider that is legacy, on the seat's own connection.
    legacy: Option<Legacy>,
}

/// What waits for a connection.
#[derive(Debug)]
enum Waits {
    Request(CallerRequest<'static>),
    Notification {
        method: String,
        params: Option<String>,
        meta: Option<String>,
    },
}

impl Waits {
    /// The request that is to be answered, if it is one.
    fn ask(&self) -> Option<Asked> {
        match self {
            Self::Request(said) => Some(said.ask),
            Self::Notification { .. } => None,
        }
    }

    /// Whether whoever says it can begin with `initialize` instead.
    fn falls_back(&self) -> bool {
        matches!(self, Self::Request(said) if said.falls_back)
    }
}

/// A caller's request.
#[derive(Debug)]
struct CallerRequest<'a> {
    ask: Asked,
    caller: Caller,
    falls_back: bool,
    id: Option<Id>,
    method: Cow<'a, str>,
    params: Option<Cow<'a, str>>,
    meta: Option<Cow<'a, str>>,
}

impl CallerRequest<'_> {
    fn into_owned(self) -> CallerRequest<'static> {
        CallerRequest {
            ask: self.ask,
            caller: self.caller,
            falls_back: self.falls_back,
            id: self.id,
            method: Cow::Owned(self.method.into_owned()),
            params: self.params.map(|params| Cow::Owned(params.into_owned())),
            meta: self.meta.map(|meta| Cow::Owned(meta.into_owned())),
        }
    }

    /// How many bytes it keeps.
    fn weight(&self) -> usize {
        let texts = [&self.params, &self.meta].into_iter().flatten();
        self.method.len() + texts.map(|text| text.len()).sum::<usize>()
    }
}

/// What a question of the seat's is.
#[derive(Debug)]
enum Open {
    Connect(Owner),
    Disconnect(Option<Asked>),
    /// Which version the provider speaks on the seat's own connection.
    Probe,
    /// `initialize` on the seat's own connection.
    Initialize,
    /// A caller's request, which the provider has.
    Caller(Relayed),
    /// A provider's request, which a caller has.
    Provider {
        ask: Asked,
        place: Owner,
    },
    /// The same, when nobody waits for its answer any more.
    Over,
}

#[derive(Debug)]
struct Relayed {
    ask: Asked,
    place: Owner,
    caller: Caller,
    id: Option<Id>,
    listens: bool,
    /// The caller's token, in place of which the provider has the question's number.
    token: Option<Id>,
    withdrawn: bool,
    /// For what is adapted: whether its result says how long it may be kept.
    cacheable: bool,
}

impl Seat for ConnectedProvider {
    fn take(&mut self, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        match input {
            Input::Connect {
                ask,
                connection,
                meta,
            } => {
                if self.links.len() >= protocol::CONNECTIONS || self.is_full() {
                    out.push(protocol::failed(ask, &protocol::full(&self.name)));
                } else {
                    self.connect(Owner::Caller(connection), Some(ask), meta, &mut out);
                }
            }
            Input::Disconnect {
                ask,
                connection,
                meta,
            } => self.disconnect(ask, connection, meta, &mut out),
            Input::Request {
                ask,
                caller,
                id,
                method,
                params,
                falls_back,
                meta,
            } => {
                let said = CallerRequest {
                    ask,
                    caller,
                    falls_back,
                    id: protocol::token(Some(id)),
                    method: method.into(),
                    params: params.map(Cow::Borrowed),
                    meta: meta.map(Cow::Borrowed),
                };
                if let Err(error) = self.request(said, &mut out) {
                    out.push(protocol::failed(ask, &error));
                }
            }
            Input::Notification {
                connection,
                method,
                params,
                meta,
            } => self.notification(connection, method, [params, meta], &mut out),
            Input::Withdrawn { ask } => self.withdraw(ask, &mut out),
            Input::Answered { question, outcome } => self.answered(question, outcome, &mut out),
            Input::ProviderRequest { ask, params } => {
                if let Err(error) = self.provider_asks(ask, params, &mut out) {
                    out.push(protocol::failed(ask, &error));
                }
            }
            Input::ProviderNotification { params } => {
                if let Err(error) = self.provider_tells(params, &mut out) {
                    self.note_dropped("a notification of its provider's", &error.message);
                }
            }
            Input::Over => self.close(&mut out),
            Input::ProviderLost => self.lose(&mut out),
            Input::Changed(_) | Input::Asks { .. } | Input::Progress { .. } => {}
        }
        out
    }

    fn weight(&self) -> usize {
        self.kept()
    }

    fn has(&self, connection: Option<&str>, _: Option<&str>) -> bool {
        // One that is longer is none, and is not looked at: anybody may ask for it.
        let connection = connection.filter(|connection| connection.len() <= protocol::TOKEN);
        let theirs = connection.and_then(|connection| Id::parse(&quoted(connection)));
        theirs.is_some_and(|theirs| self.theirs.contains_key(&theirs))
    }
}

impl ConnectedProvider {
    /// The seat of the provider that declared its server with this `id`.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: protocol::clipped(id),
            named: "acpId",
            last: 0,
            links: BTreeMap::new(),
            theirs: HashMap::new(),
            questions: BTreeMap::new(),
            dropped: Dropped::default(),
        }
    }

    /// The seat of one that knows its server by `serverId` (schema 1.4 to 1.9). Questions up to this one
    /// were asked before.
    pub(super) fn by_server_id(id: &str, last: Question) -> Self {
        Self {
            named: "serverId",
            last,
            ..Self::new(id)
        }
    }

    /// Says that something came to nothing.
    fn note_dropped(&mut self, what: &str, reason: &str) {
        let reason = format!("dropped {what}: {}", protocol::clipped(reason));
        self.dropped.note(&self.name, &reason);
    }

    /// How many bytes wait.
    fn kept(&self) -> usize {
        self.links.values().map(ProviderConnection::weight).sum()
    }

    fn is_full(&self) -> bool {
        let wait = |link: &ProviderConnection| {
            link.waiting.len() + link.listens.waiting.len() + link.local()
        };
        let waiting: usize = self.links.values().map(wait).sum();
        self.questions.len() + waiting >= protocol::OPEN
    }

    fn ask(&mut self, open: Open) -> Question {
        self.last += 1;
        self.questions.insert(self.last, open);
        self.last
    }

    fn request(&mut self, said: CallerRequest, out: &mut Vec<Output>) -> Result<(), Error> {
        if self.is_full() {
            return Err(protocol::full(&self.name));
        }
        protocol::is_carried(&said.caller)?;
        let place = match &said.caller {
            Caller::Connection(connection) => Owner::Caller(*connection),
            Caller::Request(_) => {
                match protocol::stands_alone(said.params.as_deref()) {
                    // The provider says itself which versions it knows.
                    Err(error) if error.code == protocol::code::UNSUPPORTED_VERSION => {}
                    other => other?,
                }
                if !self.links.contains_key(&Owner::Own) {
                    self.connect(Owner::Own, None, None, out);
                }
                Owner::Own
            }
        };
        let link = self.links.get(&place).ok_or_else(|| {
            let text = "There is no such connection, or it is over";
            Error::new(code::INVALID_REQUEST, text)
        })?;
        let waits = !link.open || (said.method == LISTEN && link.listens.is_asking());
        if waits && !protocol::keeps(self.kept(), said.weight()) {
            return Err(protocol::heavy(&self.name));
        }
        match self.links.get_mut(&place) {
            Some(link) if !link.open => link.waiting.push_back(Waits::Request(said.into_owned())),
            _ => self.send(place, said, out),
        }
        Ok(())
    }

    /// Sends a request on a connection that is open.
    fn send(&mut self, place: Owner, said: CallerRequest, out: &mut Vec<Output>) {
        let Some(said) = self.adapt(place, said, out) else {
            return;
        };
        let Some(link) = self.links.get_mut(&place) else {
            return;
        };
        let Some(theirs) = link.theirs.clone() else {
            return;
        };
        let listens = said.method == LISTEN;
        if listens && link.listens.is_asking() {
            link.listens.waiting.push_back(said.into_owned());
            return;
        }
        let adapted = link.legacy.is_some();
        let mut params = said.params;
        let mut token = None;
        if place == Owner::Own {
            token = protocol::token(protocol::meta(params.as_deref(), key::PROGRESS));
            if token.is_some() {
                let number = (self.last + 1).to_string();
                let replaced = protocol::with_meta(params.as_deref(), key::PROGRESS, Some(&number));
                params = Some(replaced.into());
            }
        }
        let params = envelope(
            &theirs,
            &said.method,
            params.as_deref(),
            said.meta.as_deref(),
        );
        let question = self.ask(Open::Caller(Relayed {
            ask: said.ask,
            place,
            caller: said.caller,
            id: said.id,
            listens,
            token,
            withdrawn: false,
            cacheable: adapted && protocol::is_cacheable(&said.method),
        }));
        if listens && let Some(link) = self.links.get_mut(&place) {
            link.listens.ask(question);
        }
        out.push(Output::AskProvider {
            question,
            method: "mcp/message",
            params,
        });
    }

    /// Sends the next `subscriptions/listen`, if it may go.
    fn listen_on(&mut self, place: Owner, out: &mut Vec<Output>) {
        let Some(link) = self.links.get_mut(&place) else {
            return;
        };
        if !link.listens.is_asking()
            && let Some(said) = link.listens.waiting.pop_front()
        {
            self.send(place, said, out);
        }
    }

    fn notification(
        &mut self,
        connection: ConnectionId,
        method: &str,
        [params, meta]: [Option<&str>; 2],
        out: &mut Vec<Output>,
    ) {
        let place = Owner::Caller(connection);
        if method == protocol::CANCELLED {
            let named = params.and_then(|params| member(params, "requestId"));
            if let Some(ask) = protocol::token(named).and_then(|id| self.named(place, &id)) {
                self.withdraw(ask, out);
            }
            return;
        }
        let weight = method.len() + params.map_or(0, str::len) + meta.map_or(0, str::len);
        match self.links.get(&place) {
            None => return,
            Some(link) if link.open => return self.tell(place, method, [params, meta], out),
            Some(_) if self.is_full() || !protocol::keeps(self.kept(), weight) => {
                return self.note_dropped("a notification for it", "too much waits");
            }
            Some(_) => {}
        }
        if let Some(link) = self.links.get_mut(&place) {
            link.waiting.push_back(Waits::Notification {
                method: method.to_owned(),
                params: params.map(str::to_owned),
                meta: meta.map(str::to_owned),
            });
        }
    }

    /// The open request that has this id for the caller on a connection.
    fn named(&self, place: Owner, id: &Id) -> Option<Asked> {
        let link = self.links.get(&place)?;
        let relayed = self.questions.values().find_map(|open| match open {
            Open::Caller(relayed) if relayed.place == place && relayed.id.as_ref() == Some(id) => {
                Some(relayed.ask)
            }
            _ => None,
        });
        let waits = |said: &&CallerRequest| said.id.as_ref() == Some(id);
        relayed.or_else(|| link.requests().find(waits).map(|said| said.ask))
    }

    fn tell(
        &self,
        place: Owner,
        method: &str,
        [params, meta]: [Option<&str>; 2],
        out: &mut Vec<Output>,
    ) {
        let link = self.links.get(&place);
        out.extend(
            link.and_then(|link| link.theirs.as_ref())
                .map(|theirs| Output::TellProvider {
                    params: envelope(theirs, method, params, meta),
                }),
        );
    }

    fn withdraw(&mut self, ask: Asked, out: &mut Vec<Output>) {
        let asked = self.questions.iter_mut().find(|(_, open)| match open {
            Open::Caller(relayed) => relayed.ask == ask,
            Open::Provider { ask: of, .. } => *of == ask,
            _ => false,
        });

        if let Some((question, open)) = asked {
            if let Open::Caller(relayed) = open {
                relayed.withdrawn = true;
            }
            out.push(Output::Withdraw {
                question: *question,
            });
            return;
        }
        let connects = self.links.iter().find(|(_, link)| link.ask == Some(ask));
        if let Some(place) = connects.map(|(place, _)| *place) {
            self.withdraw_connect(place, out);
            self.fail(place, &Message::error(&Error::cancelled()), out);
            return;
        }
        out.extend(self.links.values_mut().find_map(|link| link.forget(ask)));
    }

    fn answered(&mut self, question: Question, outcome: Message, out: &mut Vec<Output>) {
        let Some(open) = self.questions.remove(&question) else {
            return;
        };
        match open {
            Open::Connect(place) => self.connect_answered(place, outcome, out),
            Open::Disconnect(ask) => out.extend(ask.map(|ask| link::disconnected(ask, outcome))),
            Open::Probe => self.probed(&outcome, out),
            Open::Initialize => self.initialized(&outcome, out),
            Open::Provider { ask, .. } => out.push(protocol::answer(ask, outcome)),
            Open::Over => {}
            Open::Caller(relayed) => {
                let (place, listens) = (relayed.place, relayed.listens);
                out.push(self.relayed(relayed, outcome));
                if listens && let Some(link) = self.links.get_mut(&place) {
                    link.listens.end(question);
                    self.listen_on(place, out);
                }
            }
        }
    }

    fn relayed(&self, relayed: Relayed, outcome: Message) -> Output {
        let ask = relayed.ask;
        let subscription = relayed.id.as_ref().filter(|_| relayed.listens);
        let outcome = protocol::subscribed(outcome, subscription);
        let link = self.links.get(&relayed.place);
        let outcome = match link.is_some_and(|link| link.legacy.is_some()) {
            true => own::adapted(outcome, relayed.cacheable),
            false => outcome,
        };
        protocol::answer(ask, outcome)
    }
}

/// The params of `mcp/message`.
fn envelope(theirs: &Id, method: &str, params: Option<&str>, meta: Option<&str>) -> String {
    let (theirs, method) = (theirs.as_str(), quoted(method));
    let member = |name, value| format!(r#","{name}":{value}"#);
    let params = params.map(|params| member("params", params));
    let meta = meta.map(|meta| member("_meta", meta));
    let (params, meta) = (params.unwrap_or_default(), meta.unwrap_or_default());
    format!(r#"{{"connectionId":{theirs},"method":{method}{params}{meta}}}"#)
}
