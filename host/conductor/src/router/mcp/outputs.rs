//! What seats want, carried out.

use super::MESSAGE;
use super::Mcp;
use super::servers::Provider;
use crate::exchange::Origin;
use crate::hop::Item;
use crate::route::{Target, Via};
use crate::routed::Routed;
use crate::router::cancel::new_cancel;
use crate::router::core::Core;
use crate::router::steps::{Step, Steps, Task};
use acp_chain_channel::Peer;
use acp_chain_mcp::protocol::code;
use acp_chain_mcp::seat::{Asked, Caller, Output, Question};
use acp_chain_mcp::{ServerId, declaration, wire};
use acp_chain_rpc::{Error, Kind, Message, code as rpc_code};

impl Mcp {
    /// Does what a seat wanted first, with all that comes of it; then what comes behind that.
    pub(super) fn carry_out_next(&mut self, core: &mut Core, steps: &mut Steps) {
        match self.wanted.pop_front() {
            Some((id, output)) => {
                self.carry_out(core, id, output, steps);
                steps.push(Step::Mcp(Task::Wanted));
            }
            None => self.is_due = false,
        }
    }

    fn carry_out(&mut self, core: &mut Core, id: ServerId, output: Output, steps: &mut Steps) {
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
                self.seat_answers(core, id, ask, outcome, steps);
            }
            Output::AskProvider {
                question,
                method,
                params,
            } => {
                let message = Message::request(method, &params);
                self.send_to_provider(core, id, Some(question), message, steps);
            }
            Output::TellProvider { params } => {
                let message = Message::notification(MESSAGE, &params);
                self.send_to_provider(core, id, None, message, steps);
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
                    .servers
                    .connections
                    .get(&connection)
                    .map(|open| open.via);
                self.send_to_caller(core, id, via, Some(question), message, steps);
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
                        let via = self.servers.alone.get(&(id, request)).copied();
                        (via, params)
                    }
                };
                let message = Message::notification(MESSAGE, &params);
                self.send_to_caller(core, id, via, None, message, steps);
            }
            Output::Withdraw { question } => {
                let server = self.servers.all.get(&id);
                let number = server.and_then(|server| server.questions.get(&question).copied());
                if let Some(number) = number {
                    steps.push(Step::Withdraw(number, new_cancel()));
                }
            }
            Output::Notice { text } => self.tell_once(core, &text, &text),
            Output::List { question, offer } => {
                let message = Message::request(offer.list(), "null");
                self.use_component(core, id, question, Target::List(offer), message);
            }
            Output::Call {
                question,
                method,
                params,
            } => {
                let message = Message::request(method, &params);
                self.use_component(core, id, question, Target::Call, message);
            }
        }
    }

    /// Whether a request stands alone, so that MCP's outcome is carried in its answer.
    fn is_carried(&self, id: ServerId, ask: Asked) -> bool {
        let server = self.servers.all.get(&id);
        let caller = server.and_then(|server| server.asked.get(&ask));
        matches!(caller, Some(Some(Caller::Request(_))))
    }

    fn send_to_provider(
        &mut self,
        core: &mut Core,
        id: ServerId,
        question: Option<Question>,
        message: Message,
        steps: &mut Steps,
    ) {
        let Some(server) = self.servers.all.get(&id) else {
            return;
        };
        let (at, route) = (server.at, server.route.clone());
        let mut routed = Routed::new(message, route, at + 1, Peer::Client);
        routed.from = routed.route.edge(Peer::Agent);
        if let Provider::Proxy(index) = server.provider {
            routed.target = Target::Provider(index);
        }
        if let Some(question) = question {
            self.ask(core, id, question, &mut routed);
        }
        steps.push(Step::Send(routed));
    }

    fn send_to_caller(
        &mut self,
        core: &mut Core,
        id: ServerId,
        via: Option<Via>,
        question: Option<Question>,
        message: Message,
        steps: &mut Steps,
    ) {
        let Some(server) = self.servers.all.get(&id) else {
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
                return self.seat_is_answered(id, question, error, steps);
            }
            // Nobody is there any more to be told.
            (None, None) => return,
        }
        if let Some(question) = question {
            self.ask(core, id, question, &mut routed);
        }
        steps.push(Step::Send(routed));
    }

    /// Asks a component what it has, or calls something of it.
    fn use_component(
        &mut self,
        core: &mut Core,
        id: ServerId,
        question: Question,
        target: Target,
        message: Message,
    ) {
        let Some(server) = self.servers.all.get(&id) else {
            return;
        };
        let Provider::Component(index) = server.provider else {
            return;
        };
        let mut routed = Routed::new(message, server.route.clone(), server.at, Peer::Client);
        routed.from = routed.route.edge(Peer::Agent);
        routed.target = target;
        routed.request_session.clone_from(&server.session);
        routed.arrival = core.hops[index].next_arrival();
        core.note_queued(&mut routed);
        self.ask(core, id, question, &mut routed);
        core.enqueue(index, Item::Message(routed));
    }

    /// Opens a request of a seat's.
    fn ask(&mut self, core: &mut Core, id: ServerId, question: Question, routed: &mut Routed) {
        let (toward, route) = (routed.toward, routed.route.clone());
        let origin = Origin::Seat(id, question);
        let number = core
            .exchanges
            .open(origin, toward, route, &routed.message, None);
        routed.exchange = Some(number);
        if let Some(server) = self.servers.all.get_mut(&id) {
            server.questions.insert(question, number);
        }
    }
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
