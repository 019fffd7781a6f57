//! Messages of the agent's MCP clients on the bridge: they become `mcp/*` messages from the agent, and vice versa.
//!
//! Requests of a client of MCP 2026-07-28 are stateless, and are sent without a connection. Any other client has a
//! connection from its first message on; so has a client over stdio whose server requires connections. Over HTTP each
//! stateless request is a link of its own: if each had a connection, a provider that starts a program per connection
//! would start one per call.

use std::time::Duration;

use super::declare::whose;
use super::servers::{Link, LinkState};
use super::{CONNECT, DISCONNECT, MCP_MESSAGE, Mcp, McpRouter};
use crate::clock::Timer;
use crate::router::exchanges::admit;
use crate::router::steps::{Answer, Step};
use acp_chain_bridge::Arrival;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::Charge;
use acp_chain_hops::exchange::{ExchangeId, Origin, Stage};
use acp_chain_hops::route::{Target, Via};
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::param_headers::ParamHeaders;
use acp_chain_mcp::protocol::{self, CANCELLED, Version};
use acp_chain_mcp::wire::{self, McpMessage};
use acp_chain_mcp::{ConnectionId, Dialect, LinkId, ServerId, declaration};
use acp_chain_rpc::{Error, Id, Kind, Message, code, member};

/// The maximum number of open requests of one client.
const OPEN: usize = 1024;

/// The maximum number of messages that wait for a client's connection.
const WAITING: usize = 256;

/// How long a server may take to connect: its program may have to be downloaded first.
const CONNECTION: Duration = Duration::from_mins(1);

impl McpRouter<'_> {
    /// Handles an arrival on the bridge.
    pub fn receive_from_bridge(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Opened {
                link,
                server,
                stands_alone,
            } => {
                let new = Link {
                    server,
                    stands_alone,
                    ..Link::default()
                };
                self.mcp.servers.links.insert(link, new);
            }
            Arrival::Message {
                link,
                message,
                mirrored,
            } => match message.kind() {
                Kind::Request => self.receive_request(link, message, &mirrored),
                Kind::Notification => self.receive_notification(link, message),
                Kind::Result | Kind::Error => self.receive_answer(link, message),
            },
            Arrival::Closed { link } => self.lose_link(link),
        }
    }

    fn receive_request(&mut self, link: LinkId, message: Message, mirrored: &ParamHeaders) {
        // A request has an id.
        let id = message.id().unwrap_or_else(Id::null);
        if let Err(error) = self.mcp.check_headers(link, &message, mirrored) {
            return self.mcp.refuse(link, &id, &error);
        }
        if self.mcp.stands_alone(link, &message) {
            return self.request_alone(link, id, &message);
        }
        self.send_when_connected(link, message);
    }

    fn request_alone(&mut self, link: LinkId, id: Id, message: &Message) {
        let Some(entry) = self.mcp.servers.links.get_mut(&link) else {
            return;
        };
        entry.alone += 1;
        let (server, request) = (entry.server, format!("{link}-{}", entry.alone));
        let server = declaration::chain_id(server);
        let params = wire::alone(&server, &request, &McpMessage::of(message.clone()));
        let number = self.request_from_client(link, id, &params);
        if let Some(exchange) = number.and_then(|number| self.core.exchanges.get_mut(number)) {
            // Every answer, also a proxy's, carries the outcome.
            exchange.stands_alone = true;
        }
    }

    /// Sends a client's message on its connection. Until there is one, the message waits; the first message makes it.
    fn send_when_connected(&mut self, link: LinkId, message: Message) {
        let Some(entry) = self.mcp.servers.links.get(&link) else {
            return;
        };
        let (server, state) = (entry.server, entry.state);
        if matches!(state, LinkState::Connected(_)) {
            return self.send_connected(link, &message);
        }
        let charge = self.mcp.servers.connecting.charge(message.cost());
        let Some(charge) = charge.filter(|_| entry.waiting.len() < WAITING) else {
            let why = "an MCP client sent too much before it was connected, and is disconnected";
            self.lose_of_client(&why);
            return self.mcp.bridge.hang_up(link);
        };
        if matches!(state, LinkState::Idle) && !self.connect(link, server) {
            return;
        }
        if let Some(entry) = self.mcp.servers.links.get_mut(&link) {
            entry.waiting.push((message, charge));
        }
    }

    /// Requests a connection for a client. Returns whether the request was sent.
    fn connect(&mut self, link: LinkId, server: ServerId) -> bool {
        let names = ["acpId", "serverId"];
        let params = wire::connect(&names, &declaration::chain_id(server), None);
        let origin = Origin::Connecting(link, server);
        let connect = Message::request(CONNECT, &params);
        let number = self.request_from(link, origin, None, connect);
        if let Some((entry, number)) = self.mcp.servers.links.get_mut(&link).zip(number) {
            let timer = Timer::Connect(number);
            self.core.clock.set_after(CONNECTION, timer);
            entry.state = LinkState::Connecting(number);
        }
        number.is_some()
    }

    /// If a server has not accepted a connection in time, the MCP client gets an error, and the user is notified once.
    pub fn connects_late(&mut self, number: ExchangeId) {
        let exchange = self.core.exchanges.get(number);
        let Some(Origin::Connecting(link, server)) = exchange.map(|exchange| &exchange.origin)
        else {
            return;
        };
        let server = self.mcp.servers.all.get(server);
        let Some(server) = server.filter(|_| self.mcp.servers.links.contains_key(link)) else {
            return;
        };
        let whose = whose(self.core, server.provider);
        let seconds = CONNECTION.as_secs();
        let text = format!("an MCP server of {whose} accepted no connection within {seconds} s");
        let error = Error::new(code::INTERNAL_ERROR, format!("acp-chain: {text}"));
        let answer = Answer::new(number, server.at, Message::error(&error));
        self.core
            .tell_once(&text, &format!("{text}; the agent continues without it."));
        self.core.steps.withdraw([number]);
        self.core.steps.push(Step::Answer(answer));
    }

    /// Sends a client's own request. Returns its number, if it was opened.
    fn request_from_client(&mut self, link: LinkId, id: Id, params: &str) -> Option<ExchangeId> {
        let open = &self.mcp.servers.links.get(&link)?.open;
        let message = Message::request(MCP_MESSAGE, params);
        let admitted = if open.len() < OPEN {
            admit(&id, &message, open, &self.core.agent.kept)
        } else {
            let text = format!("{OPEN} requests are open already");
            Err(Error::new(code::INVALID_REQUEST, text))
        };
        let charge = match admitted {
            Ok(charge) => charge,
            Err(mut error) => {
                error.message.insert_str(0, "acp-chain: ");
                self.mcp.refuse(link, &id, &error);
                return None;
            }
        };
        let origin = Origin::Link(link, id.clone());
        let number = self.request_from(link, origin, Some(charge), message)?;
        let entry = self.mcp.servers.links.get_mut(&link)?;
        entry.open.insert(id, number);
        Some(number)
    }

    /// Sends a request of a client, or of the host for the client. Returns its number, if it was opened.
    fn request_from(
        &mut self,
        link: LinkId,
        origin: Origin,
        charge: Option<Charge>,
        message: Message,
    ) -> Option<ExchangeId> {
        let Some(mut routed) = self.mcp.to_server(link, message) else {
            // The server ended with its session; the bridge is about to report that.
            self.mcp.bridge.hang_up(link);
            return None;
        };
        let number = self.core.exchanges.open_routed(origin, charge, &mut routed);
        self.core.steps.push(Step::Send(routed));
        Some(number)
    }

    fn receive_notification(&mut self, link: LinkId, message: Message) {
        if &**message.method() == CANCELLED {
            let id = member(message.body(), "requestId").and_then(Id::parse);
            let entry = self.mcp.servers.links.get_mut(&link);
            // A cancelled request gets no answer.
            let number = entry.and_then(|entry| entry.take(&id?));
            return self.core.steps.withdraw(number);
        }
        let entry = self.mcp.servers.links.get(&link);
        if entry.is_some_and(|entry| entry.stands_alone) {
            let why = "a stateless MCP client sent a notification beside its one request";
            return self.lose_of_client(&why);
        }
        self.send_when_connected(link, message);
    }

    /// Sends a client's request or notification on its connection.
    pub(super) fn send_connected(&mut self, link: LinkId, message: &Message) {
        let entry = self.mcp.servers.links.get(&link);
        let Some(LinkState::Connected(connection)) = entry.map(|entry| &entry.state) else {
            return;
        };
        let params = wire::on_own(*connection, &McpMessage::of(message.clone()));
        if let Some(id) = message.id() {
            self.request_from_client(link, id, &params);
        } else {
            let message = Message::notification(MCP_MESSAGE, &params);
            self.core
                .steps
                .extend(self.mcp.to_server(link, message).map(Step::Send));
        }
    }

    /// Removes a client. Its `mcp/disconnect` is sent through the chain as the agent would send it, since proxies may
    /// subscribe to it.
    pub(super) fn leave(&mut self, link: LinkId, connection: Option<ConnectionId>) {
        if let Some(connection) = connection {
            let params = wire::disconnect(&wire::own(connection), None);
            let disconnect = Message::request(DISCONNECT, &params);
            self.request_from(link, Origin::Leaving(link), None, disconnect);
        }
        self.mcp.servers.links.remove(&link);
    }

    fn receive_answer(&mut self, link: LinkId, message: Message) {
        let number = message.id().and_then(|id| id.answered());
        let exchange = number.and_then(|number| self.core.exchanges.get(number));
        match (number, exchange.map(|exchange| exchange.stage)) {
            (Some(number), Some(Stage::Link(asked))) if asked == link => {
                self.answer_of_client(number, message);
            }
            _ => {
                let why = "an MCP client answers no open request";
                self.lose_of_client(&why);
            }
        }
    }
}

impl Mcp {
    /// Rejects a client's request with this error.
    fn refuse(&mut self, link: LinkId, id: &Id, error: &Error) {
        let error = Message::error(error);
        self.bridge.send(link, &error, Some(id.as_str()));
    }

    /// Checks that the HTTP headers match the call as the client sent it; proxies may change it later.
    fn check_headers(
        &self,
        link: LinkId,
        message: &Message,
        mirrored: &ParamHeaders,
    ) -> Result<(), Error> {
        let links = &self.servers.links;
        let link = links.get(&link).filter(|link| link.stands_alone);
        let server = link.and_then(|link| self.servers.all.get(&link.server));
        match server.filter(|_| &**message.method() == "tools/call") {
            Some(server) => server.seat.check_headers(message.body(), mirrored),
            None => Ok(()),
        }
    }

    /// Whether a request is sent without a connection. On an existing connection, the provider decides whether it
    /// supports the version.
    fn stands_alone(&self, link: LinkId, message: &Message) -> bool {
        let Some(link) = self.servers.links.get(&link) else {
            return false;
        };
        if link.stands_alone {
            return true;
        }
        let server = self.servers.all.get(&link.server);
        let dialect = server.and_then(|server| server.dialect);
        let version = protocol::meta(message.body(), protocol::key::VERSION);
        // Some clients name the negotiated version in every request after `initialize`.
        dialect != Some(Dialect::Connected)
            && version.is_some_and(|version| {
                matches!(link.state, LinkState::Idle)
                    || version == format!("{:?}", Version::Stateless.as_str())
            })
    }

    /// A client's message to its server, which starts at the agent's end; `None` if the server has ended.
    fn to_server(&self, link: LinkId, message: Message) -> Option<Routed> {
        let id = self.servers.links.get(&link)?.server;
        let server = self.servers.all.get(&id)?;
        let (route, at) = (server.route.clone(), server.route.edge(Peer::Agent));
        let mut routed = Routed::new(message, route, at, Peer::Client);
        routed.target = Target::Seat(id, server.at);
        routed.via = Via::Link(link);
        Some(routed)
    }
}
