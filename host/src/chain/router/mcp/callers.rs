//! What callers say, until it is at the seat of the server that they say it to.

use std::sync::Arc;

use super::servers::Connection;
use super::{CONNECT, DISCONNECT, MESSAGE, seats, unavailable};
use crate::chain::exchange::{Origin, Stage};
use crate::chain::route::{Target, Via};
use crate::chain::routed::Routed;
use crate::chain::router::Router;
use crate::chain::router::cancel::new_cancel;
use crate::limits::LONGEST_ID;
use crate::mcp::protocol::{OPEN, code};
use crate::mcp::seat::{Asked, Caller, Input};
use crate::mcp::wire::Wrapped;
use crate::mcp::{ServerId, declaration};
use crate::rpc::{Error, Message, code as rpc_code};
use crate::untrusted::{MAX_QUOTE, quote};

impl Router {
    /// Where a message of a caller's goes: the seat of the server, or of the connection, that it names.
    pub(in crate::chain::router) fn seat_of(&self, message: &Message) -> Result<Target, Error> {
        let wrapped = Wrapped::read(message.body());
        let connection = wrapped.connection.as_deref();
        let id = match (connection, wrapped.server.as_deref()) {
            (Some(connection), _) => {
                let open = connection.parse().ok();
                let open = open.and_then(|id: u64| self.mcp.servers.connections.get(&id));
                open.map(|open| open.server).ok_or_else(|| {
                    let connection = quote(connection, MAX_QUOTE);
                    let text = format!("acp-chain: no MCP connection `{connection}` is open");
                    Error::new(rpc_code::INVALID_PARAMS, text)
                })?
            }
            (None, Some(server)) => {
                declaration::server_of(server).ok_or_else(|| unavailable(server))?
            }
            (None, None) => {
                let text = "acp-chain: the message names neither an MCP server nor a connection";
                return Err(Error::new(rpc_code::INVALID_PARAMS, text));
            }
        };
        match self.mcp.servers.all.get(&id) {
            Some(server) => Ok(Target::Seat(id, server.at)),
            None => Err(unavailable(&declaration::chain_id(id))),
        }
    }

    /// Takes a message off its way at the seat that it is for.
    pub(in crate::chain::router) fn arrive(&mut self, id: ServerId, mut routed: Routed) {
        self.core.trace(&routed);
        let message = routed.message.clone();
        if routed.is_response() {
            // A caller's answer to the seat.
            let exchange = routed
                .exchange
                .and_then(|number| self.core.exchanges.remove(number));
            if let Some(Origin::Seat(server, question)) = exchange.map(|exchange| exchange.origin) {
                self.seat_is_answered(server, question, message);
            }
            return;
        }
        let Some(number) = routed.exchange else {
            return self.arrive_notification(id, &routed);
        };
        // Whoever answers stands where the seat is.
        routed.from = routed.at;
        self.core.exchanges.stage(number, Stage::Seat(id));
        if let Err(error) = self.ask_seat(id, number, &routed) {
            self.answer_at(number, routed.at, Message::error(&error), None);
        } else {
            self.catch_up_with_cancel(number);
        }
    }

    fn ask_seat(&mut self, id: ServerId, ask: Asked, routed: &Routed) -> Result<(), Error> {
        let message = routed.message.clone();
        let wrapped = Wrapped::read(message.body());
        let connection = wrapped.connection.as_deref();
        let connection = connection.and_then(|connection| connection.parse().ok());
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
                    open: [ask].into(),
                };
                self.mcp.servers.connections.insert(connection, new);
                let caller = Some(Caller::Connection(connection));
                self.asks(id, ask, caller);
                let meta = wrapped.meta;
                let input = Input::Connect {
                    ask,
                    connection,
                    meta,
                };
                self.seat_takes(id, input);
            }
            DISCONNECT => {
                let connection = self.own_connection(id, connection, routed.via)?;
                self.disconnect(connection, Some(ask), wrapped.meta);
            }
            _ => {
                if !self.mcp.servers.have_room(routed.message.len()) {
                    return Err(seats::full());
                }
                let method = wrapped.method.as_deref().ok_or_else(no_method)?;
                let caller = match (connection, wrapped.request.as_deref()) {
                    (Some(_), _) => {
                        let connection = self.own_connection(id, connection, routed.via)?;
                        if let Some(connection) = self.mcp.servers.connections.get_mut(&connection)
                        {
                            connection.open.insert(ask);
                        }
                        Caller::Connection(connection)
                    }
                    (None, Some(request)) => self.stand_alone(id, ask, request, routed.via)?,
                    (None, None) => {
                        let text =
                            "acp-chain: the message has neither a connectionId nor a requestId";
                        return Err(Error::new(rpc_code::INVALID_PARAMS, text));
                    }
                };
                self.asks(id, ask, Some(caller.clone()));
                let own = self.callers_id(ask, wrapped.request.as_deref());
                let input = Input::Request {
                    ask,
                    caller,
                    id: &own,
                    method,
                    params: wrapped.params,
                    falls_back: matches!(routed.via, Via::Link(_)),
                    meta: wrapped.meta,
                };
                self.seat_takes(id, input);
            }
        }
        Ok(())
    }

    /// Enters a request that stands alone.
    fn stand_alone(
        &mut self,
        id: ServerId,
        ask: Asked,
        request: &str,
        via: Via,
    ) -> Result<Caller, Error> {
        if request.len() > LONGEST_ID {
            let text = format!("acp-chain: a requestId may have {LONGEST_ID} bytes");
            return Err(Error::new(rpc_code::INVALID_PARAMS, text));
        }
        let request: Arc<str> = request.into();
        let key = (id, request.clone());
        if self.mcp.servers.alone.contains_key(&key) {
            let text = format!(
                "acp-chain: the requestId {request:?} belongs to a request that is still open"
            );
            return Err(Error::new(rpc_code::INVALID_PARAMS, text));
        }
        self.mcp.servers.alone.insert(key, via);
        if let Some(exchange) = self.core.exchanges.get_mut(ask) {
            exchange.stands_alone = true;
        }
        Ok(Caller::Request(request))
    }

    /// The id by which whoever asks knows the request.
    fn callers_id(&self, ask: Asked, request: Option<&str>) -> String {
        let origin = self
            .core
            .exchanges
            .get(ask)
            .map(|exchange| &exchange.origin);
        match (origin, request) {
            (Some(Origin::Edge(..) | Origin::Native(..)), Some(request)) => {
                serde_json::json!(request).to_string()
            }
            (Some(Origin::Edge(_, id) | Origin::Native(_, id) | Origin::Link(_, id)), _) => {
                id.as_str().to_owned()
            }
            _ => "null".to_owned(),
        }
    }

    /// The connection that a caller names, if it is one of its own to this server.
    fn own_connection(
        &self,
        id: ServerId,
        connection: Option<u64>,
        via: Via,
    ) -> Result<u64, Error> {
        let open = connection.and_then(|id| self.mcp.servers.connections.get(&id));
        let own = open.filter(|open| open.server == id && open.via == via);
        connection.filter(|_| own.is_some()).ok_or_else(|| {
            let text = "acp-chain: the MCP connection is closed, or another's";
            Error::new(rpc_code::INVALID_PARAMS, text)
        })
    }

    /// Ends a connection. What is open on it is withdrawn.
    pub(in crate::chain::router) fn disconnect(
        &mut self,
        connection: u64,
        ask: Option<Asked>,
        meta: Option<&str>,
    ) {
        let Some(gone) = self.mcp.servers.connections.remove(&connection) else {
            return;
        };
        for open in gone.open {
            self.withdraw(open, new_cancel());
        }
        if let Some(ask) = ask {
            self.asks(gone.server, ask, None);
        }
        let input = Input::Disconnect {
            ask,
            connection,
            meta,
        };
        self.seat_takes(gone.server, input);
    }

    fn arrive_notification(&mut self, id: ServerId, routed: &Routed) {
        let wrapped = Wrapped::read(routed.message.body());
        let connection = wrapped.connection.as_deref();
        let connection = connection.and_then(|connection| connection.parse().ok());
        let connection = self.own_connection(id, connection, routed.via);
        match (connection, wrapped.method.as_deref(), &*routed.method) {
            (Ok(_), Some(_), MESSAGE) if !self.mcp.servers.have_room(routed.message.len()) => {
                self.dropped(&seats::full());
            }
            (Ok(connection), Some(method), MESSAGE) => {
                let input = Input::Notification {
                    connection,
                    method,
                    params: wrapped.params,
                    meta: wrapped.meta,
                };
                self.seat_takes(id, input);
            }
            (Ok(connection), _, DISCONNECT) => self.disconnect(connection, None, wrapped.meta),
            _ => self.dropped(&"a caller tells it on no MCP connection of its own"),
        }
    }
}

fn no_method() -> Error {
    Error::new(
        rpc_code::INVALID_PARAMS,
        "acp-chain: the MCP message has no method",
    )
}
