//! MCP over ACP through native proxies: at a native proxy, a caller's message ends, and the proxy sends it on as its
//! own.

use super::servers::Provider;
use super::{MESSAGE, Mcp, McpRouter, invalid};
use crate::losses::Loss;
use crate::route::{HopIndex, Route, Target, Via};
use crate::routed::Routed;
use crate::router::core::Core;
use crate::router::steps::Step;
use acp_chain_channel::Peer;
use acp_chain_mcp::wire::Address;
use acp_chain_mcp::{LinkId, declaration};
use acp_chain_rpc::Message;

impl McpRouter<'_> {
    /// Receives an MCP message from a native proxy: one that it passes on, or its own as the provider of a server.
    pub fn native_speaks(&mut self, index: HopIndex, mut routed: Routed) {
        let named = Address::read(routed.message.body());
        let via = self.mcp.via_of(&named);
        if routed.toward == Peer::Agent {
            let provider = Provider::Proxy(index);
            let own = self.mcp.servers.of_provider(provider, &named);
            let passes_on = own.is_none() && via.is_some() && *routed.method == *MESSAGE;
            if !passes_on {
                return self.receive_from_provider(provider, routed.exchange, &routed.message);
            }
            routed.via = via.unwrap_or_default();
            return self.core.steps.push(Step::Send(routed));
        }
        routed.via = via.unwrap_or_default();
        let error = match self.mcp.server_of(&routed.message) {
            Ok((id, server)) if server.at < routed.at => {
                routed.target = Target::Seat(id, server.at);
                return self.core.steps.push(Step::Send(routed));
            }
            Ok(_) => invalid("acp-chain: that MCP server is not on the client's side"),
            Err(error) => error,
        };
        let Some(number) = routed.exchange else {
            return self.core.lose_of_proxy(Loss::Unconnected, index, &error);
        };
        let error = Message::error(&error);
        self.core.steps.answer_at(number, routed.at - 1, error);
    }
}

impl Mcp {
    /// The route of an MCP message from a native proxy, and the proxy's position on it: the route of the server
    /// concerned, if it passes the proxy.
    pub fn way_of_native(&self, core: &Core, index: HopIndex, message: &Message) -> (Route, usize) {
        let named = Address::read(message.body());
        let way = self.servers.named(&named).and_then(|(_, server)| {
            let at = server.route.position(index)?;
            Some((server.route.clone(), at))
        });
        way.unwrap_or_else(|| core.default_route(index))
    }

    /// The caller of a message that a native proxy passes on.
    fn via_of(&self, named: &Address) -> Option<Via> {
        if named.connection.is_some() {
            return self.servers.connected(named).map(|open| open.via);
        }
        let request = named.request.as_deref();
        let known = named.server.as_deref().and_then(declaration::server_of);
        let known = known.and_then(|id| self.servers.all.get(&id)?.alone.get(request?));
        if known.is_some() {
            return known.copied();
        }
        // A request of a link that has not reached its seat yet has an id made by the host.
        let (link, _) = request?.split_once('-')?;
        let link: LinkId = link.parse().ok()?;
        let is_open = self.servers.links.contains_key(&link);
        is_open.then_some(Via::Link(link))
    }
}
