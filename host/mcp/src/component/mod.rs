//! The MCP server that the host speaks for a component with tools, resources, prompts or completion.
//!
//! It speaks every [`Version`]: a connection that begins with `initialize` has the version that this
//! negotiates, and a request that names 2026-07-28 in its `_meta` stands alone, on a connection too.
//!
//! What always holds beside what every [seat](super::seat) promises: a request that was withdrawn is
//! answered as well, once; no client sees anything, and no component a call, that was not checked.
//!
//! - What the component lists is asked for when a client first needs it, and kept until the component
//!   says that it has changed, see `list.rs`.
//! - What is wrong is left out of a list, and the user is told why.
//! - A list that is none, or an error of the component's, is the error -32603 of whatever needs the
//!   list, which names the proxy and what is wrong; the next request asks again.
//!   `initialize` and `server/discover` then go without `instructions`.
//! - Arguments that do not match the `inputSchema` are a tool result with `isError` from 2025-11-25 on
//!   (SEP-1303), and the error -32602 before. A schema that refers to itself or elsewhere, that is
//!   large, or that has a regular expression which looks around is not checked against, and neither
//!   are large arguments, the sooner the larger the schema: `crate::schema` has the numbers.
//! - A result that is not what MCP has for the call, or that breaks the promise of the `outputSchema`,
//!   is the error -32603.
//! - Any resource can be read and subscribed to, listed or not: which there are, the component knows.
//! - What the component asks the client in a call, see `asks.rs`.
//! - Progress goes to a caller that gave a token, as long as it grows.
//! - More than [`OPEN`](protocol::OPEN) open requests are the error -33000, and so is what is too much
//!   at once: to keep while the component lists what it has, or to check and answer when it has.
//!
//! Not offered: `logging/setLevel`, tasks.

mod answers;
mod asks;
mod called;
mod calls;
mod catalog;
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
use self::list::List;
use self::subscriptions::Listener;
use self::wants::Wants;
use super::mirrored::Mirrored;
use super::protocol::{self, Dropped, Version, connection_version, invalid, is_object, no_method};
use super::seat::{Asked, Caller, ConnectionId, Input, Output, Question, Seat, connected};
use super::uris::Uris;
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
    /// What the component asks clients.
    asks: BTreeMap<Asked, asks::Open>,
    /// Lists that were none.
    dropped: Dropped,
}

#[derive(Debug, Default)]
struct Connection {
    /// What `initialize` negotiated.
    version: Option<Version>,
    /// What its client said in `initialize` that it can, as JSON text.
    capabilities: Option<Box<str>>,
    /// Whether `notifications/initialized` came.
    ready: bool,
    /// The resources that its client subscribes to.
    resources: Uris,
}

impl Connection {
    /// How many bytes are kept for as long as it is there.
    fn weight(&self) -> usize {
        self.capabilities.as_ref().map_or(0, |text| text.len()) + self.resources.weight()
    }
}

/// A request as its caller knows it.
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
        let mut out = Vec::new();
        match input {
            Input::Connect {
                ask, connection, ..
            } => out.push(self.connect(ask, connection)),
            Input::Disconnect {
                ask, connection, ..
            } => self.disconnect(ask, connection, &mut out),
            Input::Request {
                ask,
                caller,
                id,
                method,
                params,
                ..
            } => {
                let id = protocol::token(Some(id));
                if let Err(error) = self.request(ask, caller, id, method, params, &mut out) {
                    out.push(protocol::failed(ask, &error));
                }
            }
            Input::Notification {
                connection,
                method,
                params,
                ..
            } => self.notification(connection, method, params, &mut out),
            Input::Withdrawn { ask } => self.withdraw(ask, &mut out),
            Input::Answered { question, outcome } => self.answered(question, outcome, &mut out),
            Input::ProviderRequest { ask, .. } => {
                out.push(protocol::failed(ask, &no_method("mcp/message")));
            }
            Input::ProviderNotification { .. } | Input::ProviderLost | Input::Over => {}
            Input::Asks { call, asks } => self.ask_client(call, asks, &mut out),
            Input::Changed(change) => self.changed(change, &mut out),
            Input::Progress {
                question,
                progress,
                total,
                message,
            } => out.extend(self.progress(question, progress, total, message)),
        }
        out
    }

    fn check_headers(&self, params: &str, headers: &Mirrored) -> Result<(), Error> {
        let tools = self.lists.get(&Offer::Tools).and_then(List::catalog);
        // Of a list that is not known here no client can know.
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

impl ComponentProvider {
    /// The server of the component with this id, which is also the name that clients see, and which
    /// has this for the agent.
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
            dropped: Dropped::default(),
        }
    }

    /// How many bytes wait for lists, and for clients that come again.
    fn kept(&self) -> usize {
        let waiting = self.waiting.iter().map(|waiting| waiting.wants.weight());
        let asks = self.asks.values().map(asks::Open::weight);
        waiting.chain(asks).sum()
    }

    /// How many bytes are kept of what clients said, for as long as they are there.
    fn kept_for_clients(&self) -> usize {
        let listeners = self.listeners.values().map(Listener::weight);
        let connections = self.connections.values().map(Connection::weight);
        connections.chain(listeners).sum()
    }

    /// An error if clients have too much kept for them, with so much more.
    fn has_room_for(&self, more: usize) -> Result<(), Error> {
        match protocol::keeps(self.kept_for_clients(), more) {
            true => Ok(()),
            false => Err(protocol::heavy(&self.name)),
        }
    }

    fn number(&mut self) -> Question {
        self.last += 1;
        self.last
    }

    fn connect(&mut self, ask: Asked, connection: ConnectionId) -> Output {
        if self.connections.len() >= protocol::CONNECTIONS {
            return protocol::failed(ask, &protocol::full(&self.name));
        }
        self.connections.insert(connection, Connection::default());
        let outcome = connected(connection, None);
        protocol::answer(ask, outcome)
    }

    fn disconnect(&mut self, ask: Option<Asked>, connection: ConnectionId, out: &mut Vec<Output>) {
        self.connections.remove(&connection);
        let gone = Caller::Connection(connection);
        let open = self.open().filter(|request| request.caller == gone);
        let open: Vec<_> = open.map(|request| request.ask).collect();
        for ask in open {
            self.withdraw(ask, out);
        }
        // Nobody comes again with what was asked for.
        for (question, call) in &mut self.calls {
            if call.state.is_some() && call.request.caller == gone {
                call.withdrawn = true;
                let question = *question;
                out.push(Output::Withdraw { question });
            }
        }
        out.extend(ask.map(|ask| protocol::result(ask, "{}")));
    }

    /// All requests that are not answered yet.
    fn open(&self) -> impl Iterator<Item = &Request> {
        let waiting = self.waiting.iter().map(|waiting| &waiting.request);
        let calls = self.calls.values().filter(|call| call.state.is_none());
        let calls = calls.map(|call| &call.request);
        let listeners = self.listeners.values().map(|listener| &listener.request);
        waiting.chain(calls).chain(listeners)
    }

    fn request(
        &mut self,
        ask: Asked,
        caller: Caller,
        id: Option<Id>,
        method: &str,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let idle = self.calls.values().filter(|call| call.state.is_some());
        if self.open().count() + idle.count() >= protocol::OPEN {
            return Err(protocol::full(&self.name));
        }
        protocol::is_carried(&caller)?;
        let version = self.version(&caller, method, params)?;
        let request = Request {
            ask,
            caller,
            id,
            version,
        };
        if version == Version::Stateless
            && Offer::of(method).is_some()
            && let Some(state) = protocol::string(params, "requestState")
        {
            return self.resume(request, method, params, &state, out);
        }
        let wants = match (method, version) {
            ("ping", version) if version < Version::Stateless => {
                out.push(protocol::result(ask, "{}"));
                return Ok(());
            }
            ("initialize", version) if version < Version::Stateless => {
                self.introduce(&request.caller, params)?;
                Wants::Hello(Vec::new())
            }
            ("server/discover", Version::Stateless) => Wants::Hello(Vec::new()),
            ("subscriptions/listen", Version::Stateless) => {
                return self.listen(request, params, out);
            }
            ("resources/subscribe" | "resources/unsubscribe", version)
                if version < Version::Stateless && self.offers.has(Offer::Resources) =>
            {
                return self.subscribe(&request, method, params, out);
            }
            _ => {
                let offered = Offer::of(method).filter(|offer| self.offers.has(*offer));
                offered.ok_or_else(|| no_method(method))?;
                let capabilities = self.capabilities(&request);
                let wants = Wants::read(method, params, capabilities)?;
                wants.ok_or_else(|| no_method(method))?
            }
        };
        self.begin(request, wants, out)
    }

    /// What the client of a request can, where the request does not say it itself.
    fn capabilities(&self, request: &Request) -> Option<&str> {
        match &request.caller {
            Caller::Connection(id) if request.version < Version::Stateless => {
                let connection = self.connections.get(id)?;
                Some(connection.capabilities.as_deref().unwrap_or("{}"))
            }
            _ => None,
        }
    }

    /// Keeps what a client says in `initialize` that it can.
    fn introduce(&mut self, caller: &Caller, params: Option<&str>) -> Result<(), Error> {
        let said = params.and_then(|params| member(params, "capabilities"));
        let said = said.filter(|said| is_object(said));
        let length = said.map_or(0, str::len);
        let fits = match length > protocol::MAX_SAID {
            true => {
                let most = protocol::MAX_SAID / 1024;
                Err(invalid(format!("capabilities is larger than {most} KiB")))
            }
            false => self.has_room_for(length),
        };
        if let Caller::Connection(id) = caller
            && let Some(connection) = self.connections.get_mut(id)
        {
            match fits {
                Ok(()) => connection.capabilities = said.map(Box::from),
                // It may try again.
                Err(_) => connection.version = None,
            }
        }
        fits
    }

    /// Serves what is wanted, now or as soon as there is the list that it takes.
    fn begin(
        &mut self,
        request: Request,
        wants: Wants,
        out: &mut Vec<Output>,
    ) -> Result<(), Error> {
        let needs = match &wants {
            Wants::Hello(_) => self.next_with_instructions(None),
            wants => wants.needs(),
        };
        let Some(list) = needs else {
            return self.serve_now(request, wants, out);
        };
        // With a catalog nothing waits.
        let unlisted = self.lists.get(&list).and_then(List::catalog).is_none();
        if unlisted && !protocol::keeps(self.kept(), wants.weight()) {
            return Err(protocol::heavy(&self.name));
        }
        self.waiting.push(Waiting {
            request,
            wants,
            list,
        });
        self.go_on(out);
        Ok(())
    }

    /// The list behind this one that tells how to use what is in it.
    fn next_with_instructions(&self, last: Option<Offer>) -> Option<Offer> {
        let mut all = [Offer::Tools, Offer::Resources].into_iter();
        all.find(|offer| self.offers.has(*offer) && Some(*offer) > last)
    }

    /// Which version a request is of.
    fn version(
        &mut self,
        caller: &Caller,
        method: &str,
        params: Option<&str>,
    ) -> Result<Version, Error> {
        let connection =
            match caller {
                Caller::Request(_) => None,
                Caller::Connection(id) => Some(self.connections.get_mut(id).ok_or_else(|| {
                    Error::new(code::INVALID_REQUEST, "There is no such connection")
                })?),
            };
        match connection {
            Some(connection) => connection_version(&mut connection.version, method, params),
            None => protocol::stands_alone(params).map(|()| Version::Stateless),
        }
    }

    fn notification(
        &mut self,
        connection: ConnectionId,
        method: &str,
        params: Option<&str>,
        out: &mut Vec<Output>,
    ) {
        match method {
            "notifications/initialized" => {
                if let Some(connection) = self.connections.get_mut(&connection) {
                    connection.ready = connection.version.is_some();
                }
            }
            protocol::CANCELLED => {
                let named = params.and_then(|params| member(params, "requestId"));
                let named = protocol::token(named);
                let caller = Caller::Connection(connection);
                let found = self.open().find(|request| {
                    named.is_some() && request.id == named && request.caller == caller
                });
                if let Some(ask) = found.map(|request| request.ask) {
                    self.withdraw(ask, out);
                }
            }
            _ => {}
        }
    }

    fn withdraw(&mut self, ask: Asked, out: &mut Vec<Output>) {
        let waits = |waiting: &Waiting| waiting.request.ask == ask;
        if let Some(at) = self.waiting.iter().position(waits) {
            self.waiting.remove(at);
            out.push(protocol::failed(ask, &Error::cancelled()));
            return;
        }
        if let Some(listener) = self.listeners.remove(&ask) {
            out.push(protocol::result(ask, &protocol::listened(&listener.id)));
            return;
        }
        if self.withdraw_ask(ask, out) {
            return;
        }
        let mut calls = self.calls.iter_mut();
        let is_it = |call: &Call| call.request.ask == ask && call.state.is_none();
        if let Some((question, call)) = calls.find(|(_, call)| is_it(call)) {
            // Nobody is there to be told how far it is.
            call.token = None;
            call.withdrawn = true;
            let question = *question;
            out.push(Output::Withdraw { question });
        }
    }

    /// Serves what waits for lists that are known, and asks for the others.
    fn go_on(&mut self, out: &mut Vec<Output>) {
        let offers: Vec<_> = self.lists.keys().copied().collect();
        // Whoever has what one list says of instructions goes on to the next.
        for offer in offers {
            let is_needed = self.waiting.iter().any(|waiting| waiting.list == offer);
            let question = self.last + 1;
            let Some(list) = self.lists.get_mut(&offer).filter(|_| is_needed) else {
                continue;
            };
            if let Some(catalog) = list.catalog().cloned() {
                self.serve(offer, Ok(&catalog), out);
            } else if list.is_unknown() {
                list.ask(question);
                self.last = question;
                out.push(Output::List { question, offer });
            }
        }
    }

    fn answered(&mut self, question: Question, outcome: Message, out: &mut Vec<Output>) {
        if let Some(call) = self.calls.remove(&question) {
            self.end_asks(question, out);
            // While its client is to come again, nobody waits for it.
            if call.state.is_none() {
                out.push(self.called(&call, outcome));
            }
            return;
        }
        if self.client_answered(question, &outcome, out) {
            return;
        }
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
                    let text = format!("{what} that it lists are left out: {reasons}");
                    self.dropped.note(&self.name, &text);
                    let name = &self.name;
                    out.push(Output::Notice {
                        text: format!("of the proxy `{name}`, {text}."),
                    });
                }
            }
            Err(reason) => self.dropped.note(&self.name, reason),
        }
        self.serve(offer, catalog.as_deref().map_err(|why| &**why), out);
        self.go_on(out);
    }
}
