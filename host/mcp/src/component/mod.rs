//! The MCP server that the host runs for a component with tools, resources, prompts or completion.
//!
//! It supports every [`Version`]: a connection that begins with `initialize` has the negotiated version, and a request
//! that names 2026-07-28 in its `_meta` stands alone, even on a connection.
//!
//! Invariants beside those of every [seat](super::seat): a cancelled request is also answered, once; clients receive
//! only checked items and results, and components only checked calls.
//!
//! - The component's lists are requested when a client first needs them, and kept until the component reports a change,
//!   see `list.rs`.
//! - Invalid items are left out of a list, and the reason is reported to the user.
//! - If a list is malformed, or the component returns an error, requests that need the list fail with -32603, which
//!   names the proxy and the problem; the next request retries. `initialize` and `server/discover` then lack
//!   `instructions`.
//! - Arguments that do not match the `inputSchema` cause a tool result with `isError` from 2025-11-25 on (SEP-1303),
//!   and the error -32602 before. Arguments are not checked against schemas that are recursive, refer to other
//!   documents, are large, or have regular expressions with look-around. Large arguments are not checked either; the
//!   limit depends on the schema, see `crate::schema`.
//! - A result that MCP does not allow for the call, or that does not match the `outputSchema`, becomes the error
//!   -32603.
//! - Any resource can be read and subscribed to, listed or not: the host cannot know which exist.
//! - For the component's requests to the client during a call, see `asks.rs`.
//! - Progress is sent to callers that gave a token, as long as it increases.
//! - Requests past [`OPEN`](protocol::OPEN) open ones fail with -33000, and so do requests that are too large together:
//!   to keep while the component lists, or to check and answer afterwards.
//!
//! Not offered: `logging/setLevel`, tasks.

mod answers;
mod asks;
mod called;
mod calls;
mod catalog;
pub mod channel;
mod list;
mod mirrors;
mod outcome;
mod prompt;
mod resource;
mod section;
mod subscriptions;
#[cfg(test)]
mod tests;
mod tool;
mod wants;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::calls::Call;
pub use self::catalog::Catalog;
use self::channel::{FromComponent, ToComponent};
use self::list::List;
use self::wants::Wants;
use super::listening::{Filter, Listener};
use super::mirrored::Mirrored;
use super::protocol::{self, Version, connection_version, no_method};
use super::seat::{
    Adapter, Caller, CallerRequest, Input, Output, Outputs, Seat, connected, dispatch,
};
use super::wire::Said;
use super::{Asked, ConnectionId, Question};
use acp_chain_channel::{Offer, Offers};
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};

/// The server of one component.
#[derive(Debug)]
pub struct ComponentProvider {
    name: String,
    offers: Offers,
    last: Question,
    connections: BTreeMap<ConnectionId, Connection>,
    lists: BTreeMap<Offer, List>,
    waiting: Vec<Waiting>,
    calls: BTreeMap<Question, Call>,
    listeners: BTreeMap<Asked, Listener>,
    /// The component's requests to clients.
    asks: BTreeMap<Asked, asks::Open>,
    out: Outputs,
}

#[derive(Debug, Default)]
struct Connection {
    /// The version negotiated by `initialize`.
    version: Option<Version>,
    /// The client's capabilities from `initialize`, as JSON text.
    capabilities: Option<Box<str>>,
    /// The notifications that the client gets: of all lists, once it has sent `notifications/initialized`, and of the
    /// resources that it subscribes to.
    filter: Filter,
}

impl Connection {
    /// How many bytes the connection keeps.
    fn weight(&self) -> usize {
        let capabilities = self.capabilities.as_ref().map_or(0, |text| text.len());
        capabilities + self.filter.weight()
    }
}

/// A caller's request.
#[derive(Clone, Debug)]
struct Request {
    ask: Asked,
    caller: Caller,
    id: Option<Id>,
    version: Version,
}

/// A request that needs a list.
#[derive(Debug)]
struct Waiting {
    request: Request,
    wants: Wants,
    list: Offer,
}

impl Seat for ComponentProvider {
    fn take(&mut self, input: Input) -> Vec<Output> {
        dispatch(self, input)
    }

    fn check_headers(&self, params: &str, headers: &Mirrored) -> Result<(), Error> {
        let tools = self.lists.get(&Offer::Tools).and_then(List::catalog);
        // Before the tools are listed, no client can know of annotations.
        let Some(tools) = tools.map(|catalog| &catalog.tools) else {
            return Ok(());
        };
        let name = protocol::string(Some(params), "name").unwrap_or_default();
        let Some(tool) = tools.get(&name) else {
            return Ok(());
        };
        let arguments = member(params, "arguments").unwrap_or("{}");
        mirrors::check(&tool.mirrors, arguments, headers)
            .map_err(|reason| Error::new(protocol::code::HEADER_MISMATCH, reason))
    }

    fn weight(&self) -> usize {
        let catalogs = self.lists.values().filter_map(List::catalog);
        let catalogs: usize = catalogs.map(|catalog| catalog.weight()).sum();
        self.kept() + self.kept_for_clients() + catalogs
    }
}

impl Adapter for ComponentProvider {
    fn outputs(&mut self) -> &mut Outputs {
        &mut self.out
    }

    fn connect(&mut self, ask: Asked, id: ConnectionId, _: Option<&str>) -> Result<(), Error> {
        if self.connections.len() >= protocol::CONNECTIONS {
            return Err(protocol::full(&self.name));
        }
        self.connections.insert(id, Connection::default());
        self.out.answer(ask, connected(id, None));
        Ok(())
    }

    fn disconnect(&mut self, ask: Option<Asked>, id: ConnectionId, _: Option<&str>) {
        self.connections.remove(&id);
        let closed = Caller::Connection(id);
        let open = self.open().filter(|(_, caller, _)| **caller == closed);
        for ask in open.map(|(ask, ..)| ask).collect::<Vec<_>>() {
            self.withdraw(ask);
        }
        // A closed connection cannot retry with the answers.
        for (question, call) in &mut self.calls {
            if call.state.is_some() && call.request.caller == closed {
                call.withdrawn = true;
                self.out.withdraw(*question);
            }
        }
        self.out.done(ask);
    }

    fn request(&mut self, request: CallerRequest) -> Result<(), Error> {
        let idle = self.calls.values().filter(|call| call.state.is_some());
        if self.open().count() + idle.count() >= protocol::OPEN {
            return Err(protocol::full(&self.name));
        }
        let said = request.said;
        let (method, params) = (&*said.method, said.params());
        let request = Request {
            ask: request.ask,
            version: self.version(&request.caller, &said)?,
            caller: request.caller,
            id: request.id,
        };
        let is_legacy = request.version < Version::Stateless;
        if !is_legacy
            && Offer::of(method).is_some()
            && let Some(state) = protocol::string(params, "requestState")
        {
            return self.resume(request, method, params, &state);
        }
        let wants = match method {
            "ping" if is_legacy => {
                self.out.result(request.ask, "{}");
                return Ok(());
            }
            "initialize" if is_legacy => {
                self.introduce(&request.caller, params)?;
                Wants::Hello(Vec::new())
            }
            "server/discover" if !is_legacy => Wants::Hello(Vec::new()),
            "subscriptions/listen" if !is_legacy => return self.listen(request, params),
            "resources/subscribe" | "resources/unsubscribe"
                if is_legacy && self.offers.has(Offer::Resources) =>
            {
                return self.subscribe(&request, method, params);
            }
            _ => {
                let offered = Offer::of(method).filter(|offer| self.offers.has(*offer));
                offered.ok_or_else(|| no_method(method))?;
                let capabilities = self.capabilities(&request);
                let wants = Wants::read(method, params, capabilities)?;
                wants.ok_or_else(|| no_method(method))?
            }
        };
        self.begin(request, wants)
    }

    fn notification(&mut self, connection: ConnectionId, said: Said) {
        if said.method == "notifications/initialized"
            && let Some(connection) = self.connections.get_mut(&connection)
        {
            connection.filter.lists = [connection.version.is_some(); 3];
        }
    }

    fn named(&self, connection: ConnectionId, id: &Id) -> Option<Asked> {
        let here = Caller::Connection(connection);
        let mut open = self.open();
        let found = open.find(|(_, caller, of)| **caller == here && *of == Some(id));
        found.map(|(ask, ..)| ask)
    }

    fn withdraw(&mut self, ask: Asked) {
        let waits = |waiting: &Waiting| waiting.request.ask == ask;
        if let Some(at) = self.waiting.iter().position(waits) {
            self.waiting.remove(at);
            return self.out.fail(ask, &Error::cancelled());
        }
        if let Some(listener) = self.listeners.remove(&ask) {
            return self.out.result(ask, &listener.result());
        }
        if self.withdraw_ask(ask) {
            return;
        }
        let mut calls = self.calls.iter_mut();
        let is_it = |call: &Call| call.request.ask == ask && call.state.is_none();
        if let Some((question, call)) = calls.find(|(_, call)| is_it(call)) {
            // Progress of a cancelled call has no recipient.
            call.token = None;
            call.withdrawn = true;
            self.out.withdraw(*question);
        }
    }

    fn answered(&mut self, question: Question, outcome: Message) {
        if let Some(call) = self.calls.remove(&question) {
            self.end_asks(question);
            // Until the client retries the call, no request is open to answer.
            if call.state.is_none() {
                self.called(&call, outcome);
            }
        } else if !self.client_answered(question, &outcome) {
            self.listed(question, &outcome);
        }
    }

    fn component(&mut self, says: FromComponent) {
        match says {
            FromComponent::Changed(change) => self.changed(change),
            FromComponent::Asks { call, asks } => self.ask_client(call, asks),
            FromComponent::Progress {
                question,
                progress,
                total,
                message,
            } => {
                if let Some(call) = self.calls.get_mut(&question)
                    && let Some(said) = call.progressed(progress, total, message)
                {
                    self.out.tell_caller(call.request.caller.clone(), said);
                }
            }
        }
    }
}

impl ComponentProvider {
    /// The server of the component with this id, which is also the server's name, and these offers.
    #[must_use]
    pub fn new(name: &str, offers: Offers) -> Self {
        let lists = [Offer::Tools, Offer::Resources, Offer::Prompts].into_iter();
        let lists = lists.filter(|offer| offers.has(*offer));
        Self {
            name: name.to_owned(),
            offers,
            last: 0,
            connections: BTreeMap::new(),
            lists: lists.map(|offer| (offer, List::default())).collect(),
            waiting: Vec::new(),
            calls: BTreeMap::new(),
            listeners: BTreeMap::new(),
            asks: BTreeMap::new(),
            out: Outputs::default(),
        }
    }

    /// How many bytes wait for lists, and for clients that retry calls.
    fn kept(&self) -> usize {
        let waiting = self.waiting.iter().map(|waiting| waiting.wants.weight());
        let asks = self.asks.values().map(asks::Open::weight);
        waiting.chain(asks).sum()
    }

    /// How many bytes are kept for connected clients.
    fn kept_for_clients(&self) -> usize {
        let listeners = self.listeners.values();
        let listeners = listeners.map(|listener| listener.filter.weight());
        let connections = self.connections.values().map(Connection::weight);
        connections.chain(listeners).sum()
    }

    /// An error if `more` further bytes would be too much to keep for clients.
    fn has_room_for(&self, more: usize) -> Result<(), Error> {
        if protocol::keeps(self.kept_for_clients(), more) {
            Ok(())
        } else {
            Err(protocol::heavy(&self.name))
        }
    }

    fn number(&mut self) -> Question {
        self.last += 1;
        self.last
    }

    /// All unanswered requests, with their callers and the callers' ids.
    fn open(&self) -> impl Iterator<Item = (Asked, &Caller, Option<&Id>)> {
        let waiting = self.waiting.iter().map(|waiting| &waiting.request);
        let calls = self.calls.values().filter(|call| call.state.is_none());
        let requests = waiting.chain(calls.map(|call| &call.request));
        let requests = requests.map(|request| (request.ask, &request.caller, request.id.as_ref()));
        let listeners = self.listeners.iter();
        requests
            .chain(listeners.map(|(ask, listener)| (*ask, &listener.caller, Some(&listener.id))))
    }

    /// The capabilities of a request's client, if the request does not contain them.
    fn capabilities(&self, request: &Request) -> Option<&str> {
        match &request.caller {
            Caller::Connection(id) if request.version < Version::Stateless => {
                let connection = self.connections.get(id)?;
                Some(connection.capabilities.as_deref().unwrap_or("{}"))
            }
            _ => None,
        }
    }

    /// Keeps a client's capabilities from `initialize`.
    fn introduce(&mut self, caller: &Caller, params: Option<&str>) -> Result<(), Error> {
        let said = protocol::introduced(params, "capabilities").and_then(|said| {
            self.has_room_for(said.map_or(0, str::len))?;
            Ok(said)
        });
        if let Caller::Connection(id) = caller
            && let Some(connection) = self.connections.get_mut(id)
        {
            match &said {
                Ok(said) => connection.capabilities = said.map(Box::from),
                // The client may retry `initialize`.
                Err(_) => connection.version = None,
            }
        }
        said.map(drop)
    }

    /// Serves a request, at once or when the list that it needs arrives.
    fn begin(&mut self, request: Request, wants: Wants) -> Result<(), Error> {
        let needs = match &wants {
            Wants::Hello(_) => self.next_with_instructions(None),
            wants => wants.needs(),
        };
        let Some(list) = needs else {
            return self.serve_now(request, wants);
        };
        // With a known list the request does not wait.
        let unlisted = self.lists.get(&list).and_then(List::catalog).is_none();
        if unlisted && !protocol::keeps(self.kept(), wants.weight()) {
            return Err(protocol::heavy(&self.name));
        }
        self.waiting.push(Waiting {
            request,
            wants,
            list,
        });
        self.go_on();
        Ok(())
    }

    /// The next list after this one that may have instructions.
    fn next_with_instructions(&self, last: Option<Offer>) -> Option<Offer> {
        let mut all = [Offer::Tools, Offer::Resources].into_iter();
        all.find(|offer| self.offers.has(*offer) && Some(*offer) > last)
    }

    /// The version of a request.
    fn version(&mut self, caller: &Caller, said: &Said) -> Result<Version, Error> {
        let Caller::Connection(id) = caller else {
            return protocol::stands_alone(said.params()).map(|()| Version::Stateless);
        };
        let connection = self
            .connections
            .get_mut(id)
            .ok_or_else(|| Error::new(code::INVALID_REQUEST, "There is no such connection"))?;
        connection_version(&mut connection.version, &said.method, said.params())
    }

    /// Serves requests whose lists are known, and requests the other lists.
    fn go_on(&mut self) {
        let offers: Vec<_> = self.lists.keys().copied().collect();
        // A request that has the instructions of one list may then wait for the next list.
        for offer in offers {
            let is_needed = self.waiting.iter().any(|waiting| waiting.list == offer);
            let question = self.last + 1;
            let Some(list) = self.lists.get_mut(&offer).filter(|_| is_needed) else {
                continue;
            };
            if let Some(catalog) = list.catalog().cloned() {
                self.serve(offer, Ok(&catalog));
            } else if list.is_unknown() {
                list.ask(question);
                self.last = question;
                let asks = ToComponent::List(offer);
                self.out.push(Output::Component { question, asks });
            }
        }
    }

    fn leave_out(&mut self, text: &str) {
        let name = &self.name;
        self.out.push(Output::Notice {
            text: format!("of the proxy `{name}`, {text}."),
        });
    }

    /// Handles the component's answer to a list request.
    fn listed(&mut self, question: Question, outcome: &Message) {
        let mut lists = self.lists.iter_mut();
        let Some((offer, list)) = lists.find(|(_, list)| list.is_asked(question)) else {
            return;
        };
        let (offer, what) = (*offer, offer.as_str());
        let catalog = match outcome.kind() {
            Kind::Result => Catalog::read(outcome.body()).map(Arc::new),
            _ => Err(match protocol::string(Some(outcome.body()), "message") {
                Some(message) => {
                    let message = protocol::clipped(&message);
                    format!("it could not list its {what}: {message}")
                }
                None => format!("it could not list its {what}"),
            }),
        };
        list.answered(catalog.as_ref().ok());
        match &catalog {
            Ok(catalog) => {
                if let Some(reasons) = catalog.left_out() {
                    self.leave_out(&format!("{what} that it lists are left out: {reasons}"));
                }
            }
            // The answer is a malformed result; the conductor reports errors.
            Err(reason) if outcome.kind() == Kind::Result => {
                self.leave_out(&format!("no {what} are available: {reason}"));
            }
            Err(_) => {}
        }
        self.serve(offer, catalog.as_deref().map_err(|why| &**why));
        self.go_on();
    }
}
