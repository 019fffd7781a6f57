//! Carries out the outputs of seats.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::servers::{Holder, Provider, Server};
use super::{MCP_MESSAGE, Mcp, McpRouter, invalid};
use crate::losses::Loss;
use crate::router::core::Core;
use crate::router::steps::{Step, Task};
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{Exchange, Origin};
use acp_chain_hops::hop::Item;
use acp_chain_hops::labels::Labels;
use acp_chain_hops::route::Target;
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::component::channel::ToComponent;
use acp_chain_mcp::seat::{Caller, Output};
use acp_chain_mcp::wire::{self, McpMessage};
use acp_chain_mcp::{OutgoingId, ServerId, declaration};
use acp_chain_rpc::{Error, Message, code};

impl McpRouter<'_> {
    /// Carries out the next output, and pushes a task for the one after it.
    pub(super) fn carry_out_next(&mut self) {
        match self.mcp.wanted.pop_front() {
            Some((id, output)) => {
                self.carry_out(id, output);
                self.core.steps.push(Task::Wanted);
            }
            None => self.mcp.is_due = false,
        }
    }

    fn carry_out(&mut self, id: ServerId, output: Output) {
        match output {
            Output::Answer {
                ask,
                outcome,
                meta,
                outer,
            } => {
                let exchange = self.core.exchanges.get(ask);
                let stands_alone = exchange.is_some_and(|exchange| exchange.stands_alone);
                let outcome = if stands_alone && !outer {
                    wire::carry(outcome, meta.as_deref())
                } else {
                    outcome
                };
                self.seat_answers(id, ask, outcome);
            }
            Output::Provider(question, message) => self.send_to_provider(id, question, message),
            Output::AskCaller {
                question,
                connection,
                said,
            } => {
                let caller = Caller::Connection(connection);
                self.send_to_caller(id, &caller, Some(question), &said);
            }
            Output::TellCaller { caller, said, .. } => {
                self.send_to_caller(id, &caller, None, &said);
            }
            Output::Withdraw { question } => {
                let server = self.mcp.servers.all.get(&id);
                let number = server.and_then(|server| server.questions.get(&question));
                self.core.steps.withdraw(number.copied());
            }
            Output::Notice { text } => self.lose_at(id, Loss::Offer, &text),
            Output::Drop { why } => self.lose_at(id, Loss::Unconnected, &why),
            Output::Component { question, asks } => self.use_component(id, question, &asks),
        }
    }

    fn lose_at(&mut self, id: ServerId, loss: Loss, why: &str) {
        if let Some(server) = self.mcp.servers.all.get(&id) {
            self.core.lose(loss, server.provider.place(), &why);
        }
    }

    fn send_to_provider(&mut self, id: ServerId, question: Option<OutgoingId>, message: Message) {
        let Some(server) = self.mcp.servers.all.get(&id) else {
            return;
        };
        let (at, route) = (server.at, server.route.clone());
        let mut routed = Routed::new(message, route, at + 1, Peer::Client);
        routed.from = routed.route.edge(Peer::Agent);
        if let Provider::Proxy(index) = server.provider {
            routed.target = Target::Provider(index);
        }
        self.send(id, question, routed);
    }

    fn send_to_caller(
        &mut self,
        id: ServerId,
        caller: &Caller,
        question: Option<OutgoingId>,
        said: &McpMessage,
    ) {
        let Some(server) = self.mcp.servers.all.get(&id) else {
            return;
        };
        let (via, params) = match caller {
            Caller::Connection(connection) => {
                let open = self.mcp.servers.connections.get(connection);
                (open.map(|open| open.via), wire::on_own(*connection, said))
            }
            Caller::Request(request) => {
                let params = wire::alone(&declaration::chain_id(id), request, said);
                (server.alone.get(request).copied(), params)
            }
        };
        let message = match question {
            Some(_) => Message::request(MCP_MESSAGE, &params),
            None => Message::notification(MCP_MESSAGE, &params),
        };
        let mut routed = Routed::new(message, server.route.clone(), server.at, Peer::Agent);
        if let Some(maker) = server.proxy() {
            routed.labels = Labels::sent_by(maker, &self.core.hops);
        }
        match (via, question) {
            (Some(via), _) => routed.via = via,
            (None, Some(question)) => {
                let text = "acp-chain: the MCP connection is closed";
                let error = Message::error(&invalid(text));
                return self.answer_seat(id, question, error);
            }
            (None, None) => {
                let why =
                    "a provider sent a notification to a caller whose MCP connection is closed";
                let place = server.provider.place();
                return self.core.lose(Loss::Unconnected, place, &why);
            }
        }
        self.send(id, question, routed);
    }

    /// Requests a list from a component, or calls it.
    fn use_component(&mut self, id: ServerId, question: OutgoingId, asks: &ToComponent) {
        let Some(server) = self.mcp.servers.all.get(&id) else {
            return;
        };
        let Provider::Component(index) = server.provider else {
            return;
        };
        let hop = &self.core.hops[index];
        // A newer version may have fewer powers.
        if !hop.terms().grant.has("tools") {
            let text = format!(
                "acp-chain: the proxy `{}` does not have the power `tools` any more",
                hop.name()
            );
            let error = Message::error(&Error::new(code::INTERNAL_ERROR, text));
            return self.answer_seat(id, question, error);
        }
        let (target, message) = match asks {
            ToComponent::List(offer) => {
                (Target::List(*offer), Message::request(offer.list(), "null"))
            }
            ToComponent::Call { method, params } => {
                (Target::Call, Message::request(method, params))
            }
        };
        let mut routed = Routed::new(message, server.route.clone(), server.at, Peer::Client);
        routed.from = routed.route.edge(Peer::Agent);
        routed.target = target;
        routed.request_session = self.mcp.session_of_call(self.core, server);
        routed.arrival = self.core.hops[index].next_arrival();
        self.core.note_start(&mut routed);
        self.core.note_queued(&mut routed);
        self.ask(id, question, &mut routed);
        self.core.enqueue(index, Item::Message(routed));
    }

    /// Sends a message of a seat: a request, if it has a number of the seat.
    fn send(&mut self, id: ServerId, question: Option<OutgoingId>, mut routed: Routed) {
        if let Some(question) = question {
            self.ask(id, question, &mut routed);
        }
        self.core.steps.push(Step::Send(routed));
    }

    /// Opens a request of a seat, on the account of the part that has to answer it: the request may stay open after the
    /// server has ended.
    fn ask(&mut self, id: ServerId, question: OutgoingId, routed: &mut Routed) {
        let Some(server) = self.mcp.servers.all.get_mut(&id) else {
            return;
        };
        let kept = match (routed.toward, server.provider) {
            (Peer::Agent, _) | (Peer::Client, Provider::Client) => {
                Some(&self.core.edge(routed.toward).kept)
            }
            (Peer::Client, Provider::Proxy(index)) => {
                self.core.hops[index].native().map(|native| &native.kept)
            }
            // A component answers in time, or breaks.
            (Peer::Client, Provider::Component(_)) => None,
        };
        let cost = Exchange::cost(None, &routed.message);
        let charge = kept.map(|kept| kept.charge_anyway(cost));
        let origin = Origin::Seat(id, question);
        let number = self.core.exchanges.open_routed(origin, charge, routed);
        server.questions.insert(question, number);
    }
}

impl Mcp {
    /// The session that a call to a server belongs to. If several sessions have the server, the only one with a running
    /// turn; `None` if that is ambiguous.
    fn session_of_call(&self, core: &Core, server: &Server) -> Option<Arc<str>> {
        let session = |holder: &Holder| holder.session.clone();
        let has_turn = |session: &Arc<str>| self.turns.has(session) || core.has_turn(session);
        let all: BTreeSet<_> = server.holders.iter().map(session).collect();
        match all.len() {
            1 => all.into_iter().next().flatten(),
            _ => {
                let mut running = all.into_iter().flatten().filter(has_turn);
                running.next().filter(|_| running.next().is_none())
            }
        }
    }
}
