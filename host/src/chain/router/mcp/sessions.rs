//! Sessions begin and end, and their servers with them.

use std::sync::Arc;

use super::servers::{Connection, Server};
use crate::chain::exchange::{Boundary, Exchange, ExchangeId};
use crate::chain::router::Router;
use crate::chain::router::cancel::new_cancel;
use crate::channel::Peer;
use crate::mcp::ServerId;
use crate::mcp::capabilities::{Capabilities, with_acp};
use crate::mcp::protocol::code;
use crate::mcp::seat::Input;
use crate::rpc::{Error, Kind, Message, member};

impl Router {
    /// Looks at an answer of the agent's, before anybody else: what it can, and which sessions begin
    /// and end.
    pub(in crate::chain::router) fn note_answer(&mut self, number: ExchangeId, message: &Message) {
        let Some(exchange) = self.core.exchanges.get(number) else {
            return;
        };
        if message.kind() != Kind::Result {
            return;
        }
        // As the agent knows it.
        let session = match exchange.renamed.last() {
            Some((_, session)) => session.clone(),
            None => exchange.session.clone(),
        };
        match exchange.boundary {
            Boundary::Connection => {
                self.mcp.servers.agent = Capabilities::read(message.body());
            }
            Boundary::End => {
                if let Some(session) = session {
                    self.close_session(&session);
                }
            }
            Boundary::Session => {
                let named = member(message.body(), "sessionId");
                let named = named.and_then(|id| serde_json::from_str::<String>(id).ok());
                let session = match (named, &*exchange.method) {
                    (Some(named), _) => Some(Arc::from(named)),
                    (None, "session/fork") => None,
                    (None, _) => session,
                };
                self.begin_session(number, session);
            }
            Boundary::Inner => {}
        }
    }

    /// What whoever made it shows of the parts behind it in the answer to `initialize`: servers are
    /// reached over ACP past all of them, whether they know or not.
    pub(in crate::chain::router) fn shown(of: Boundary, toward: Peer, message: Message) -> Message {
        if of != Boundary::Connection || toward != Peer::Client || message.kind() != Kind::Result {
            return message;
        }
        match with_acp(message.body()) {
            Some(result) => message.with_body(&result),
            None => message,
        }
    }

    /// A session's servers are known by its name from now on. Those that it had before are gone, if it
    /// was loaded anew.
    fn begin_session(&mut self, setup: ExchangeId, session: Option<Arc<str>>) {
        if let Some(session) = &session {
            self.close_session(session);
        }
        for server in self.mcp.servers.all.values_mut() {
            if server.setup == Some(setup) {
                server.setup = None;
                server.session = Server::session(session.as_ref());
            }
        }
    }

    /// Closes the servers of a session, but for those of a request that is to set it up again.
    fn close_session(&mut self, session: &str) {
        self.close_servers(|server| {
            server.setup.is_none() && server.session.as_deref() == Some(session)
        });
    }

    /// A request to set up a session has its answer. Where that was none of the agent's, or an error,
    /// the servers that it declared are nobody's.
    pub(in crate::chain::router) fn setup_is_over(
        &mut self,
        number: ExchangeId,
        exchange: &Exchange,
    ) {
        if exchange.boundary == Boundary::Session {
            self.mcp.servers.clients.remove(&number);
            self.close_servers(|server| server.setup == Some(number));
        }
    }

    fn close_servers(&mut self, of: impl Fn(&Server) -> bool) {
        let all = self.mcp.servers.all.iter().filter(|(_, server)| of(server));
        for server in all.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.close_server(server);
        }
    }

    /// Ends a server: whoever asked it is told, and nobody gets to it any more.
    fn close_server(&mut self, id: ServerId) {
        let text = "acp-chain: the MCP server went with its session";
        let gone = Message::error(&Error::new(code::UNAVAILABLE, text));
        // Past all proxies: the door is about to close.
        for (link, entry) in &mut self.mcp.servers.links {
            if entry.server == id {
                for own in entry.give_up() {
                    self.mcp.door.send(*link, &gone, Some(own.as_str()));
                }
            }
        }
        let Some(server) = self.mcp.servers.all.get_mut(&id) else {
            return;
        };
        let (at, asked) = (server.at, std::mem::take(&mut server.asked));
        let questions: Vec<_> = server.questions.values().copied().collect();
        for ask in asked.into_keys() {
            self.answer_from_seat(ask, at, gone.clone());
        }
        for number in questions {
            self.withdraw(number, new_cancel());
        }
        // So that its provider hears of it.
        for connection in self.connections(|connection| connection.server == id) {
            self.disconnect(connection, None, None);
        }
        self.seat_takes(id, Input::Over);
        self.mcp.servers.all.remove(&id);
        self.mcp
            .servers
            .alone
            .retain(|(server, _), _| *server != id);
        self.mcp.door.close(id);
    }

    /// The connections of which this is so.
    pub(in crate::chain::router) fn connections(
        &self,
        of: impl Fn(&Connection) -> bool,
    ) -> Vec<u64> {
        let all = self.mcp.servers.connections.iter();
        let those = all.filter(|(_, connection)| of(connection));
        those.map(|(id, _)| *id).collect()
    }
}
