//! What those say who provide servers, and what becomes of them.

use std::fmt::Display;

use super::servers::{Connection, Provider};
use crate::chain::exchange::{ExchangeId, Origin, Stage};
use crate::chain::route::{HopIndex, Route, Via};
use crate::chain::router::Router;
use crate::channel::{Change, MessageId, Offer, Peer, Progress};
use crate::mcp::ServerId;
use crate::mcp::seat::{Input, Question};
use crate::mcp::wire::Wrapped;
use crate::rpc::{Error, Message, code};
use crate::untrusted::MAX_QUOTE;
use crate::untrusted::Untrusted;

impl Router {
    /// Takes a message that a provider sends to the callers of one of its servers.
    pub(in crate::chain::router) fn hear_provider(
        &mut self,
        provider: Provider,
        number: Option<ExchangeId>,
        message: &Message,
    ) {
        let wrapped = Wrapped::read(message.body());
        let server = self.mcp.servers.of_provider(provider, &wrapped);
        let params = message.body();
        match (server, number) {
            (Some(id), Some(ask)) => {
                self.core.exchanges.stage(ask, Stage::Seat(id));
                self.asks(id, ask, None);
                self.seat_takes(id, Input::ProviderRequest { ask, params });
                self.catch_up_with_cancel(ask);
            }
            (Some(id), None) => self.seat_takes(id, Input::ProviderNotification { params }),
            (None, Some(ask)) => {
                let text =
                    "acp-chain: the message is for no open MCP connection of a server of yours";
                let error = Message::error(&Error::new(code::INVALID_PARAMS, text));
                let at = position(&self.core.route(None), provider).unwrap_or_default();
                self.answer_at(ask, at + 1, error, None);
            }
            (None, None) => self.dropped(&"a provider tells it on no MCP connection of its own"),
        }
    }

    /// A component says how far a call has come.
    pub(in crate::chain::router) fn call_progress(
        &mut self,
        index: HopIndex,
        call: MessageId,
        progress: &Progress,
    ) {
        if let Some((id, question)) = self.called_by(index, call) {
            let Progress {
                progress,
                total,
                message,
            } = progress;
            let (progress, total, message) = (*progress, *total, message.as_deref());
            self.seat_takes(
                id,
                Input::Progress {
                    question,
                    progress,
                    total,
                    message,
                },
            );
        }
    }

    /// The server by which a component was called, and the server's number for the call.
    pub(super) fn called_by(
        &self,
        index: HopIndex,
        call: MessageId,
    ) -> Option<(ServerId, Question)> {
        let hop = &self.core.hops[index];
        let in_hand = hop.in_hand.as_ref().filter(|(id, _)| *id == call);
        let held = hop.held.get(&call).map(|held| &held.routed);
        let routed = held.or(in_hand.map(|(_, routed)| routed));
        let exchange = routed.and_then(|routed| self.core.exchanges.get(routed.exchange?));
        match exchange.map(|exchange| &exchange.origin) {
            Some(Origin::Seat(id, question)) => Some((*id, *question)),
            _ => None,
        }
    }

    /// Something that a component has may be another now.
    pub(in crate::chain::router) fn component_changed(&mut self, index: HopIndex, change: &Change) {
        for server in self.mcp.servers.of(Provider::Component(index)) {
            self.seat_takes(server, Input::Changed(change));
        }
    }

    /// A component was started again: all that it lists may be another now.
    pub(in crate::chain::router) fn component_restarted(&mut self, index: HopIndex) {
        for offer in Offer::ALL {
            self.component_changed(index, &Change::List(offer));
        }
    }

    /// A proxy that answers for servers of its own was started again, and knows of no connection.
    pub(in crate::chain::router) fn provider_restarted(&mut self, index: HopIndex) {
        for server in self.mcp.servers.of(Provider::Proxy(index)) {
            self.seat_takes(server, Input::ProviderLost);
            let theirs = self.connections(|connection| connection.server == server);
            for connection in theirs {
                let gone = self.mcp.servers.connections.remove(&connection);
                if let Some(Connection {
                    via: Via::Link(link),
                    ..
                }) = gone
                {
                    self.mcp.door.hang_up(link);
                }
            }
        }
    }

    /// Counts a message of MCP over ACP that is for nobody; the log gets the first, and ever fewer of
    /// the others.
    pub(in crate::chain::router) fn dropped(&mut self, why: &dyn Display) {
        self.mcp.servers.dropped += 1;
        let count = self.mcp.servers.dropped;
        if count.is_power_of_two() {
            let why = Untrusted::within(why, MAX_QUOTE);
            tracing::warn!(count, "dropped a message: {why}");
        }
    }
}

/// The position of a provider on a route.
pub(super) fn position(route: &Route, provider: Provider) -> Option<usize> {
    match provider {
        Provider::Client => Some(route.edge(Peer::Client)),
        Provider::Proxy(index) | Provider::Component(index) => route.position(index),
    }
}
