//! Servers are declared: taken over on the way in, and made fit for the agent on the way out.
//!
//! What always holds: no declaration reaches an agent by a transport that it does not have; of two
//! servers with one name, the client's keeps it.

use std::collections::HashMap;
use std::io;

use super::servers::{Provider, Server, Servers};
use crate::chain::exchange::{Boundary, ExchangeId, Stage};
use crate::chain::route::Place;
use crate::chain::routed::Routed;
use crate::chain::router::Router;
use crate::channel::{Offers, Peer};
use crate::limits::MCP_SERVERS_OF_ONE;
use crate::mcp::connected::Connected;
use crate::mcp::declaration::{self, DeclarationError, Entry, MAX_SERVERS, Names};
use crate::mcp::door::Transport;
use crate::mcp::seat::Seat;
use crate::mcp::undecided::Undecided;
use crate::mcp::{Dialect, ServerId, component};
use crate::rpc::{Error, Kind, Message, code};
use crate::untrusted::{MAX_QUOTE, quote};

impl Router {
    /// Takes over the servers over ACP that somebody declares: from here on they have ids of the
    /// host's.
    pub(in crate::chain::router) fn adopt(
        &mut self,
        routed: &mut Routed,
        provider: Provider,
    ) -> Result<(), DeclarationError> {
        let is_setup = routed.toward == Peer::Agent
            && routed.message.kind() == Kind::Request
            && routed.boundary == Boundary::Session;
        if !is_setup {
            return Ok(());
        }
        let mut entries = declaration::read(routed.message.body())?;
        if let (Provider::Client, Some(number)) = (provider, routed.exchange) {
            let names = entries.iter().filter(|entry| !entry.over_acp);
            let names = names.map(|entry| entry.name.clone()).collect();
            if !self.keep_clients(number, names) {
                return Err(DeclarationError::TooLong);
            }
        }
        if let (Provider::Proxy(index), Some(number)) = (provider, routed.exchange) {
            self.keep_names(index, number);
        }
        let mut changed = false;
        for entry in &mut entries {
            let Some((dialect, own_id)) = entry.id.clone() else {
                continue;
            };
            if self.is_declared(entry, provider, routed) {
                continue;
            }
            let name = quote(&entry.name, MAX_QUOTE);
            tracing::debug!("took over the MCP server `{name}` of {provider:?}");
            let server = self.found(routed, provider, Some(dialect), own_id);
            // One too many keeps an id that nobody has, and is told of when it is declared.
            entry.set_server(server.unwrap_or_default());
            changed = true;
        }
        if changed {
            self.core.trace_said(routed);
            let params = declaration::write(routed.message.body(), &entries);
            routed.message = routed.message.with_body(&params);
        }
        Ok(())
    }

    /// Keeps what the client calls its servers, with the request that declares them. Says whether
    /// there is room.
    pub(super) fn keep_clients(&mut self, number: ExchangeId, names: Vec<String>) -> bool {
        let bytes = names.iter().map(|name| size_of::<String>() + name.len());
        let bytes = bytes.sum();
        let exchange = self.core.exchanges.get_mut(number);
        let has_room = exchange.is_some_and(|exchange| exchange.may_grow(bytes));
        if has_room {
            self.mcp.servers.clients.insert(number, names);
        }
        has_room
    }

    /// Lets a request set out, with the servers over ACP that it declares; one that declares what
    /// nobody can read is refused.
    pub(in crate::chain::router) fn set_out(&mut self, mut routed: Routed, provider: Provider) {
        match (self.adopt(&mut routed, provider), routed.exchange) {
            (Err(error), Some(number)) => {
                let error = Error::new(code::INVALID_PARAMS, format!("acp-chain: {error}"));
                self.answer_at(number, routed.at + 1, Message::error(&error), None);
            }
            _ => self.travel(routed),
        }
    }

    /// Whether an entry was taken over already: in this very request, or in one that the proxy
    /// has and that its own request stands for.
    fn is_declared(&mut self, entry: &Entry, provider: Provider, routed: &Routed) -> bool {
        let Provider::Proxy(index) = provider else {
            return false;
        };
        let server = entry.server();
        let server = server.and_then(|server| self.mcp.servers.all.get_mut(&server));
        let Some(server) = server.filter(|server| server.setup.is_some()) else {
            return false;
        };
        if server.setup == routed.exchange {
            return true;
        }
        let hop = &self.core.hops[index];
        let held = hop.held.values().map(|held| &held.routed);
        let mut has = held.chain(hop.in_hand.as_ref().map(|(_, routed)| routed));
        let setup = server
            .setup
            .and_then(|setup| self.core.exchanges.get(setup));
        let is_asked = setup.is_some_and(|setup| setup.stage == Stage::Native(index));
        if is_asked || has.any(|held| held.exchange == server.setup) {
            server.setup = routed.exchange;
            return true;
        }
        false
    }

    /// Declares the server of the component that a request to set up a session is about to leave.
    pub(in crate::chain::router) fn add_component(&mut self, routed: &mut Routed) {
        let Place::Hop(index) = routed.route.place(routed.at) else {
            return;
        };
        let is_setup = routed.toward == Peer::Agent
            && self.core.hops[index].is_server()
            && routed.message.kind() == Kind::Request
            && routed.boundary == Boundary::Session;
        if !is_setup {
            return;
        }
        let name = self.core.hops[index].name.clone();
        let declared = declaration::read(routed.message.body());
        let Some(mut entries) = declared.ok().filter(|entries| entries.len() < MAX_SERVERS) else {
            tracing::warn!(
                "the MCP server of `{name}` has no place in {}",
                routed.method
            );
            return;
        };
        let provider = Provider::Component(index);
        if let Some(server) = self.found(routed, provider, None, String::new()) {
            let name = declaration::name_of_tools(&name);
            entries.push(Entry::over_acp(&name, server));
            let params = declaration::write(routed.message.body(), &entries);
            routed.message = routed.message.with_body(&params);
        }
    }

    /// Makes a new server of whoever has the request that declares it, unless its provider has too
    /// many.
    fn found(
        &mut self,
        routed: &Routed,
        provider: Provider,
        dialect: Option<Dialect>,
        own_id: String,
    ) -> Option<ServerId> {
        let all = self.mcp.servers.all.values();
        if all.filter(|server| server.provider == provider).count() >= MCP_SERVERS_OF_ONE {
            let whose = self.whose(provider);
            self.tell_once(
                &whose,
                &format!("{whose} has {MCP_SERVERS_OF_ONE} MCP servers already, in sessions that are open."),
            );
            return None;
        }
        let id = self.mcp.servers.number();
        let seat: Box<dyn Seat> = match (dialect, provider) {
            (Some(Dialect::Connected), _) => Box::new(Connected::new(&own_id)),
            (Some(Dialect::Stateless), _) => {
                Box::new(Undecided::new(&own_id, &declaration::chain_id(id)))
            }
            (None, _) => Box::new(component::Server::new(
                &self.name_of(provider),
                self.offers_of(provider),
            )),
        };
        let server = Server {
            provider,
            dialect,
            own_id,
            seat,
            route: routed.route.clone(),
            at: routed.at,
            setup: routed.exchange,
            session: match &*routed.method {
                // The session that it names is the one that is forked.
                "session/fork" => None,
                _ => Server::session(routed.session()),
            },
            questions: HashMap::new(),
            asked: HashMap::new(),
            charge: self.mcp.servers.kept.charge_anyway(0),
        };
        self.mcp.servers.all.insert(id, server);
        Some(id)
    }

    /// Makes the declarations of a session fit for the agent: by transports that it has, and under
    /// names of which no two are alike.
    pub(in crate::chain::router) fn declare(&mut self, routed: &Routed) -> Option<Message> {
        if routed.boundary != Boundary::Session {
            return None;
        }
        let message = &routed.message;
        let mut entries = match declaration::read(message.body()) {
            Ok(entries) => entries,
            // Nobody could be told, for it is no request.
            Err(DeclarationError::Draft(_)) => {
                return Some(message.with_body(&declaration::write(message.body(), &[])));
            }
            // What is no list was never changed, and declares nothing.
            Err(_) => return None,
        };
        if entries.iter().all(|entry| !entry.over_acp) {
            return None;
        }
        let clients = routed
            .exchange
            .and_then(|number| self.mcp.servers.clients.get(&number));
        let clients = clients.cloned().unwrap_or_default();
        let is_clients = |servers: &Servers, entry: &Entry| match entry.over_acp {
            false => clients.contains(&entry.name),
            true => {
                let server = entry.server().and_then(|server| servers.all.get(&server));
                server.is_some_and(|server| server.provider == Provider::Client)
            }
        };
        let mut names = Names::default();
        for entry in entries
            .iter()
            .filter(|entry| is_clients(&self.mcp.servers, entry))
        {
            names.take(&entry.name);
        }
        let mut lost = Vec::new();
        let mut declared = Vec::new();
        for mut entry in entries.drain(..) {
            let server = entry.server();
            let provider =
                server.and_then(|id| Some((id, self.mcp.servers.all.get(&id)?.provider)));
            if entry.over_acp && provider.is_none() {
                lost.push(quote(&entry.name, MAX_QUOTE));
                continue;
            }
            if !is_clients(&self.mcp.servers, &entry) && !entry.name.is_empty() {
                let name = names.take_free(&entry.name);
                if name != entry.name {
                    self.tell_renamed(&entry.name, &name, provider.map(|(_, provider)| provider));
                    entry.set_name(&name);
                }
            }
            match provider.filter(|_| entry.over_acp) {
                None => declared.push(entry),
                Some((server, _)) if self.mcp.servers.agent.acp => {
                    entry.set_server(server);
                    declared.push(entry);
                }
                Some((server, _)) => match self.bridge(server, &entry.name) {
                    Ok(bridge) => {
                        entry.set_text(&bridge);
                        declared.push(entry);
                    }
                    Err(error) => {
                        let name = quote(&entry.name, MAX_QUOTE);
                        self.core.tell_user(&format!(
                            "the agent cannot be given the MCP server {name}: {error}."
                        ));
                    }
                },
            }
        }
        if !lost.is_empty() {
            lost.truncate(8);
            let lost = lost.join(", ");
            self.core.tell_user(&format!(
                "these MCP servers are not declared to the agent: {lost}. Over ACP a server needs an \
                 `id` or a `serverId` of its own, and a name of at most {} bytes.",
                declaration::LONGEST_NAME
            ));
        }
        Some(message.with_body(&declaration::write(message.body(), &declared)))
    }

    /// The entry by which an agent without MCP over ACP reaches a server.
    fn bridge(&mut self, server: ServerId, name: &str) -> io::Result<String> {
        let agent = self.mcp.servers.agent;
        let none = || io::Error::other("it takes MCP servers neither by stdio nor by HTTP");
        let transport = agent.bridge(self.mcp.servers.bridge).ok_or_else(none)?;
        let mut entry = self.mcp.door.offer(server, name, transport)?;
        if agent.typed && transport == Transport::Stdio {
            entry["type"] = "stdio".into();
        }
        Ok(entry.to_string())
    }

    fn name_of(&self, provider: Provider) -> String {
        match provider {
            Provider::Client => "client".to_owned(),
            Provider::Proxy(index) | Provider::Component(index) => {
                self.core.hops[index].name.clone()
            }
        }
    }

    /// What a component has that the host is the server of.
    fn offers_of(&self, provider: Provider) -> Offers {
        match provider {
            Provider::Component(index) => self.core.hops[index].offers(),
            Provider::Client | Provider::Proxy(_) => Offers::default(),
        }
    }

    fn whose(&self, provider: Provider) -> String {
        match provider {
            Provider::Client => "the client".to_owned(),
            Provider::Proxy(_) | Provider::Component(_) => {
                format!("the proxy `{}`", self.name_of(provider))
            }
        }
    }

    fn tell_renamed(&mut self, name: &str, new: &str, provider: Option<Provider>) {
        let whose = match provider {
            Some(provider) => self.whose(provider),
            None => "a proxy".to_owned(),
        };
        let (name, new) = (quote(name, MAX_QUOTE), quote(new, MAX_QUOTE));
        self.tell_once(
            &format!("{whose} {name}"),
            &format!(
                "the MCP server `{name}` of {whose} is called `{new}`, since the session has another \
                 of that name."
            ),
        );
    }

    /// Tells the user something about a thing, if that is the first time.
    pub(super) fn tell_once(&mut self, thing: &str, text: &str) {
        /// How many things are remembered.
        const THINGS: usize = 256;
        if self.mcp.servers.told.len() < THINGS && self.mcp.servers.told.insert(thing.to_owned()) {
            tracing::info!("{text}");
            self.core.tell_user(text);
        }
    }
}
