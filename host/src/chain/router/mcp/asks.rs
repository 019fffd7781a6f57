//! What components ask the callers of calls: it goes to the seat by which they were called.

use std::collections::BTreeMap;

use super::providers::position;
use super::servers::Provider;
use crate::chain::exchange::Stage;
use crate::chain::route::HopIndex;
use crate::chain::router::Router;
use crate::channel::{MessageId, Peer};
use crate::mcp::seat::{Ask, Input};
use crate::rpc::{Error, Message};

impl Router {
    /// A component asks, each under a number of its own, and in a call. What it asks for one call at
    /// once goes to the seat at once: a client that has to come again with the answers comes once.
    pub(in crate::chain::router) fn component_asks(
        &mut self,
        index: HopIndex,
        asks: Vec<(MessageId, MessageId, Message)>,
    ) {
        let mut by_call = BTreeMap::<_, Vec<_>>::new();
        for (id, call, message) in asks {
            let called = self.called_by(index, call);
            let server = called.and_then(|(server, _)| self.mcp.servers.all.get(&server));
            let route = match server {
                Some(server) => server.route.clone(),
                None => self.core.route(None),
            };
            let Some(ask) = self.core.open_own(index, id, Peer::Agent, &route, &message) else {
                return;
            };
            let Some((server, question)) = called else {
                // It has settled the call in the same breath.
                let at = position(&route, Provider::Component(index)).unwrap_or_default();
                let error = Message::error(&Error::cancelled());
                self.answer_at(ask, at + 1, error, None);
                continue;
            };
            self.core.exchanges.stage(ask, Stage::Seat(server));
            self.asks(server, ask, None);
            let asks = by_call.entry((server, question)).or_default();
            asks.push(Ask { ask, message });
        }
        for ((server, call), asks) in by_call {
            let numbers: Vec<_> = asks.iter().map(|ask| ask.ask).collect();
            self.seat_takes(server, Input::Asks { call, asks });
            for number in numbers {
                self.catch_up_with_cancel(number);
            }
        }
    }
}
