//! Servers end with their sessions.
//!
//! A server ends in four steps, each of which waits for the consequences of the previous one: the open requests to it
//! are answered, its connections are closed, its seat produces its last output, and the server is removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::servers::{Holder, Server};
use super::{Mcp, McpRouter};
use crate::router::steps::{Steps, Task};
use acp_chain_channel::limits::MCP_REPLACED;
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_hops::hop::Hop;
use acp_chain_hops::route::HopIndex;
use acp_chain_mcp::ServerId;
use acp_chain_mcp::protocol::code;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_rpc::{Error, Message, code as rpc_code};

impl McpRouter<'_> {
    /// Begins to end a server: answers the open requests to it with an error, and cancels its own.
    pub(super) fn close_server(&mut self, id: ServerId) {
        let text = "acp-chain: the MCP server was closed with its session";
        let closed = Message::error(&Error::new(code::UNAVAILABLE, text));
        // The errors bypass all proxies, as the bridge is about to close.
        for (link, entry) in &mut self.mcp.servers.links {
            if entry.server == id {
                for own in entry.give_up() {
                    self.mcp.bridge.send(*link, &closed, Some(own.as_str()));
                }
            }
        }
        let Some(server) = self.mcp.servers.all.get_mut(&id) else {
            return;
        };
        let asked = std::mem::take(&mut server.asked);
        let questions: Vec<_> = server.questions.values().copied().collect();
        for ask in asked.into_keys() {
            self.answer_from_seat(id, ask, closed.clone());
        }
        self.core.steps.withdraw(questions);
        let rest = [Task::DisconnectAll(id), Task::Over(id), Task::Remove(id)];
        self.core.steps.extend(rest);
    }
}

impl Mcp {
    /// Assigns the servers that a request declared to its session. Servers from an earlier setup of that session stay
    /// until the session ends: the agent may be connected to them.
    pub fn begin_session(
        &mut self,
        setup: ExchangeId,
        session: Option<&Arc<str>>,
        steps: &mut Steps,
    ) {
        let has_begun = |holder: &Holder| session.is_some_and(|session| holder.is_session(session));
        for server in self.servers.all.values_mut() {
            let mut holders = server.holders.iter();
            if holders.any(|holder| holder.setup == Some(setup)) {
                server.holders.retain(|holder| !has_begun(holder));
            }
            for holder in &mut server.holders {
                if has_begun(holder) {
                    holder.is_replaced = true;
                } else if holder.setup == Some(setup) {
                    holder.setup = None;
                    holder.session = Holder::name(session);
                }
            }
        }
        self.end_replaced(steps);
    }

    /// Closes the servers of a session that has ended, except those of other sessions, and those that an open request
    /// declares for it again.
    pub fn close_session(&mut self, session: &str, steps: &mut Steps) {
        self.turns.end(session);
        self.release(steps, |holder| holder.is_session(session));
    }

    /// Handles the answer to a request that sets up a session. If the agent did not accept the request, the servers
    /// that only the request declared end.
    pub fn end_setup(&mut self, number: ExchangeId, steps: &mut Steps) {
        self.servers.clients.remove(&number);
        self.release(steps, |holder| holder.setup == Some(number));
    }

    /// Removes these holders; a server without holders ends.
    fn release(&mut self, steps: &mut Steps, those: impl Fn(&Holder) -> bool) {
        for (id, server) in &mut self.servers.all {
            let held = server.holders.len();
            server.holders.retain(|holder| !those(holder));
            if server.holders.is_empty() && held > 0 {
                steps.push(Task::Close(*id));
            }
        }
    }

    /// Ends the servers that only earlier setups of sessions declared, except the newest [`MCP_REPLACED`].
    fn end_replaced(&mut self, steps: &mut Steps) {
        let all = self.servers.all.iter_mut().rev();
        let replaced = all.filter(|(_, server)| server.is_replaced());
        for (id, server) in replaced.skip(MCP_REPLACED) {
            server.holders.clear();
            steps.push(Task::Close(*id));
        }
    }

    /// The error with which the agent refuses to set up a session. If the request declared servers of proxies, the
    /// error names these proxies: some agents accept no servers, and the client may have declared none.
    pub fn refused(&self, hops: &[Hop], setup: ExchangeId, refusal: Message) -> Message {
        let is_meant = |code| matches!(code, rpc_code::INVALID_PARAMS | rpc_code::INVALID_REQUEST);
        let is_own = |holder: &Holder| holder.setup == Some(setup);
        let all = self.servers.all.values();
        let declared = all.filter(|server| server.holders.iter().any(is_own));
        let proxies: BTreeSet<_> = declared.filter_map(Server::proxy).collect();
        let error = serde_json::from_str::<Error>(refusal.body());
        let error = error.ok().filter(|error| is_meant(error.code));
        let Some(mut error) = error.filter(|_| !proxies.is_empty()) else {
            return refusal;
        };
        let name = |index: HopIndex| format!("`{}`", quote(hops[index].name(), MAX_QUOTE));
        let names: Vec<_> = proxies.into_iter().map(name).collect();
        error.message = format!(
            "{} (acp-chain: the request also declares MCP servers of these proxies: {}; some agents refuse a session \
             with any)",
            error.message,
            names.join(", ")
        );
        Message::error(&error)
    }
}
