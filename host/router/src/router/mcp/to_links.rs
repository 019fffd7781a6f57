//! Messages to the agent's MCP clients on the bridge, and clients that disconnect.

use serde_json::json;

use super::servers::{Connection, Link, LinkState};
use super::{Mcp, McpRouter};
use crate::router::steps::Task;
use acp_chain_channel::Peer;
use acp_chain_hops::exchange::{ExchangeId, Stage};
use acp_chain_hops::route::Via;
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::protocol::CANCELLED;
use acp_chain_mcp::wire::{self, Address};
use acp_chain_mcp::{LinkId, ServerId};
use acp_chain_rpc::{Error, Id, Kind, Message, code};

impl McpRouter<'_> {
    /// Sends a message to its client.
    pub fn send_to_link(&mut self, link: LinkId, routed: &Routed) {
        let carried = routed.message.carried();
        // Proxies on the way may have replaced the body by anything.
        let nothing = || routed.message.with_method("").with_body("null");
        let message = carried.unwrap_or_else(nothing);
        let Some(number) = routed.exchange else {
            return self.mcp.bridge.send(link, &message, None);
        };
        if !self.mcp.servers.links.contains_key(&link) {
            return self.answer_of_client(number, disconnected());
        }
        let id = number.to_string();
        self.mcp.bridge.send(link, &message, Some(&id));
        self.core.exchanges.stage(number, Stage::Link(link));
        let exchange = self.core.exchanges.get(number);
        if exchange.is_some_and(|exchange| exchange.cancel.is_some()) {
            self.mcp.cancel_at_link(link, number);
        }
    }

    /// Answers a request to a client.
    pub(super) fn answer_of_client(&mut self, number: ExchangeId, message: Message) {
        self.core.answer_of_end(number, Peer::Agent, message);
    }

    /// Handles the answer to a client's `mcp/connect`.
    pub fn link_connected(&mut self, link: LinkId, server: ServerId, answer: &Message) {
        // Proxies on the way may have replaced the answer by anything.
        let connection = Address::read(answer.body()).own_connection();
        let made = connection.and_then(|id| self.mcp.servers.connections.get_mut(&id));
        // A native proxy on the way makes a connection of its own, which becomes the client's.
        if let Some(made) = made
            && !self.core.programs.is_empty()
            && made.via == Via::Agent
            && made.server == server
        {
            made.via = Via::Link(link);
        }
        let entry = self.mcp.servers.links.get_mut(&link);
        let is_connecting = |entry: &&mut Link| matches!(entry.state, LinkState::Connecting(_));
        // The client may have disconnected.
        let Some(entry) = entry.filter(is_connecting) else {
            return self.drop_connections(link);
        };
        let own = connection.and_then(|id| self.mcp.servers.connections.get(&id));
        let own = own.filter(|own| own.via == Via::Link(link) && own.server == server);
        let connection = connection.filter(|_| own.is_some() && answer.kind() == Kind::Result);
        entry.state = connection.map_or(LinkState::Idle, LinkState::Connected);
        let waiting = std::mem::take(&mut entry.waiting).into_iter();
        let waiting = waiting.map(|(message, _)| message);
        if connection.is_some() {
            let send = |message| Task::SendConnected(link, message);
            return self.core.steps.extend(waiting.map(send));
        }
        self.drop_connections(link);
        let error = match answer.kind() {
            Kind::Error => answer.clone(),
            _ => disconnected(),
        };
        for id in waiting.filter_map(|message| message.id()) {
            self.mcp.bridge.send(link, &error, Some(id.as_str()));
        }
    }

    /// Cancels the requests of a client that has disconnected, and disconnects it from its server.
    pub(super) fn withdraw_all_of_link(&mut self, link: LinkId) {
        let Some(entry) = self.mcp.servers.links.get_mut(&link) else {
            return;
        };
        let (connects, connection) = match std::mem::take(&mut entry.state) {
            LinkState::Idle => (None, None),
            LinkState::Connecting(number) => (Some(number), None),
            LinkState::Connected(connection) => (None, Some(connection)),
        };
        let open = entry.open.drain().map(|(_, number)| number);
        self.core.steps.withdraw(open.chain(connects));
        self.core.steps.push(Task::Leave(link, connection));
    }

    /// Ends the remaining connections of a client that has disconnected, whatever the answer to its `mcp/disconnect`.
    pub fn drop_connections(&mut self, link: LinkId) {
        let own = |connection: &Connection| connection.via == Via::Link(link);
        self.mcp.servers.disconnect(own, &mut self.core.steps);
    }

    /// Handles a client that has disconnected: answers the open requests to it, then ends everything else of it.
    pub(super) fn lose_link(&mut self, link: LinkId) {
        for number in self.core.exchanges.at(Stage::Link(link)) {
            self.answer_of_client(number, disconnected());
        }
        self.core.steps.push(Task::LinkLost(link));
    }
}

impl Mcp {
    /// Sends a client the cancellation of a request to it.
    pub fn cancel_at_link(&mut self, link: LinkId, number: ExchangeId) {
        let params = json!({ "requestId": number }).to_string();
        self.bridge
            .send(link, &Message::notification(CANCELLED, &params), None);
    }

    /// Sends a client the answer to its request.
    pub fn answer_link(&mut self, link: LinkId, id: &Id, alone: bool, routed: &Routed) {
        let message = &routed.message;
        let entry = self.servers.links.get_mut(&link);
        let open = entry.filter(|entry| entry.open.get(id) == routed.exchange.as_ref());
        // The client may have cancelled the request, and reused its id.
        let Some(entry) = open else { return };
        entry.open.remove(id);
        let outcome = if alone && message.kind() == Kind::Result {
            wire::carried(message).unwrap_or_else(|| {
                let text = "acp-chain: the answer carries neither a result nor an error";
                Message::error(&Error::new(code::INTERNAL_ERROR, text))
            })
        } else {
            message.clone()
        };
        self.bridge.send(link, &outcome, Some(id.as_str()));
    }
}

fn disconnected() -> Message {
    let text = "acp-chain: the MCP client is disconnected";
    Message::error(&Error::new(code::INTERNAL_ERROR, text))
}
