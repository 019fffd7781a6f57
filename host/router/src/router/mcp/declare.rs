//! Declarations of servers: adopted where they enter the chain, and adapted to the agent where they leave it.
//!
//! Invariants: no declaration reaches an agent with a transport that the agent does not support; if two servers have
//! one name, the client's server keeps the name.

use std::collections::HashMap;
use std::io;

use super::Mcp;
use super::servers::{Holder, Provider, Server};
use crate::losses::Loss;
use crate::router::core::Core;
use acp_chain_acp::{ACKNOWLEDGED, Life};
use acp_chain_bridge::BridgeKind;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::MCP_SERVERS_OF_ONE;
use acp_chain_hops::exchange::{ExchangeId, Stage};
use acp_chain_hops::hop::Hop;
use acp_chain_hops::route::{HopIndex, Place};
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::component::ComponentProvider;
use acp_chain_mcp::connected::ConnectedProvider;
use acp_chain_mcp::declaration::{self, DeclarationError, Entry, MAX_SERVERS, Names};
use acp_chain_mcp::seat::Seat;
use acp_chain_mcp::undecided::Undecided;
use acp_chain_mcp::{Dialect, ServerId};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Kind, Message};

impl Mcp {
    /// Adopts the servers over ACP that a provider declares: from here on, they have ids of the host.
    #[inline]
    pub fn adopt(
        &mut self,
        core: &mut Core,
        routed: &mut Routed,
        provider: Provider,
    ) -> Result<(), DeclarationError> {
        let is_setup = routed.life.sets_up() && routed.toward == Peer::Agent;
        if is_setup && routed.message.kind() == Kind::Request {
            return self.adopt_declared(core, routed, provider);
        }
        Ok(())
    }

    #[cold]
    fn adopt_declared(
        &mut self,
        core: &mut Core,
        routed: &mut Routed,
        provider: Provider,
    ) -> Result<(), DeclarationError> {
        let mut entries = match declaration::read(routed.message.body()) {
            // Nothing to adopt. The agent decides what it makes of it.
            Err(DeclarationError::NoList) => return Ok(()),
            entries => entries?,
        };
        match (provider, routed.exchange) {
            (Provider::Client, Some(number)) => {
                let names = entries.iter().filter(|entry| !entry.over_acp);
                let names = names.map(|entry| entry.name.clone()).collect();
                if !self.keep_clients(core, number, names) {
                    return Err(DeclarationError::TooLong);
                }
            }
            (Provider::Proxy(index), Some(number)) => self.keep_names(core, index, number),
            _ => {}
        }
        let mut changed = false;
        for entry in &mut entries {
            let Some((dialect, own_id)) = entry.id.clone() else {
                continue;
            };
            if self.is_declared(core, entry, provider, routed) {
                continue;
            }
            let name = quote(&entry.name, MAX_QUOTE);
            tracing::debug!("adopted the MCP server `{name}` of {provider:?}");
            let server = self.server_for(core, routed, provider, Some(dialect), own_id);
            // A server over the limit gets an unused id; the user is notified when it is declared.
            entry.set_server(server.unwrap_or_default());
            changed = true;
        }
        if changed {
            core.note_start(routed);
            core.trace_as_sent(routed);
            let params = declaration::write(routed.message.body(), &entries);
            routed.message = routed.message.with_body(&params);
        }
        Ok(())
    }

    /// Keeps the client's names of its servers when a native proxy sends its own request for the session.
    fn keep_names(&mut self, core: &mut Core, index: HopIndex, number: ExchangeId) {
        let asked = self.servers.clients.iter().filter(|(setup, _)| {
            let exchange = core.exchanges.get(**setup);
            exchange.is_some_and(|exchange| exchange.stage == Stage::Native(index))
        });
        let names: Vec<_> = asked.flat_map(|(_, names)| names.clone()).collect();
        if !names.is_empty() && !self.keep_clients(core, number, names) {
            tracing::warn!("the names of the client's MCP servers are too long to be kept");
        }
    }

    /// Keeps the client's names of its servers for the request that declares them. Returns whether there is room.
    fn keep_clients(&mut self, core: &mut Core, number: ExchangeId, names: Vec<String>) -> bool {
        let bytes = names.iter().map(|name| size_of::<String>() + name.len());
        let bytes = bytes.sum();
        let exchange = core.exchanges.get_mut(number);
        let has_room = exchange.is_some_and(|exchange| exchange.may_grow(bytes));
        if has_room {
            self.servers.clients.insert(number, names);
        }
        has_room
    }

    /// Whether an entry was adopted already: in this request, or in the one that the proxy's own request repeats.
    fn is_declared(
        &mut self,
        core: &Core,
        entry: &Entry,
        provider: Provider,
        routed: &Routed,
    ) -> bool {
        let Provider::Proxy(index) = provider else {
            return false;
        };
        let server = entry.server();
        let Some(server) = server.and_then(|server| self.servers.all.get_mut(&server)) else {
            return false;
        };
        let hop = &core.hops[index];
        let has = |setup: ExchangeId| {
            let asked = core.exchanges.get(setup);
            asked.is_some_and(|asked| asked.stage == Stage::Native(index))
                || hop.undecided().any(|has| has.exchange == Some(setup))
        };
        let own = routed.exchange;
        let mut setups = server.holders.iter_mut().filter_map(|holder| {
            let setup = holder.setup?;
            (Some(setup) == own || has(setup)).then_some(&mut holder.setup)
        });
        let setup = setups.next();
        setup.map(|setup| *setup = own).is_some()
    }

    /// Declares the server of a component in a request to set up a session that is about to leave the component.
    pub fn add_component(&mut self, core: &mut Core, routed: &mut Routed) {
        let Place::Hop(index) = routed.route.place(routed.at) else {
            return;
        };
        let is_setup = routed.toward == Peer::Agent
            && core.hops[index].is_server()
            && routed.message.kind() == Kind::Request;
        if !is_setup {
            return;
        }
        let name = core.hops[index].name().to_owned();
        let mut entries = match declaration::read(routed.message.body()) {
            Ok(entries) if entries.len() < MAX_SERVERS => entries,
            unfit => {
                let error = unfit.err().unwrap_or(DeclarationError::TooMany);
                let why = format_args!(
                    "the agent cannot be given the tools of the proxy `{name}`: {error}."
                );
                return core.lose(Loss::Server, Place::Hop(index), &why);
            }
        };
        let provider = Provider::Component(index);
        if let Some(server) = self.server_for(core, routed, provider, None, String::new()) {
            let name = declaration::name_of_tools(&name);
            entries.push(Entry::over_acp(&name, server));
            let params = declaration::write(routed.message.body(), &entries);
            routed.message = routed.message.with_body(&params);
        }
    }

    /// The server for a declaration; `None` if its provider has too many.
    ///
    /// If the provider has declared the server before, and the session still has it, it is the same server: its entry
    /// stays the same, and connected MCP clients stay connected. An agent that compares entries gets the same entry in
    /// all of its sessions.
    fn server_for(
        &mut self,
        core: &mut Core,
        routed: &Routed,
        provider: Provider,
        dialect: Option<Dialect>,
        own_id: String,
    ) -> Option<ServerId> {
        let again = routed.session().filter(|_| routed.life == Life::Loads);
        let shares = self.shares();
        let holder = Holder::of_setup(routed.exchange, routed.named_session());
        let known = self.servers.all.iter_mut().find(|(_, server)| {
            (server.provider, server.dialect, server.at) == (provider, dialect, routed.at)
                && server.own_id == own_id
                && server.route.is(&routed.route)
                && (shares || again.is_some_and(|session| server.is_of(session)))
        });
        if let Some((id, server)) = known {
            server.holders.push(holder);
            return Some(*id);
        }
        let all = self.servers.all.values();
        if all.filter(|server| server.provider == provider).count() >= MCP_SERVERS_OF_ONE {
            let whose = whose(core, provider);
            let text = format!(
                "{whose} has {MCP_SERVERS_OF_ONE} MCP servers already, in sessions that are open."
            );
            core.lose(Loss::Server, provider.place(), &text);
            return None;
        }
        let id = self.servers.number();
        let kept = &self.servers.kept;
        let seat: Box<dyn Seat> = match dialect {
            Some(Dialect::Connected) => Box::new(ConnectedProvider::new(&own_id, kept)),
            Some(Dialect::Stateless) => {
                let prefix = declaration::chain_id(id);
                Box::new(Undecided::new(&own_id, &prefix, kept))
            }
            None => {
                let hop = provider.proxy().map(|index| &core.hops[index]);
                let (name, offers) = (hop.map_or("", Hop::name), hop.map(Hop::offers));
                Box::new(ComponentProvider::new(
                    name,
                    offers.unwrap_or_default(),
                    kept,
                ))
            }
        };
        let server = Server {
            provider,
            dialect,
            own_id,
            seat,
            route: routed.route.clone(),
            at: routed.at,
            holders: vec![holder],
            questions: HashMap::new(),
            asked: HashMap::new(),
            alone: HashMap::new(),
            is_settled: false,
        };
        self.servers.all.insert(id, server);
        Some(id)
    }

    /// Adapts the declarations of a session to the agent: with transports that it supports, and unique names.
    pub fn declare(&mut self, core: &mut Core, routed: &Routed) -> Option<Message> {
        let message = &routed.message;
        let entries = match declaration::read(message.body()) {
            Ok(entries) => entries,
            // The message is not a request, so its sender gets no error.
            Err(error @ DeclarationError::Draft(_)) => {
                let why = format_args!("the agent cannot be given an MCP server: {error}");
                core.lose(Loss::Server, Place::Edge(Peer::Agent), &why);
                return Some(declaring(core, message, &[]));
            }
            // If the declarations are not a list, they were not changed, and declare nothing.
            Err(_) => return None,
        };
        if entries.iter().all(|entry| !entry.over_acp) {
            return None;
        }
        let clients = routed
            .exchange
            .and_then(|number| self.servers.clients.get(&number));
        let with_provider = |entry: Entry| {
            let provider = if entry.over_acp {
                let server = entry.server();
                let server = server.and_then(|server| self.servers.all.get(&server));
                server.map(|server| server.provider)
            } else {
                let is_clients = clients.is_some_and(|names| names.contains(&entry.name));
                is_clients.then_some(Provider::Client)
            };
            (provider, entry)
        };
        let entries: Vec<_> = entries.into_iter().map(with_provider).collect();
        let mut names = Names::default();
        for (provider, entry) in &entries {
            if *provider == Some(Provider::Client) {
                names.take(&entry.name);
            }
        }
        let mut lost = Vec::new();
        let mut declared = Vec::new();
        for (provider, mut entry) in entries {
            if entry.over_acp && provider.is_none() {
                lost.push(quote(&entry.name, MAX_QUOTE));
                continue;
            }
            let server = entry.server();
            if provider != Some(Provider::Client) && !entry.name.is_empty() {
                let name = names.take_free(&entry.name);
                if name != entry.name {
                    Self::tell_renamed(core, &entry.name, &name, provider);
                    entry.set_name(&name);
                }
            }
            match server {
                None => {}
                Some(server) if self.agent.acp => entry.set_server(server),
                Some(server) => match self.bridge(server, &entry.name) {
                    Ok(bridge) => entry.set_text(&bridge),
                    Err(error) => {
                        let name = quote(&entry.name, MAX_QUOTE);
                        let why = format_args!(
                            "the agent cannot be given the MCP server {name}: {error}."
                        );
                        core.lose(Loss::Server, Place::Edge(Peer::Agent), &why);
                        if let Some(server) = self.servers.all.get_mut(&server) {
                            server.is_settled = true;
                        }
                        continue;
                    }
                },
            }
            declared.push(entry);
        }
        if !lost.is_empty() {
            lost.truncate(8);
            let lost = lost.join(", ");
            let why = format_args!(
                "these MCP servers are not declared to the agent: {lost}. Over ACP a server needs an `id` or a \
                 `serverId` of its own, and a name of at most {} bytes.",
                declaration::LONGEST_NAME
            );
            core.lose(Loss::Server, Place::Edge(Peer::Agent), &why);
        }
        Some(declaring(core, message, &declared))
    }

    /// The declaration through which an agent without MCP over ACP reaches a server.
    fn bridge(&mut self, server: ServerId, name: &str) -> io::Result<String> {
        let agent = self.agent;
        let none = || io::Error::other("it supports MCP servers neither over stdio nor over HTTP");
        let transport = agent
            .bridge(self.reach.bridge.unwrap_or_default())
            .ok_or_else(none)?;
        let mut entry = self.bridge.offer(server, name, transport)?;
        if agent.typed && transport == BridgeKind::Stdio {
            entry["type"] = "stdio".into();
        }
        Ok(entry.to_string())
    }

    fn tell_renamed(core: &mut Core, name: &str, new: &str, provider: Option<Provider>) {
        let whose = match provider {
            Some(provider) => whose(core, provider),
            None => "a proxy".to_owned(),
        };
        let (name, new) = (quote(name, MAX_QUOTE), quote(new, MAX_QUOTE));
        let text = format!(
            "the MCP server `{name}` of {whose} is renamed to `{new}`, since the session has another of \
             that name."
        );
        core.tell_once(&format!("{whose} {name}"), &text);
    }
}

pub(super) fn whose(core: &Core, provider: Provider) -> String {
    match provider.proxy() {
        None => "the client".to_owned(),
        Some(index) => format!("the proxy `{}`", core.hops[index].name()),
    }
}

/// The message with these declarations. In version 2, an empty list is omitted: agents without MCP do not know the
/// member.
fn declaring(core: &Core, message: &Message, entries: &[Entry]) -> Message {
    let params = if entries.is_empty() && core.version() >= ACKNOWLEDGED {
        declaration::without(message.body())
    } else {
        declaration::write(message.body(), entries)
    };
    message.with_body(&params)
}
