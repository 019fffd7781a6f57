//! Requests of components to their callers: they go to the seat through which the component was called.

use std::collections::BTreeMap;

use super::McpRouter;
use super::providers::called_by;
use crate::exchange::Stage;
use crate::route::HopIndex;
use crate::router::steps::{Step, Task};
use acp_chain_channel::{MessageId, Peer};
use acp_chain_mcp::component::channel::{Ask, FromComponent};
use acp_chain_mcp::seat::Input;
use acp_chain_mcp::{Question, ServerId};
use acp_chain_rpc::{Error, Message};

impl McpRouter<'_> {
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
                let error = Message::error(&Error::cancelled());
                self.steps.answer_at(ask, at + 1, error);
                continue;
            };
            self.core.exchanges.stage(ask, Stage::Seat(server));
            self.mcp.open_at_seat(server, ask, None);
            let asks = by_call.entry((server, question)).or_default();
            asks.push(Ask { ask, message });
        }
        let calls = by_call.into_iter();
        let asks = calls.map(|((server, call), asks)| Task::GiveAsks(server, call, asks));
        self.steps.extend(asks.map(Step::Mcp));
    }

    /// Gives the seat a component's requests to its caller.
    pub(super) fn give_asks(&mut self, server: ServerId, call: Question, asks: Vec<Ask>) {
        let numbers: Vec<_> = asks.iter().map(|ask| ask.ask).collect();
        let says = FromComponent::Asks { call, asks };
        self.give(server, Input::Component(says));
        self.steps
            .extend(numbers.into_iter().map(|ask| Step::Mcp(Task::CatchUp(ask))));
    }
}
