//! Messages of providers and of native proxies, and changes of their offers. Requests of components to their callers go
//! to the seat through which the component was called. At a native proxy, a caller's message ends, and the proxy sends
//! it on as its own.

use std::collections::{BTreeMap, HashSet};

use super::servers::{Provider, Server};
use super::{MCP_MESSAGE, Mcp, McpRouter, invalid};
use crate::losses::Loss;
use crate::router::core::Core;
use crate::router::steps::{Step, Steps, Task};
use acp_chain_channel::{Change, MessageId, Offer, Peer, Progress};
use acp_chain_hops::exchange::{ExchangeId, Origin, Stage};
use acp_chain_hops::route::{HopIndex, Route, Target, Via};
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::component::channel::{Ask, FromComponent};
use acp_chain_mcp::seat::Input;
use acp_chain_mcp::wire::Address;
use acp_chain_mcp::{LinkId, OutgoingId, ServerId, declaration};
use acp_chain_rpc::{Error, Message};

impl McpRouter<'_> {
    /// Receives a message that a provider sends to the callers of one of its servers.
    pub fn receive_from_provider(
        &mut self,
        provider: Provider,
        number: Option<ExchangeId>,
        message: &Message,
    ) {
        let named = Address::read(message.body());
        let server = self.mcp.servers.of_provider(provider, &named);
        match (server, number) {
            (Some(id), Some(ask)) => {
                if let Some(server) = self.mcp.servers.all.get(&id) {
                    self.core.exchanges.lead(ask, &server.route);
                }
                self.core.exchanges.stage(ask, Stage::Seat(id));
                self.mcp.open_at_seat(id, ask, None);
                self.give(id, Input::ProviderRequest { ask, message });
                self.core.steps.push(Task::CatchUp(ask));
            }
            (Some(id), None) => self.give(id, Input::ProviderNotification { message }),
            (None, Some(ask)) => {
                let text =
                    "acp-chain: the message names no open MCP connection to a server of its sender";
                let exchange = self.core.exchanges.get(ask);
                let at = exchange.and_then(|exchange| provider.position(&exchange.route));
                let next = at.unwrap_or_default() + 1;
                self.core.steps.refuse_at(ask, next, &invalid(text));
            }
            (None, None) => {
                let why = "a provider names no open MCP connection to a server of its own";
                self.core.lose(Loss::Unconnected, provider.place(), &why);
            }
        }
    }

    /// Receives an MCP message from a native proxy: one that it passes on, or its own as the provider of a server.
    pub fn native_speaks(&mut self, index: HopIndex, mut routed: Routed) {
        let named = Address::read(routed.message.body());
        let via = self.mcp.via_of(&named);
        if routed.toward == Peer::Agent {
            let provider = Provider::Proxy(index);
            let own = self.mcp.servers.of_provider(provider, &named);
            let passes_on = own.is_none() && via.is_some() && *routed.method == *MCP_MESSAGE;
            if !passes_on {
                return self.receive_from_provider(provider, routed.exchange, &routed.message);
            }
            routed.via = via.unwrap_or_default();
            return self.core.steps.push(Step::Send(routed));
        }
        routed.via = via.unwrap_or_default();
        let error = match self.mcp.server_of(&routed.message) {
            Ok((id, server)) if server.at < routed.at => {
                routed.target = Target::Seat(id, server.at);
                return self.core.steps.push(Step::Send(routed));
            }
            Ok(_) => invalid("acp-chain: that MCP server is not on the client's side"),
            Err(error) => error,
        };
        let Some(number) = routed.exchange else {
            return self.core.lose_of_proxy(Loss::Unconnected, index, &error);
        };
        self.core.steps.refuse_at(number, routed.at - 1, &error);
    }

    /// Reports the progress of a call of a component to the seat.
    pub fn call_progress(&mut self, index: HopIndex, call: MessageId, progress: &Progress) {
        let Some((id, question)) = called_by(self.core, index, call) else {
            return;
        };
        let says = FromComponent::Progress {
            question,
            progress: progress.progress,
            total: progress.total,
            message: progress.message.as_deref(),
        };
        self.give(id, Input::Component(says));
    }

    /// Sends a component's requests to its callers: for each, the component's number, the call, and the message.
    /// Requests in one call are given to the seat together, so that a client that must retry its call with the answers
    /// does so once.
    pub fn component_asks(&mut self, index: HopIndex, asks: Vec<(MessageId, MessageId, Message)>) {
        let mut by_call = BTreeMap::<_, Vec<_>>::new();
        for (id, call, message) in asks {
            let called = called_by(self.core, index, call);
            let server = called.and_then(|(server, _)| self.mcp.servers.all.get(&server));
            let route = match server {
                Some(server) => server.route.clone(),
                None => self.core.default_route(index).0,
            };
            let Some(ask) = self.core.open_own(index, id, Peer::Agent, &route, &message) else {
                return;
            };
            let Some((server, question)) = called else {
                // The component has settled the call at the same time.
                let at = route.position(index).unwrap_or_default();
                self.core.steps.refuse_at(ask, at + 1, &Error::cancelled());
                continue;
            };
            self.core.exchanges.stage(ask, Stage::Seat(server));
            self.mcp.open_at_seat(server, ask, None);
            let asks = by_call.entry((server, question)).or_default();
            asks.push(Ask { ask, message });
        }
        for ((server, call), asks) in by_call {
            let numbers: Vec<_> = asks.iter().map(|ask| ask.ask).collect();
            let steps = &mut self.core.steps;
            steps.push(Task::GiveAsks(server, call, asks));
            steps.extend(numbers.into_iter().map(Task::CatchUp));
        }
    }

    /// Notifies the seats of a component that an offer may have changed, one by one.
    pub fn component_changed(&mut self, index: HopIndex, change: &Change) {
        let servers = self.mcp.servers.of(Provider::Component(index));
        let changed = servers.map(|server| Task::Changed(server, change.clone()));
        self.core.steps.extend(changed);
    }

    /// Notifies the seats of a restarted proxy, one by one: all lists of a component may have changed, and the proxy
    /// has lost all connections to its own servers.
    pub(super) fn tell_restarted(&mut self, index: HopIndex) {
        for offer in Offer::ALL {
            self.component_changed(index, &Change::List(offer));
        }
        let own = self.mcp.servers.of(Provider::Proxy(index));
        self.core.steps.extend(own.map(Task::ProviderLost));
    }

    /// Notifies the seat of a server whose provider was restarted.
    pub(super) fn tell_provider_lost(&mut self, server: ServerId) {
        let waiting = &self.mcp.waiting(self.core, server);
        self.give(server, Input::ProviderLost { waiting });
        // The seat's output still needs the connections.
        self.core.steps.push(Task::ForgetConnections(server));
    }
}

impl Mcp {
    /// The route of an MCP message from a native proxy, and the proxy's position on it: the route of the server
    /// concerned, if it passes the proxy.
    pub fn way_of_native(&self, core: &Core, index: HopIndex, message: &Message) -> (Route, usize) {
        let named = Address::read(message.body());
        let way = self.servers.named(&named).and_then(|(_, server)| {
            let at = server.route.position(index)?;
            Some((server.route.clone(), at))
        });
        way.unwrap_or_else(|| core.default_route(index))
    }

    /// The caller of a message that a native proxy passes on.
    fn via_of(&self, named: &Address) -> Option<Via> {
        if named.connection.is_some() {
            return self.servers.connected(named).map(|open| open.via);
        }
        let request = named.request.as_deref();
        let known = named.server.as_deref().and_then(declaration::server_of);
        let known = known.and_then(|id| self.servers.all.get(&id)?.alone.get(request?));
        if known.is_some() {
            return known.copied();
        }
        // A request of a link that has not reached its seat yet has an id made by the host.
        let (link, _) = request?.split_once('-')?;
        let link: LinkId = link.parse().ok()?;
        let is_open = self.servers.links.contains_key(&link);
        is_open.then_some(Via::Link(link))
    }

    /// Notifies the seats of a proxy that it was restarted.
    pub fn provider_restarted(index: HopIndex, steps: &mut Steps) {
        steps.push(Task::ProviderRestarted(index));
    }

    /// Whether a client is connected to a server that this proxy serves itself.
    pub fn is_connected_to(&self, index: HopIndex) -> bool {
        let mut connections = self.servers.connections.values();
        connections.any(|connection| {
            let server = self.servers.all.get(&connection.server);
            server.is_some_and(|server| server.provider == Provider::Proxy(index))
        })
    }

    /// The questions of a server's seat that wait in the inbox of the proxy that provides the server.
    fn waiting(&self, core: &Core, server: ServerId) -> HashSet<OutgoingId> {
        let asks = self.servers.all.get(&server);
        let asks = asks.filter(|server| !server.questions.is_empty());
        let Some(index) = asks.and_then(Server::proxy) else {
            return HashSet::new();
        };
        let messages = core.hops[index].messages();
        let exchanges = messages.filter_map(|routed| core.exchanges.get(routed.exchange?));
        let questions = exchanges.filter_map(|exchange| match exchange.origin {
            Origin::Seat(of, question) if of == server => Some(question),
            _ => None,
        });
        questions.collect()
    }

    /// Removes the connections that a server's seat has lost.
    pub(super) fn forget_connections(&mut self, server: ServerId) {
        let Some(seat) = self.servers.all.get(&server).map(|server| &server.seat) else {
            return;
        };
        self.servers.connections.retain(|id, connection| {
            let is_lost = connection.server == server && !seat.has_caller(*id);
            if is_lost && let Via::Link(link) = connection.via {
                self.bridge.hang_up(link);
            }
            !is_lost
        });
    }
}

/// The server through which a component was called, and the server's number for the call.
fn called_by(core: &Core, index: HopIndex, call: MessageId) -> Option<(ServerId, OutgoingId)> {
    let hop = &core.hops[index];
    let in_hand = hop.in_hand().filter(|(id, _)| *id == call);
    let held = hop.held_as(call).map(|held| &held.routed);
    let routed = held.or(in_hand.map(|(_, routed)| routed));
    let exchange = routed.and_then(|routed| core.exchanges.get(routed.exchange?));
    match exchange.map(|exchange| &exchange.origin) {
        Some(Origin::Seat(id, question)) => Some((*id, *question)),
        _ => None,
    }
}
