//! MCP over ACP by way of native proxies: there a caller's message ends, and sets out again.

use super::MESSAGE;
use super::servers::Provider;
use crate::chain::exchange::{ExchangeId, Stage};
use crate::chain::route::{HopIndex, Target, Via};
use crate::chain::routed::Routed;
use crate::chain::router::Router;
use crate::channel::Peer;
use crate::mcp::wire::Wrapped;
use crate::mcp::{LinkId, declaration};
use crate::rpc::{Error, Message, code};

impl Router {
    /// Takes a message of MCP's from a native proxy: one that it passes on, or that it says as the
    /// provider of a server of its own.
    pub(in crate::chain::router) fn native_speaks_mcp(
        &mut self,
        index: HopIndex,
        mut routed: Routed,
    ) {
        let wrapped = Wrapped::read(routed.message.body());
        let (connection, server) = (wrapped.connection.as_deref(), wrapped.server.as_deref());
        let via = self.via_of(connection, server, wrapped.request.as_deref());
        if routed.toward == Peer::Agent {
            let provider = Provider::Proxy(index);
            let own = self.mcp.servers.of_provider(provider, &wrapped);
            let passes_on = own.is_none() && via.is_some() && *routed.method == *MESSAGE;
            if !passes_on {
                return self.hear_provider(provider, routed.exchange, &routed.message);
            }
            routed.via = via.unwrap_or_default();
            return self.travel(routed);
        }
        routed.via = via.unwrap_or_default();
        let target = self
            .seat_of(&routed.message)
            .and_then(|target| match target {
                Target::Seat(_, at) if at < routed.at => Ok(target),
                _ => {
                    let text = "acp-chain: the MCP server is none of the client's side";
                    Err(Error::new(code::INVALID_PARAMS, text))
                }
            });
        match (target, routed.exchange) {
            (Ok(target), _) => {
                routed.target = target;
                self.travel(routed);
            }
            (Err(error), Some(number)) => {
                self.answer_at(number, routed.at - 1, Message::error(&error), None);
            }
            (Err(error), None) => self.dropped(&error),
        }
    }

    /// By which way the caller speaks to whom a message belongs that a native proxy passes on.
    fn via_of(
        &self,
        connection: Option<&str>,
        server: Option<&str>,
        request: Option<&str>,
    ) -> Option<Via> {
        if let Some(connection) = connection {
            let open = self.mcp.servers.connections.get(&connection.parse().ok()?);
            return open.map(|open| open.via);
        }
        let known = server.and_then(declaration::server_of);
        let known = known.and_then(|id| self.mcp.servers.alone.get(&(id, request?.into())));
        if known.is_some() {
            return known.copied();
        }
        // It is on its way to the seat, under an id of the host's own making.
        let (link, _) = request?.split_once('-')?;
        let link: LinkId = link.parse().ok()?;
        let is_open = self.mcp.servers.links.contains_key(&link);
        Some(Via::Link(link)).filter(|_| is_open)
    }

    /// A client's connection that a native proxy has made for it is the client's own.
    pub(super) fn claim(&mut self, connection: u64, link: LinkId) {
        let has_natives = self.core.hops.iter().any(|hop| hop.native().is_some());
        let server = self.mcp.servers.links.get(&link).map(|link| link.server);
        if let Some(open) = self.mcp.servers.connections.get_mut(&connection)
            && has_natives
            && open.via == Via::Agent
            && Some(open.server) == server
        {
            open.via = Via::Link(link);
        }
    }

    /// What the client calls its servers stays known when a native proxy asks for a session in its
    /// turn.
    pub(super) fn keep_names(&mut self, index: HopIndex, number: ExchangeId) {
        let asked = self.mcp.servers.clients.iter().filter(|(setup, _)| {
            let exchange = self.core.exchanges.get(**setup);
            exchange.is_some_and(|exchange| exchange.stage == Stage::Native(index))
        });
        let names: Vec<_> = asked.flat_map(|(_, names)| names.clone()).collect();
        if !names.is_empty() && !self.keep_clients(number, names) {
            tracing::warn!("the names of the client's MCP servers are too long to be kept");
        }
    }
}
