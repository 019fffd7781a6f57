//! Servers end with their sessions.
//!
//! A server ends in four steps, each of which waits for the consequences of the one before: its callers are told, its
//! connections are closed, its seat produces its last output, and the server is removed.

use std::sync::Arc;

use super::Mcp;
use super::servers::Server;
use crate::exchange::ExchangeId;
use crate::router::cancel::new_cancel;
use crate::router::core::Core;
use crate::router::steps::{Step, Steps, Task};
use acp_chain_mcp::ServerId;
use acp_chain_mcp::protocol::code;
use acp_chain_rpc::{Error, Message};

impl Mcp {
    /// A session's servers are known by its name from now on. If it was reloaded, its earlier servers are gone.
    pub(in crate::router) fn begin_session(
        &mut self,
        setup: ExchangeId,
        session: Option<&Arc<str>>,
        steps: &mut Steps,
    ) {
        if let Some(session) = session {
            self.close_session(session, steps);
        }
        for server in self.servers.all.values_mut() {
            if server.setup == Some(setup) {
                server.setup = None;
                server.session = Server::session(session);
            }
        }
    }

    /// Closes the servers of a session, except those of a request that sets it up again.
    pub(in crate::router) fn close_session(&self, session: &str, steps: &mut Steps) {
        self.close_servers(steps, |server| {
            server.setup.is_none() && server.session.as_deref() == Some(session)
        });
    }

    /// A request to set up a session is answered. Unless the agent answered, and without an error, the servers that
    /// it declared are unused.
    pub(in crate::router) fn end_setup(&mut self, number: ExchangeId, steps: &mut Steps) {
        self.servers.clients.remove(&number);
        self.close_servers(steps, |server| server.setup == Some(number));
    }

    fn close_servers(&self, steps: &mut Steps, of: impl Fn(&Server) -> bool) {
        let those = self.servers.all.iter().filter(|(_, server)| of(server));
        steps.extend(those.map(|(id, _)| Step::Mcp(Task::Close(*id))));
    }

    /// Ends a server: its callers are told, and nobody reaches it any more.
    pub(super) fn close_server(&mut self, core: &Core, id: ServerId, steps: &mut Steps) {
        let text = "acp-chain: the MCP server went with its session";
        let gone = Message::error(&Error::new(code::UNAVAILABLE, text));
        // Past all proxies: the bridge is about to close.
        for (link, entry) in &mut self.servers.links {
            if entry.server == id {
                for own in entry.give_up() {
                    self.bridge.send(*link, &gone, Some(own.as_str()));
                }
            }
        }
        let Some(server) = self.servers.all.get_mut(&id) else {
            return;
        };
        let (at, asked) = (server.at, std::mem::take(&mut server.asked));
        let questions: Vec<_> = server.questions.values().copied().collect();
        for ask in asked.into_keys() {
            self.answer_from_seat(core, ask, at, gone.clone(), steps);
        }
        let questions = questions.into_iter();
        steps.extend(questions.map(|number| Step::Withdraw(number, new_cancel())));
        let rest = [Task::CloseConnections(id), Task::Over(id), Task::Remove(id)];
        steps.extend(rest.map(Step::Mcp));
    }

    /// Closes the connections to a server that ends, so that its provider learns of it.
    pub(super) fn close_connections(&self, id: ServerId, steps: &mut Steps) {
        let connections = self.servers.connections_to(id).into_iter();
        steps.extend(connections.map(|connection| Step::Mcp(Task::Disconnect(connection))));
    }

    pub(super) fn remove_server(&mut self, id: ServerId) {
        self.servers.all.remove(&id);
        self.servers.alone.retain(|(server, _), _| *server != id);
        self.bridge.close(id);
    }
}
