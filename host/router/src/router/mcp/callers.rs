//! Messages of callers, until they reach the seat of their server.

use std::sync::Arc;

use super::servers::{Connection, Server};
use super::{CONNECT, DISCONNECT, MCP_MESSAGE, Mcp, McpRouter, invalid, seats, unavailable};
use crate::router::core::Core;
use crate::router::steps::Task;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::LONGEST_ID;
use acp_chain_hops::exchange::{Origin, Stage};
use acp_chain_hops::route::{Target, Via};
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::protocol::{CANCELLED, OPEN, code, token};
use acp_chain_mcp::seat::{Caller, CallerRequest, Input};
use acp_chain_mcp::wire::{self, Address, McpMessage};
use acp_chain_mcp::{ConnectionId, IncomingId, ServerId, declaration};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Id, Message, member};

impl McpRouter<'_> {
    /// Receives a message at its seat.
    pub fn arrive(&mut self, id: ServerId, mut routed: Routed) {
        self.core.trace(&routed);
        let Some(number) = routed.exchange else {
            return self.arrive_notification(id, &routed);
        };
        if routed.is_response() {
            // A caller's answer to the seat.
            let exchange = self.core.exchanges.remove(number);
            if let Some(Origin::Seat(server, question)) = exchange.map(|exchange| exchange.origin) {
                self.answer_seat(server, question, routed.message.clone());
            }
            return;
        }
        // The answer starts at the seat's position.
        routed.from = routed.at;
        self.core.exchanges.stage(number, Stage::Seat(id));
        if let Err(error) = self.ask_seat(id, number, &routed) {
            self.core.steps.refuse_at(number, routed.at, &error);
        } else {
            self.core.steps.push(Task::CatchUp(number));
        }
    }

    fn ask_seat(&mut self, id: ServerId, ask: IncomingId, routed: &Routed) -> Result<(), Error> {
        let message = &routed.message;
        let named = Address::read(message.body());
        let Some(server) = self.mcp.servers.all.get(&id) else {
            return Err(unavailable(&declaration::chain_id(id)));
        };
        if server.asked.len() >= OPEN {
            let text = format!("acp-chain: {OPEN} requests to the MCP server are open already");
            return Err(Error::new(code::LIMIT, text));
        }
        match &*routed.method {
            CONNECT => {
                let of = self.mcp.servers.connections.values();
                if of.filter(|connection| connection.server == id).count() >= OPEN {
                    let text = format!("acp-chain: the MCP server has {OPEN} connections already");
                    return Err(Error::new(code::LIMIT, text));
                }
                let connection = self.mcp.servers.number();
                let new = Connection {
                    server: id,
                    via: routed.via,
                };
                self.mcp.servers.connections.insert(connection, new);
                self.mcp
                    .open_at_seat(id, ask, Some(Caller::Connection(connection)));
                let input = Input::Connect {
                    ask,
                    connection,
                    meta: wire::meta(message.body()),
                };
                self.give(id, input);
            }
            DISCONNECT => {
                let connection = self.mcp.own_connection(id, &named, routed.via)?;
                self.mcp.open_at_seat(id, ask, None);
                self.disconnect(connection, Some(ask), Some(message));
            }
            _ => {
                if !self.mcp.servers.have_room(routed.message.len()) {
                    return Err(seats::full());
                }
                let no_method = || invalid("acp-chain: the MCP message has no method");
                let said = McpMessage::read(message).ok_or_else(no_method)?;
                let caller = match (named.own_connection(), named.request.as_deref()) {
                    (Some(_), _) => {
                        Caller::Connection(self.mcp.own_connection(id, &named, routed.via)?)
                    }
                    (None, Some(request)) => self.register_alone(id, request, routed.via)?,
                    (None, None) => {
                        let text =
                            "acp-chain: the message has neither a connectionId nor a requestId";
                        return Err(invalid(text));
                    }
                };
                self.mcp.open_at_seat(id, ask, Some(caller.clone()));
                if let Some(exchange) = self.core.exchanges.get_mut(ask) {
                    exchange.stands_alone = matches!(caller, Caller::Request(_));
                }
                let request = CallerRequest {
                    ask,
                    caller,
                    id: callers_id(self.core, ask, named.request.as_deref()),
                    said,
                    falls_back: matches!(routed.via, Via::Link(_)),
                };
                self.give(id, Input::Request(request));
            }
        }
        Ok(())
    }

    /// Registers a stateless request.
    fn register_alone(&mut self, id: ServerId, request: &str, via: Via) -> Result<Caller, Error> {
        if request.len() > LONGEST_ID {
            let text = format!("acp-chain: a requestId may have at most {LONGEST_ID} bytes");
            return Err(invalid(text));
        }
        let Some(server) = self.mcp.servers.all.get_mut(&id) else {
            return Err(unavailable(&declaration::chain_id(id)));
        };
        if server.alone.contains_key(request) {
            let text = format!(
                "acp-chain: the requestId {request:?} belongs to a request that is still open"
            );
            return Err(invalid(text));
        }
        let request: Arc<str> = request.into();
        server.alone.insert(request.clone(), via);
        Ok(Caller::Request(request))
    }

    /// Ends a connection, with this message if a caller sent it. Cancels the open requests on it, and then notifies the
    /// seat.
    pub(super) fn disconnect(
        &mut self,
        connection: ConnectionId,
        ask: Option<IncomingId>,
        said: Option<&Message>,
    ) {
        let Some(closed) = self.mcp.servers.connections.remove(&connection) else {
            return;
        };
        let caller = Some(Caller::Connection(connection));
        let server = self.mcp.servers.all.get(&closed.server);
        let asked = server.into_iter().flat_map(|server| &server.asked);
        let open = asked.filter(|(_, by)| **by == caller);
        self.core.steps.withdraw(open.map(|(open, _)| *open));
        self.core.steps.push(Task::Disconnected {
            server: closed.server,
            connection,
            ask,
            said: said.cloned(),
        });
    }

    fn arrive_notification(&mut self, id: ServerId, routed: &Routed) {
        let named = Address::read(routed.message.body());
        let connection = self.mcp.own_connection(id, &named, routed.via);
        match (
            connection,
            McpMessage::read(&routed.message),
            &*routed.method,
        ) {
            (Ok(_), Some(_), MCP_MESSAGE) if !self.mcp.servers.have_room(routed.message.len()) => {
                self.lose_of_client(&seats::full());
            }
            (Ok(connection), Some(said), MCP_MESSAGE) if said.method() == CANCELLED => {
                if let Some(ask) = self.cancelled(id, connection, &said) {
                    self.give(id, Input::Withdrawn { ask });
                }
            }
            (Ok(connection), Some(said), MCP_MESSAGE) => {
                let input = Input::Notification { connection, said };
                self.give(id, input);
            }
            (Ok(connection), _, DISCONNECT) => {
                self.disconnect(connection, None, Some(&routed.message));
            }
            _ => {
                let why = "a caller names no open MCP connection of its own";
                self.lose_of_client(&why);
            }
        }
    }

    /// The open request on a caller's connection that its `notifications/cancelled` names.
    fn cancelled(
        &self,
        id: ServerId,
        connection: ConnectionId,
        said: &McpMessage,
    ) -> Option<IncomingId> {
        let named = token(member(said.params(), "requestId"))?;
        let caller = Some(Caller::Connection(connection));
        let asked = &self.mcp.servers.all.get(&id)?.asked;
        let mut own = asked.iter().filter(|(_, by)| **by == caller);
        let is_it = |ask: IncomingId| callers_id(self.core, ask, None).as_ref() == Some(&named);
        own.find(|(ask, _)| is_it(**ask)).map(|(ask, _)| *ask)
    }
}

impl Mcp {
    /// The server or the server of the connection that a caller's message names, with its number.
    pub fn server_of(&self, message: &Message) -> Result<(ServerId, &Server), Error> {
        let named = Address::read(message.body());
        if let Some(server) = self.servers.named(&named) {
            return Ok(server);
        }
        Err(match (named.connection, named.server) {
            (Some(connection), _) => {
                let connection = quote(&connection, MAX_QUOTE);
                invalid(format!(
                    "acp-chain: no MCP connection `{connection}` is open"
                ))
            }
            (None, Some(server)) => unavailable(&server),
            (None, None) => {
                invalid("acp-chain: the message names neither an MCP server nor a connection")
            }
        })
    }

    /// Sends a message of the agent to the seat of its server, on the server's route.
    pub fn head_for_seat(&self, core: &mut Core, routed: &mut Routed) -> Result<(), Error> {
        let (id, server) = self.server_of(&routed.message)?;
        routed.target = Target::Seat(id, server.at);
        if server.route.is(&routed.route) {
            return Ok(());
        }
        routed.route = server.route.clone();
        routed.at = routed.route.edge(Peer::Agent);
        routed.from = routed.at;
        if let Some(number) = routed.exchange {
            core.exchanges.lead(number, &routed.route);
        }
        Ok(())
    }

    /// The connection that a caller names; an error unless it is the caller's own and to this server.
    fn own_connection(
        &self,
        id: ServerId,
        named: &Address,
        via: Via,
    ) -> Result<ConnectionId, Error> {
        let open = self.servers.connected(named);
        let own = open.filter(|open| open.server == id && open.via == via);
        let text = "acp-chain: the MCP connection is closed, or belongs to another client";
        own.and(named.own_connection()).ok_or_else(|| invalid(text))
    }
}

/// The caller's id of the request, if it may be kept.
fn callers_id(core: &Core, ask: IncomingId, request: Option<&str>) -> Option<Id> {
    let origin = core.exchanges.get(ask).map(|exchange| &exchange.origin);
    match (origin?, request) {
        (Origin::Edge(..) | Origin::Native(..), Some(request)) => {
            token(Some(&serde_json::json!(request).to_string()))
        }
        (Origin::Edge(_, id) | Origin::Native(_, id) | Origin::Link(_, id), _) => {
            token(Some(id.as_str()))
        }
        _ => None,
    }
}
