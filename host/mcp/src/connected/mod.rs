//! A provider that speaks the dialect of the RFD: callers connect to it, and then both sides send messages.
//!
//! Messages between a caller on a connection and the provider pass unchanged, including `_meta` of ACP's messages and
//! answers. Only the connection's id is replaced, and the `subscriptionId` of `subscriptions/listen`, which is valid on
//! one hop only. Callers whose requests stand alone share one connection of the seat, which is closed with the server;
//! see `own.rs`.
//!
//! Invariants beside those of every [seat](super::seat): a cancelled request is also answered, once; the provider can
//! send only on connections that it has accepted and that are open.
//!
//! - Messages that arrive while a connection is being opened wait for it. If it fails, so do they.
//! - A provider's error passes unchanged. A `connectionId` that is not a string, or that is already open, becomes the
//!   error -32603.
//! - A provider's request on a connection that it does not have fails with -32602; a notification is dropped.
//! - `notifications/cancelled` names an id that is valid on one hop only, so a provider's never passes: it cancels with
//!   `$/cancel_request`.
//! - On each connection only one `subscriptions/listen` at a time waits to be acknowledged: an acknowledgement is
//!   matched by order.
//! - Requests past [`OPEN`](protocol::OPEN) open ones fail with -33000, and so do requests that are too large together
//!   to keep until they can be sent.
//! - Closing a connection cancels the provider's requests on it. A restart of the provider closes its connections:
//!   callers are notified, and connect again. Only a connection whose `mcp/connect` the provider has not received yet
//!   stays.

mod link;
mod own;
mod provider;
mod server;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};

use self::provider::Listens;
use self::server::LegacyServer;
use super::protocol::{self, KEPT, key, quoted, with_meta};
use super::seat::{Caller, CallerRequest, Input, Output, Outputs, Seat};
use super::wire::{self, McpMessage};
use super::{ConnectionId, IncomingId, OutgoingId};
use acp_chain_channel::limits::{Account, Charge};
use acp_chain_rpc::{Error, Id, Message, code};

/// Only one request with this method may be unacknowledged at a time.
const LISTEN: &str = "subscriptions/listen";

/// The seat of one provider.
#[derive(Debug)]
pub struct ConnectedProvider {
    id: String,
    /// The id, truncated for errors.
    name: String,
    /// The member of the id in `mcp/connect`.
    named: &'static str,
    links: BTreeMap<Owner, ProviderConnection>,
    /// The connections that the provider has accepted, by its ids.
    theirs: HashMap<Id, Owner>,
    questions: BTreeMap<OutgoingId, Open>,
    /// The account of waiting messages.
    kept: Account,
    out: Outputs,
}

/// The owner of a connection to the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Owner {
    Caller(ConnectionId),
    /// All callers whose requests stand alone.
    Own,
}

/// A connection to the provider.
#[derive(Debug, Default)]
struct ProviderConnection {
    /// The provider's id, once it has accepted the connection.
    theirs: Option<Id>,
    /// Whether messages are sent at once, rather than wait. Only a `subscriptions/listen` may still wait then, for the
    /// acknowledgement of another.
    open: bool,
    /// The caller's `mcp/connect`, until it is answered.
    ask: Option<IncomingId>,
    waiting: VecDeque<(WaitingMessage, Charge)>,
    listens: Listens,
    /// The legacy provider, on the seat's own connection.
    legacy: Option<LegacyServer>,
}

/// A message that waits for a connection.
#[derive(Debug)]
enum WaitingMessage {
    Request(CallerRequest),
    Notification(McpMessage),
}

impl WaitingMessage {
    fn request(&self) -> Option<&CallerRequest> {
        match self {
            Self::Request(request) => Some(request),
            Self::Notification(_) => None,
        }
    }
}

/// The purpose of a request of the seat.
#[derive(Debug)]
enum Open {
    Connect(Owner),
    Disconnect(Option<IncomingId>),
    /// `server/discover` on the seat's own connection, to determine the provider's version.
    Probe,
    /// `initialize` on the seat's own connection.
    Initialize,
    /// A caller's request, sent to the provider.
    Caller(RelayedRequest),
    /// A provider's request, sent to a caller.
    Provider {
        ask: IncomingId,
        place: Owner,
    },
    /// A provider's cancelled request, whose answer from the caller is ignored.
    Over,
}

#[derive(Debug)]
struct RelayedRequest {
    ask: IncomingId,
    place: Owner,
    caller: Caller,
    id: Option<Id>,
    listens: bool,
    /// The caller's progress token. The provider gets the number of the seat's request instead.
    token: Option<Id>,
    withdrawn: bool,
    /// Whether the request is translated, and its result needs the members of a cacheable result.
    cacheable: bool,
}

impl RelayedRequest {
    /// Sends the caller a notification that belongs to the request.
    fn tell(&self, said: McpMessage, out: &mut Outputs) {
        out.tell_caller(self.caller.clone(), Some(self.ask), said);
    }
}

impl Seat for ConnectedProvider {
    fn take(&mut self, input: Input) -> Vec<Output> {
        match input {
            Input::Connect { ask, .. } if self.is_full() => {
                self.out.fail(ask, &protocol::full(&self.name));
            }
            Input::Connect {
                ask,
                connection,
                meta,
            } => self.begin(Owner::Caller(connection), Some(ask), meta),
            Input::Disconnect {
                ask,
                connection,
                meta,
            } => self.end(ask, Owner::Caller(connection), meta),
            Input::Request(request) => {
                let ask = request.ask;
                let done = self.request(request);
                self.out.settle(ask, done);
            }
            Input::Notification { connection, said } => self.notification(connection, said),
            Input::Withdrawn { ask } => self.withdraw(ask),
            Input::Answered { question, outcome } => self.answered(question, outcome),
            Input::ProviderRequest { ask, message } => {
                let done = self.pass_request(ask, message);
                self.out.settle(ask, done);
            }
            Input::ProviderNotification { message } => {
                if let Err(error) = self.pass_notification(message) {
                    self.note_dropped("a notification from its provider", &error.message);
                }
            }
            Input::ProviderLost { waiting } => self.lose(waiting),
            Input::Over => self.close(),
            Input::Component(_) => {}
        }
        self.out.take()
    }

    fn has(&self, connection: Option<&str>, _: Option<&str>) -> bool {
        // A longer id cannot exist. It is not parsed, as it may come from any caller.
        let connection = connection.filter(|connection| connection.len() <= protocol::TOKEN);
        let theirs = connection.and_then(|connection| Id::parse(&quoted(connection)));
        theirs.is_some_and(|theirs| self.theirs.contains_key(&theirs))
    }

    fn has_caller(&self, connection: ConnectionId) -> bool {
        self.links.contains_key(&Owner::Caller(connection))
    }
}

impl ConnectedProvider {
    /// The seat of the provider that declared its server with this `id`. What it keeps is charged to a part of `kept`.
    pub fn new(id: &str, kept: &Account) -> Self {
        Self {
            id: id.to_owned(),
            name: protocol::clipped(id),
            named: "acpId",
            links: BTreeMap::new(),
            theirs: HashMap::new(),
            questions: BTreeMap::new(),
            kept: kept.part(KEPT),
            out: Outputs::default(),
        }
    }

    /// The seat of a provider that declared its server with a `serverId` (schema 1.4 to 1.9). `last` is the last number
    /// used for a request.
    pub(super) fn by_server_id(id: &str, last: OutgoingId, kept: &Account) -> Self {
        let mut seat = Self {
            named: "serverId",
            ..Self::new(id, kept)
        };
        seat.out.last = last;
        seat
    }

    fn request(&mut self, request: CallerRequest) -> Result<(), Error> {
        if self.is_full() {
            return Err(protocol::full(&self.name));
        }
        let place = match &request.caller {
            Caller::Connection(connection) => Owner::Caller(*connection),
            Caller::Request(_) => {
                match protocol::stands_alone(request.said.params()) {
                    // The provider's error names the versions that it supports.
                    Err(error) if error.code == protocol::code::UNSUPPORTED_VERSION => {}
                    other => other?,
                }
                if !self.links.contains_key(&Owner::Own) {
                    self.begin(Owner::Own, None, None);
                }
                Owner::Own
            }
        };
        let link = self.links.get(&place).ok_or_else(|| {
            let text = "There is no such connection, or it is closed";
            Error::new(code::INVALID_REQUEST, text)
        })?;
        let waits =
            !link.open || (request.said.method() == LISTEN && link.listens.asking.is_some());
        let kept = if waits { request.said.weight() } else { 0 };
        let charge = protocol::keep(&self.kept, kept, &self.name)?;
        match self.links.get_mut(&place) {
            Some(link) if !link.open => {
                let waits = WaitingMessage::Request(request);
                link.waiting.push_back((waits, charge));
            }
            _ => self.send(place, request),
        }
        Ok(())
    }

    fn notification(&mut self, connection: ConnectionId, said: McpMessage) {
        let place = Owner::Caller(connection);
        let is_full = self.is_full();
        let Some(link) = self.links.get_mut(&place) else {
            return;
        };
        if link.open {
            return self.tell(place, &said);
        }
        match protocol::keep(&self.kept, said.weight(), &self.name) {
            Ok(charge) if !is_full => {
                let waits = WaitingMessage::Notification(said);
                link.waiting.push_back((waits, charge));
            }
            _ => self.note_dropped("a notification for it", "too many messages wait"),
        }
    }

    fn withdraw(&mut self, ask: IncomingId) {
        let asked = self.questions.iter_mut().find(|(_, open)| match open {
            Open::Caller(relayed) => relayed.ask == ask,
            Open::Provider { ask: of, .. } => *of == ask,
            _ => false,
        });
        if let Some((question, open)) = asked {
            if let Open::Caller(relayed) = open {
                relayed.withdrawn = true;
            }
            return self.out.withdraw(*question);
        }
        let connects = self.links.iter().find(|(_, link)| link.ask == Some(ask));
        if let Some(place) = connects.map(|(place, _)| *place) {
            self.withdraw_connect(place);
            return self.fail(place, &Message::error(&Error::cancelled()));
        }
        let forgotten = self.links.values_mut().find_map(|link| link.forget(ask));
        if let Some(outcome) = forgotten {
            self.out.answer(ask, outcome);
        }
    }

    fn answered(&mut self, question: OutgoingId, outcome: Message) {
        let Some(open) = self.questions.remove(&question) else {
            return;
        };
        match open {
            Open::Connect(place) => self.connect_answered(place, &outcome),
            Open::Disconnect(ask) => self.disconnect_answered(ask, outcome),
            Open::Probe => self.probed(&outcome),
            Open::Initialize => self.initialized(&outcome),
            Open::Provider { ask, .. } => self.out.answer(ask, outcome),
            Open::Over => {}
            Open::Caller(relayed) => self.relayed(question, &relayed, outcome),
        }
    }

    /// Connects to the provider for a caller whose `mcp/connect` is answered already.
    pub(super) fn connect_again(&mut self, id: ConnectionId, meta: Option<&str>) -> Vec<Output> {
        self.begin(Owner::Caller(id), None, meta);
        self.out.take()
    }

    fn note_dropped(&mut self, what: &str, reason: &str) {
        let (name, reason) = (&self.name, protocol::clipped(reason));
        let why = format!("the MCP server {name:?}: dropped {what}: {reason}");
        self.out.push(Output::Drop { why });
    }

    fn is_full(&self) -> bool {
        let waiting: usize = self.links.values().map(|link| link.waiting.len()).sum();
        // The subscriptions that the seat answers for a legacy provider.
        let legacy = self.links.values().filter_map(|link| link.legacy.as_ref());
        let answered: usize = legacy.map(|legacy| legacy.listeners.all.len()).sum();
        self.questions.len() + waiting + answered >= protocol::OPEN
    }

    fn ask(&mut self, open: Open) -> OutgoingId {
        let question = self.out.number();
        self.questions.insert(question, open);
        question
    }

    /// Sends a request on an open connection.
    fn send(&mut self, place: Owner, request: CallerRequest) {
        let Some(request) = self.adapt(place, request) else {
            return;
        };
        let Some(link) = self.links.get_mut(&place) else {
            return;
        };
        let listens = request.said.method() == LISTEN;
        if listens && link.listens.asking.is_some() {
            let charge = self.kept.charge_anyway(request.said.weight());
            let waits = WaitingMessage::Request(request);
            return link.waiting.push_back((waits, charge));
        }
        let adapted = link.legacy.is_some();
        let mut said = request.said;
        let mut token = None;
        if place == Owner::Own {
            token = protocol::token(protocol::meta(said.params(), key::PROGRESS));
            if token.is_some() {
                let number = (self.out.last + 1).to_string();
                said.set_params(&with_meta(said.params(), key::PROGRESS, Some(&number)));
            }
        }
        let relayed = RelayedRequest {
            ask: request.ask,
            place,
            caller: request.caller,
            id: request.id,
            listens,
            token,
            withdrawn: false,
            cacheable: adapted && protocol::is_cacheable(said.method()),
        };
        let question = self.ask_on(place, Open::Caller(relayed), &said);
        if listens && let Some(link) = self.links.get_mut(&place) {
            link.listens.asking = question;
        }
    }

    /// Sends an MCP request to the provider on a connection that the provider has accepted. Returns its number.
    fn ask_on(&mut self, place: Owner, open: Open, said: &McpMessage) -> Option<OutgoingId> {
        let theirs = self.links.get(&place)?.theirs.as_ref()?;
        let params = wire::on_connection(theirs.as_str(), said);
        let question = self.ask(open);
        self.out.ask_provider(question, "mcp/message", &params);
        Some(question)
    }

    /// Sends the next `subscriptions/listen`, unless one is unacknowledged.
    fn listen_on(&mut self, place: Owner) {
        let Some(link) = self.links.get_mut(&place) else {
            return;
        };
        if link.open
            && link.listens.asking.is_none()
            && let Some((WaitingMessage::Request(request), _)) = link.waiting.pop_front()
        {
            self.send(place, request);
        }
    }

    /// Sends a notification to the provider on a connection.
    fn tell(&mut self, place: Owner, said: &McpMessage) {
        let link = self.links.get(&place);
        if let Some(theirs) = link.and_then(|link| link.theirs.as_ref()) {
            let params = wire::on_connection(theirs.as_str(), said);
            let message = Message::notification("mcp/message", &params);
            self.out.push(Output::Provider(None, message));
        }
    }

    /// Passes on the provider's answer to a caller.
    fn relayed(&mut self, question: OutgoingId, relayed: &RelayedRequest, outcome: Message) {
        let place = relayed.place;
        let subscription = relayed.id.as_ref().filter(|_| relayed.listens);
        let mut outcome = protocol::subscribed(outcome, subscription);
        let link = self.links.get_mut(&place);
        if link.is_some_and(|link| link.legacy.is_some()) {
            outcome = LegacyServer::answer(outcome, relayed.cacheable);
        }
        self.out.answer(relayed.ask, outcome);
        if relayed.listens
            && let Some(link) = self.links.get_mut(&place)
        {
            link.listens.end(question);
            self.listen_on(place);
        }
    }
}
