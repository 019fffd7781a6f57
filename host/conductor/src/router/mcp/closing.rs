//! Servers end with their sessions.
//!
//! A server ends in four steps, for each of which what came of the one before is over: whoever asked it is
//! told, its connections are closed, its seat says its last, and nothing is left of it.

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
    /// A session's servers are known by its name from now on. Those that it had before are gone, if it
    /// was loaded anew.
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

    /// Closes the servers of a session, but for those of a request that is to set it up again.
    pub(in crate::router) fn close_session(&self, session: &str, steps: &mut Steps) {
        self.close_servers(steps, |server| {
            server.setup.is_none() && server.session.as_deref() == Some(session)
        });
    }

    /// A request to set up a session has its answer. Where that was none of the agent's, or an error,
    /// the servers that it declared are nobody's.
    pub(in crate::router) fn setup_is_over(&mut self, number: ExchangeId, steps: &mut Steps) {
        self.servers.clients.remove(&number);
        self.close_servers(steps, |server| server.setup == Some(number));
    }

    fn close_servers(&self, steps: &mut Steps, of: impl Fn(&Server) -> bool) {
        let those = self.servers.all.iter().filter(|(_, server)| of(server));
        steps.extend(those.map(|(id, _)| Step::Mcp(Task::Close(*id))));
    }

    /// Ends a server: whoever asked it is told, and nobody gets to it any more.
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

    /// So that the provider of a server that ends hears of it.
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
