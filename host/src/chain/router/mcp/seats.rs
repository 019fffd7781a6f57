//! The seats of servers: what they take in, and what they want done.

use std::collections::VecDeque;

use super::servers::{Provider, Server};
use super::{CONNECT, DISCONNECT, MESSAGE};
use crate::chain::exchange::{Exchange, ExchangeId, Origin, Stage};
use crate::chain::hop::Item;
use crate::chain::route::{HopIndex, Place, Target, Via};
use crate::chain::routed::Routed;
use crate::chain::router::Router;
use crate::chain::router::cancel::new_cancel;
use crate::channel::Peer;
use crate::limits::{MCP_KEPT_OF_ALL, Quantity};
use crate::mcp::protocol::{TOKEN, code};
use crate::mcp::seat::{Asked, Caller, Input, Output, Question};
use crate::mcp::{ServerId, declaration, wire};
use crate::rpc::{Error, Kind, Message, code as rpc_code, member};

impl Router {
    /// Lets a seat take something in, and does what it wants done: now, or after what other seats
    /// wanted before, which this may be a part of.
    pub(in crate::chain::router) fn seat_takes(&mut self, id: ServerId, input: Input) {
        let Some(server) = self.mcp.servers.all.get_mut(&id) else {
            return;
        };
        let outputs = server.seat.take(input).into_iter();
        server.charge = self.mcp.servers.kept.charge_anyway(server.seat.weight());
        let waiting = &mut self.mcp.servers.wanted;
        let is_first = waiting.is_none();
        let waiting = waiting.get_or_insert_default();
        waiting.extend(outputs.map(|output| (id, output)));
        if is_first {
            while let Some((id, output)) = self
                .mcp
                .servers
                .wanted
                .as_mut()
                .and_then(VecDeque::pop_front)
            {
                self.carry_out(id, output);
            }
            self.mcp.servers.wanted = None;
        }
    }

    /// Gives a seat the answer to a question of its own.
    pub(in crate::chain::router) fn seat_is_answered(
        &mut self,
        id: ServerId,
        question: Question,
        outcome: Message,
    ) {
        if let Some(server) = self.mcp.servers.all.get_mut(&id) {
            server.questions.remove(&question);
        }
        let outcome = match self.mcp.servers.have_room(outcome.len()) {
            true => outcome,
            false => Message::error(&full()),
        };
        self.seat_takes(id, Input::Answered { question, outcome });
    }

    /// A question of a seat is answered whose server is gone. If its provider has made a connection all
    /// the same, that is closed again; the answer to this comes here too, and means nothing.
    pub(in crate::chain::router) fn answered_late(
        &mut self,
        number: ExchangeId,
        at: usize,
        outcome: &Message,
    ) {
        let Some(exchange) = self.core.exchanges.remove(number) else {
            return;
        };
        let connects = &*exchange.method == CONNECT && outcome.kind() == Kind::Result;
        let connection = member(outcome.body(), "connectionId")
            .filter(|id| connects && id.starts_with('"') && id.len() <= TOKEN);
        let Some(connection) = connection else {
            return;
        };
        let params = format!(r#"{{"connectionId":{connection}}}"#);
        let message = Message::request(DISCONNECT, &params);
        let route = exchange.route;
        let number =
            self.core
                .exchanges
                .open(exchange.origin, Peer::Client, route.clone(), &message, None);
        let mut routed = Routed::new(message, route, at + 1, Peer::Client);
        routed.from = routed.route.edge(Peer::Agent);
        routed.exchange = Some(number);
        if let Place::Hop(index) = routed.route.place(at) {
            routed.target = Target::Provider(index);
        }
        self.travel(routed);
    }

    pub(super) fn asks(&mut self, id: ServerId, ask: Asked, caller: Option<Caller>) {
        if let Some(server) = self.mcp.servers.all.get_mut(&id) {
            server.asked.insert(ask, caller);
        }
    }

    /// A request was withdrawn before it came to a seat.
    pub(super) fn catch_up_with_cancel(&mut self, number: ExchangeId) {
        let exchange = self.core.exchanges.get(number);
        if exchange.is_some_and(|exchange| exchange.cancel.is_some()) {
            self.withdraw_from_seat(number);
        }
    }

    /// Tells a seat that nobody waits any more for an answer.
    pub(in crate::chain::router) fn withdraw_from_seat(&mut self, number: ExchangeId) {
        let Some(Stage::Seat(id)) = self
            .core
            .exchanges
            .get(number)
            .map(|exchange| exchange.stage)
        else {
            return;
        };
        self.seat_takes(id, Input::Withdrawn { ask: number });
        let stage = self
            .core
            .exchanges
            .get(number)
            .map(|exchange| exchange.stage);
        if matches!(stage, Some(Stage::Seat(_))) {
            let error = Error::new(rpc_code::REQUEST_CANCELLED, "the request was cancelled");
            self.seat_answers(id, number, Message::error(&error));
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
                let outcome = match self.is_carried(id, ask) && !outer {
                    true => carried(&outcome, meta.as_deref()),
                    false => outcome,
                };
                self.seat_answers(id, ask, outcome);
            }
            Output::AskProvider {
                question,
                method,
                params,
            } => {
                let message = Message::request(method, &params);
                self.send_to_provider(id, Some(question), message);
            }
            Output::TellProvider { params } => {
                let message = Message::notification(MESSAGE, &params);
                self.send_to_provider(id, None, message);
            }
            Output::AskCaller {
                question,
                connection,
                method,
                params,
                meta,
            } => {
                let (params, meta) = (params.as_deref(), meta.as_deref());
                let params = wire::on_connection(&connection.to_string(), &method, params, meta);
                let message = Message::request(MESSAGE, &params);
                let via = self
                    .mcp
                    .servers
                    .connections
                    .get(&connection)
                    .map(|open| open.via);
                self.send_to_caller(id, via, Some(question), message);
            }
            Output::TellCaller {
                caller,
                method,
                params,
                meta,
            } => {
                let (params, meta) = (params.as_deref(), meta.as_deref());
                let (via, params) = match caller {
                    Caller::Connection(connection) => {
                        let via = self
                            .mcp
                            .servers
                            .connections
                            .get(&connection)
                            .map(|open| open.via);
                        let params =
                            wire::on_connection(&connection.to_string(), &method, params, meta);
                        (via, params)
                    }
                    Caller::Request(request) => {
                        let server = declaration::chain_id(id);
                        let params = wire::alone(&server, &request, &method, params, meta);
                        let via = self.mcp.servers.alone.get(&(id, request)).copied();
                        (via, params)
                    }
                };
                let message = Message::notification(MESSAGE, &params);
                self.send_to_caller(id, via, None, message);
            }
            Output::Withdraw { question } => {
                let server = self.mcp.servers.all.get(&id);
                let number = server.and_then(|server| server.questions.get(&question).copied());
                if let Some(number) = number {
                    self.withdraw(number, new_cancel());
                }
            }
            Output::Notice { text } => self.tell_once(&text, &text),
            Output::List { question, offer } => {
                let message = Message::request(offer.list(), "null");
                self.use_component(id, question, Target::List(offer), message);
            }
            Output::Call {
                question,
                method,
                params,
            } => {
                let message = Message::request(method, &params);
                self.use_component(id, question, Target::Call, message);
            }
        }
    }

    /// Whether a request stands alone, so that MCP's outcome is carried in its answer.
    fn is_carried(&self, id: ServerId, ask: Asked) -> bool {
        let server = self.mcp.servers.all.get(&id);
        let caller = server.and_then(|server| server.asked.get(&ask));
        matches!(caller, Some(Some(Caller::Request(_))))
    }

    /// Answers a request on behalf of a seat.
    fn seat_answers(&mut self, id: ServerId, ask: Asked, outcome: Message) {
        let Some(server) = self.mcp.servers.all.get_mut(&id) else {
            return;
        };
        let at = server.at;
        let Some(caller) = server.asked.remove(&ask) else {
            tracing::debug!("an answer came for a request that has one");
            return;
        };
        match caller {
            Some(Caller::Connection(connection)) => {
                if let Some(open) = self.mcp.servers.connections.get_mut(&connection) {
                    open.open.remove(&ask);
                }
                let exchange = self.core.exchanges.get(ask);
                let connects = exchange.is_some_and(|exchange| &*exchange.method == CONNECT);
                if connects && outcome.kind() == Kind::Error {
                    self.mcp.servers.connections.remove(&connection);
                }
            }
            Some(Caller::Request(request)) => {
                self.mcp.servers.alone.remove(&(id, request));
            }
            None => {}
        }
        self.answer_from_seat(ask, at, outcome);
    }

    /// Sends an answer off from a seat at a position, to whichever side asked.
    pub(in crate::chain::router) fn answer_from_seat(
        &mut self,
        ask: Asked,
        at: usize,
        outcome: Message,
    ) {
        if let Some(exchange) = self.core.exchanges.get(ask) {
            let (at, maker) = match exchange.toward {
                Peer::Client => (at, self.maker_at(exchange)),
                Peer::Agent => (at + 1, None),
            };
            self.answer_at(ask, at, outcome, maker);
        }
    }

    /// The proxy that answers for what comes from a seat, if its provider is one.
    fn maker_at(&self, exchange: &Exchange) -> Option<HopIndex> {
        let Stage::Seat(id) = exchange.stage else {
            return None;
        };
        self.mcp.servers.all.get(&id).and_then(Server::proxy)
    }

    fn send_to_provider(&mut self, id: ServerId, question: Option<Question>, message: Message) {
        let Some(server) = self.mcp.servers.all.get(&id) else {
            return;
        };
        let (at, route) = (server.at, server.route.clone());
        let mut routed = Routed::new(message, route, at + 1, Peer::Client);
        routed.from = routed.route.edge(Peer::Agent);
        if let Provider::Proxy(index) = server.provider {
            routed.target = Target::Provider(index);
        }
        if let Some(question) = question {
            self.ask(id, question, &mut routed);
        }
        self.travel(routed);
    }

    fn send_to_caller(
        &mut self,
        id: ServerId,
        via: Option<Via>,
        question: Option<Question>,
        message: Message,
    ) {
        let Some(server) = self.mcp.servers.all.get(&id) else {
            return;
        };
        let mut routed = Routed::new(message, server.route.clone(), server.at, Peer::Agent);
        routed.maker = server.proxy();
        routed.internal = routed.maker.is_some();
        match (via, question) {
            (Some(via), _) => routed.via = via,
            (None, Some(question)) => {
                let text = "acp-chain: the MCP connection is closed";
                let error = Message::error(&Error::new(rpc_code::INVALID_PARAMS, text));
                return self.seat_is_answered(id, question, error);
            }
            // Nobody is there any more to be told.
            (None, None) => return,
        }
        if let Some(question) = question {
            self.ask(id, question, &mut routed);
        }
        self.travel(routed);
    }

    /// Asks a component what it has, or calls something of it.
    fn use_component(
        &mut self,
        id: ServerId,
        question: Question,
        target: Target,
        message: Message,
    ) {
        let Some(server) = self.mcp.servers.all.get(&id) else {
            return;
        };
        let Provider::Component(index) = server.provider else {
            return;
        };
        let mut routed = Routed::new(message, server.route.clone(), server.at, Peer::Client);
        routed.from = routed.route.edge(Peer::Agent);
        routed.target = target;
        routed.request_session.clone_from(&server.session);
        routed.arrival = self.core.hops[index].next_arrival();
        self.ask(id, question, &mut routed);
        self.core.hops[index].push(Item::Message(routed));
        self.core.make_ready(index);
    }

    /// Opens a request of a seat's.
    fn ask(&mut self, id: ServerId, question: Question, routed: &mut Routed) {
        let (toward, route) = (routed.toward, routed.route.clone());
        let origin = Origin::Seat(id, question);
        let number = self
            .core
            .exchanges
            .open(origin, toward, route, &routed.message, None);
        routed.exchange = Some(number);
        if let Some(server) = self.mcp.servers.all.get_mut(&id) {
            server.questions.insert(question, number);
        }
    }
}

/// That seats keep as much as they may.
pub(super) fn full() -> Error {
    let limit = Quantity::Size.show(MCP_KEPT_OF_ALL as u64);
    let text = format!("acp-chain: {limit} of requests wait for MCP servers already; try again");
    Error::new(code::LIMIT, text)
}

/// MCP's outcome as the stateless dialect carries it: inside of a result, but for errors of the dialect
/// itself.
fn carried(outcome: &Message, meta: Option<&str>) -> Message {
    let body = outcome.body();
    let meta = meta.map(|meta| format!(r#","_meta":{meta}"#));
    let meta = meta.unwrap_or_default();
    if outcome.kind() != Kind::Error {
        return Message::result(&format!(r#"{{"result":{body}{meta}}}"#));
    }
    let error: Option<Error> = serde_json::from_str(body).ok();
    let own = [
        code::LIMIT,
        code::UNAVAILABLE,
        code::BACKEND,
        rpc_code::REQUEST_CANCELLED,
    ];
    match error {
        Some(error) if own.contains(&error.code) => outcome.clone(),
        _ => Message::result(&format!(r#"{{"error":{body}{meta}}}"#)),
    }
}
