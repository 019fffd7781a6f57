//! The seats of servers: inputs, requests and answers.

use super::{CONNECT, DISCONNECT, Mcp, McpRouter};
use crate::losses::Loss;
use crate::router::core::returning;
use crate::router::steps::{Answer, Step, Task};
use acp_chain_channel::Peer;
use acp_chain_channel::limits::{MCP_KEPT_OF_ALL, Quantity};
use acp_chain_hops::exchange::{ExchangeId, Stage};
use acp_chain_hops::labels::Labels;
use acp_chain_hops::route::{Place, Target};
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::protocol::{TOKEN, code};
use acp_chain_mcp::seat::{Caller, Input};
use acp_chain_mcp::{IncomingId, OutgoingId, ServerId, wire};
use acp_chain_rpc::{Error, Kind, Message, code as rpc_code, member};

impl McpRouter<'_> {
    /// Gives a seat an input. The resulting outputs are carried out after earlier ones, possibly after this handler's
    /// own; so a handler gives one input only, and pushes tasks for further ones.
    pub(super) fn give(&mut self, id: ServerId, input: Input) {
        let Some(server) = self.mcp.servers.all.get_mut(&id) else {
            return;
        };
        let outputs = server.seat.take(input).into_iter();
        self.mcp.wanted.extend(outputs.map(|output| (id, output)));
        if !std::mem::replace(&mut self.mcp.is_due, true) {
            self.core.steps.push(Task::Wanted);
        }
    }

    /// Starts the answer to a question of a seat.
    pub fn seat_answered(&mut self, id: ServerId, question: OutgoingId, answer: Answer) {
        let Some(server) = self.mcp.servers.all.get(&id) else {
            return self.answered_late(answer);
        };
        let Some(exchange) = self.core.exchanges.get(answer.number) else {
            return;
        };
        match exchange.toward {
            Peer::Agent => {
                let target = Target::Seat(id, server.at);
                let mut routed = returning(exchange, &self.core.hops, answer);
                routed.target = target;
                self.core.steps.push(Step::Send(routed));
            }
            // The provider is next to the seat.
            Peer::Client => {
                self.core.exchanges.remove(answer.number);
                self.answer_seat(id, question, answer.message);
            }
        }
    }

    /// Gives a seat the answer to one of its questions.
    pub(super) fn answer_seat(&mut self, id: ServerId, question: OutgoingId, outcome: Message) {
        if let Some(server) = self.mcp.servers.all.get_mut(&id) {
            server.questions.remove(&question);
        }
        let outcome = if self.mcp.servers.have_room(outcome.len()) {
            outcome
        } else {
            Message::error(&full())
        };
        self.give(id, Input::Answered { question, outcome });
    }

    /// Passes the cancellation of a request on to its seat, if the request was cancelled before it arrived there.
    pub(super) fn catch_up_with_cancel(&mut self, number: ExchangeId) {
        let exchange = self.core.exchanges.get(number);
        let withdrawn = exchange.filter(|exchange| exchange.cancel.is_some());
        if let Some(Stage::Seat(id)) = withdrawn.map(|exchange| exchange.stage) {
            self.withdraw_from_seat(id, number);
        }
    }

    /// Notifies a seat that a request is cancelled.
    pub fn withdraw_from_seat(&mut self, id: ServerId, number: ExchangeId) {
        self.give(id, Input::Withdrawn { ask: number });
        self.core.steps.push(Task::Withdrawn(id, number));
    }

    /// Answers a cancelled request in place of its seat, unless the seat has answered it.
    pub(super) fn end_withdrawn(&mut self, id: ServerId, number: ExchangeId) {
        let exchange = self.core.exchanges.get(number);
        if exchange.is_some_and(|exchange| matches!(exchange.stage, Stage::Seat(_))) {
            let error = Error::new(rpc_code::REQUEST_CANCELLED, "the request was cancelled");
            self.seat_answers(id, number, Message::error(&error));
        }
    }

    /// Answers a request on behalf of a seat.
    pub(super) fn seat_answers(&mut self, id: ServerId, ask: IncomingId, outcome: Message) {
        let Some(server) = self.mcp.servers.all.get_mut(&id) else {
            return;
        };
        let Some(caller) = server.asked.remove(&ask) else {
            let why = "a request that is answered already was answered again";
            return self.core.lose(Loss::Late, server.provider.place(), &why);
        };
        match caller {
            Some(Caller::Connection(connection)) => {
                let exchange = self.core.exchanges.get(ask);
                let connects = exchange.is_some_and(|exchange| &*exchange.method == CONNECT);
                if connects && outcome.kind() == Kind::Error {
                    self.mcp.servers.connections.remove(&connection);
                }
            }
            Some(Caller::Request(request)) => {
                server.alone.remove(&request);
            }
            None => {}
        }
        self.answer_from_seat(id, ask, outcome);
    }

    /// Starts an answer from a seat, toward the requester.
    pub(super) fn answer_from_seat(&mut self, id: ServerId, ask: IncomingId, outcome: Message) {
        let server = self.mcp.servers.all.get(&id);
        let Some((server, exchange)) = server.zip(self.core.exchanges.get(ask)) else {
            return;
        };
        let (at, maker) = match exchange.toward {
            Peer::Client => (server.at, server.proxy()),
            Peer::Agent => (server.at + 1, None),
        };
        let hops = &self.core.hops;
        let labels = maker.map(|maker| Labels::answered_by(maker, hops));
        self.core.steps.push(Step::Answer(Answer {
            number: ask,
            at,
            message: outcome,
            labels: labels.unwrap_or_default(),
        }));
    }

    /// Handles the answer to a question whose server has ended. If the provider has made a connection, sends
    /// `mcp/disconnect` for it; the answer to that arrives here, too, and is ignored.
    fn answered_late(&mut self, answer: Answer) {
        let (at, outcome) = (answer.at, answer.message);
        let Some(exchange) = self.core.exchanges.remove(answer.number) else {
            return;
        };
        let connects = &*exchange.method == CONNECT && outcome.kind() == Kind::Result;
        let connection = member(outcome.body(), "connectionId")
            .filter(|id| connects && id.starts_with('"') && id.len() <= TOKEN);
        let Some(connection) = connection else { return };
        let message = Message::request(DISCONNECT, &wire::disconnect(connection, None));
        let (origin, route, charge) = (exchange.origin, exchange.route, exchange.charge);
        let mut routed = Routed::new(message, route, at + 1, Peer::Client);
        routed.from = routed.route.edge(Peer::Agent);
        self.core.exchanges.open_routed(origin, charge, &mut routed);
        if let Place::Hop(index) = routed.route.place(at) {
            routed.target = Target::Provider(index);
        }
        self.core.steps.push(Step::Send(routed));
    }
}

impl Mcp {
    /// Notes an open request at a seat, and its caller.
    pub(super) fn open_at_seat(&mut self, id: ServerId, ask: IncomingId, caller: Option<Caller>) {
        if let Some(server) = self.servers.all.get_mut(&id) {
            server.asked.insert(ask, caller);
            server.is_settled = true;
        }
    }
}

/// The error that seats have reached their limit.
pub(super) fn full() -> Error {
    let limit = Quantity::Size.show(MCP_KEPT_OF_ALL as u64);
    let text = format!("acp-chain: {limit} of requests wait for MCP servers already; try again");
    Error::new(code::LIMIT, text)
}
