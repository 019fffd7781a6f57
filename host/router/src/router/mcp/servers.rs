//! The MCP servers of all sessions, and their callers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::router::steps::{Steps, Task};
use acp_chain_channel::Peer;
use acp_chain_channel::limits::{Account, Charge, LONGEST_ID, MCP_CONNECTING, MCP_KEPT_OF_ALL};
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_hops::route::{HopIndex, Place, Route, Via};
use acp_chain_mcp::seat::{Caller, Seat};
use acp_chain_mcp::wire::Address;
use acp_chain_mcp::{ConnectionId, Dialect, IncomingId, LinkId, OutgoingId, ServerId, declaration};
use acp_chain_rpc::{Id, Message};

/// The provider of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    Client,
    /// A proxy that answers `mcp/*` itself.
    Proxy(HopIndex),
    /// The host, for a component.
    Component(HopIndex),
}

impl Provider {
    /// The proxy, if it is one.
    pub fn proxy(self) -> Option<HopIndex> {
        match self {
            Self::Client => None,
            Self::Proxy(index) | Self::Component(index) => Some(index),
        }
    }

    pub fn place(self) -> Place {
        self.proxy().map_or(Place::Edge(Peer::Client), Place::Hop)
    }

    /// The position on a route; `None` if the route does not pass the proxy.
    pub fn position(self, route: &Route) -> Option<usize> {
        match self.proxy() {
            None => Some(route.edge(Peer::Client)),
            Some(index) => route.position(index),
        }
    }
}

/// An MCP server. Its declaration stays the same as long as the server has holders.
pub struct Server {
    pub provider: Provider,
    /// The provider's dialect, by its declaration; the host speaks both.
    pub dialect: Option<Dialect>,
    /// The provider's own id of the server.
    pub own_id: String,
    pub seat: Box<dyn Seat>,
    /// The route of the request that declared it, and the provider's position on it.
    pub route: Route,
    pub at: usize,
    /// The sessions that have the server, and the requests that set up sessions with it. The server ends with its last
    /// holder.
    pub holders: Vec<Holder>,
    /// The seat's open questions.
    pub questions: HashMap<OutgoingId, ExchangeId>,
    /// The open requests to the seat, and their callers.
    pub asked: HashMap<IncomingId, Option<Caller>>,
    /// The senders of the open stateless requests, by `requestId`.
    pub alone: HashMap<Arc<str>, Via>,
    /// Whether the server has ever received a request, or the user knows that it cannot be declared to the agent.
    pub is_settled: bool,
}

/// A session that has a server, or a request that sets up a session with it.
#[derive(Debug, PartialEq, Eq)]
pub struct Holder {
    /// The request that declares the server, until it is answered.
    pub setup: Option<ExchangeId>,
    /// The agent's name for the session; `None` if the request does not name it.
    pub session: Option<Arc<str>>,
    /// Whether the session was later set up again without the server.
    pub is_replaced: bool,
}

impl Holder {
    /// The holder for a request that declares a server, in this session.
    pub fn of_setup(setup: Option<ExchangeId>, session: Option<&Arc<str>>) -> Self {
        Self {
            setup,
            session: Self::name(session),
            is_replaced: false,
        }
    }

    /// The name of a session, as kept for its servers. Names longer than [`LONGEST_ID`] are not kept.
    pub fn name(session: Option<&Arc<str>>) -> Option<Arc<str>> {
        session.filter(|name| name.len() <= LONGEST_ID).cloned()
    }

    /// Whether the holder is this session, and the session is set up.
    pub fn is_session(&self, session: &str) -> bool {
        self.setup.is_none() && self.session.as_deref() == Some(session)
    }
}

impl Server {
    /// Whether this session has the server, or a request that names the session declares it.
    pub fn is_of(&self, session: &str) -> bool {
        let mut holders = self.holders.iter();
        holders.any(|holder| holder.session.as_deref() == Some(session))
    }

    /// Whether all sessions that have the server were set up again without it.
    pub fn is_replaced(&self) -> bool {
        let mut holders = self.holders.iter();
        !self.holders.is_empty() && holders.all(|holder| holder.is_replaced)
    }

    /// The proxy that provides the server, if it is a proxy's.
    pub fn proxy(&self) -> Option<HopIndex> {
        self.provider.proxy()
    }
}

/// A connection to a server (`mcp/connect`).
#[derive(Debug)]
pub struct Connection {
    pub server: ServerId,
    /// The caller.
    pub via: Via,
}

/// The state of the connection of an MCP client of the agent.
#[derive(Clone, Copy, Debug, Default)]
pub enum LinkState {
    /// The client has sent nothing yet that needs a connection.
    #[default]
    Idle,
    /// The client's messages wait for the connection that this request makes.
    Connecting(ExchangeId),
    Connected(ConnectionId),
}

/// An MCP client of the agent on the bridge.
#[derive(Debug, Default)]
pub struct Link {
    pub server: ServerId,
    /// Whether the link is a single stateless request, which never needs a connection.
    pub stands_alone: bool,
    pub state: LinkState,
    /// The client's messages that wait for its connection.
    pub waiting: Vec<(Message, Charge)>,
    /// The client's unanswered requests that were sent.
    pub open: HashMap<Id, ExchangeId>,
    /// How many of the client's requests were stateless.
    pub alone: u64,
}

impl Link {
    /// Removes the client's request with this id; returns its number if it was sent.
    pub fn take(&mut self, id: &Id) -> Option<ExchangeId> {
        self.waiting
            .retain(|(message, _)| message.id().as_ref() != Some(id));
        self.open.remove(id)
    }

    /// Removes all unanswered requests of the client, and returns their ids.
    pub fn give_up(&mut self) -> Vec<Id> {
        let open = self.open.drain().map(|(id, _)| id);
        let waiting = self.waiting.drain(..);
        open.chain(waiting.filter_map(|(message, _)| message.id()))
            .collect()
    }
}

/// All servers, connections and links.
pub struct Servers {
    last: u64,
    pub all: BTreeMap<ServerId, Server>,
    pub connections: HashMap<ConnectionId, Connection>,
    pub links: HashMap<LinkId, Link>,
    /// The account of messages that wait for connections.
    pub connecting: Account,
    /// The account of all seats.
    pub kept: Account,
    /// The client's names of its servers that are not reached over ACP, by the open request that declares them.
    pub clients: HashMap<ExchangeId, Vec<String>>,
}

impl Servers {
    /// No servers; their accounts are parts of `kept`.
    pub fn new(kept: &Account) -> Self {
        Self {
            last: 0,
            all: BTreeMap::new(),
            connections: HashMap::new(),
            links: HashMap::new(),
            connecting: kept.part(MCP_CONNECTING),
            kept: kept.part(MCP_KEPT_OF_ALL),
            clients: HashMap::new(),
        }
    }

    /// Whether there is room for a message of this many bytes, all of which a seat may keep.
    pub fn have_room(&self, bytes: usize) -> bool {
        self.kept.charge(bytes).is_some()
    }

    /// An unused number, for a server or a connection.
    pub fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The servers of a provider.
    pub fn of(&self, provider: Provider) -> impl Iterator<Item = ServerId> {
        let theirs = self.all.iter();
        let theirs = theirs.filter(move |(_, server)| server.provider == provider);
        theirs.map(|(id, _)| *id)
    }

    /// The connection that a message names.
    pub fn connected(&self, named: &Address) -> Option<&Connection> {
        self.connections.get(&named.own_connection()?)
    }

    /// Ends these connections.
    pub fn disconnect(&self, those: impl Fn(&Connection) -> bool, steps: &mut Steps) {
        let all = self.connections.iter();
        let those = all.filter(|(_, connection)| those(connection));
        steps.extend(those.map(|(id, _)| Task::Disconnect(*id)));
    }

    /// The server that a message names, or the server of the connection that it names.
    pub fn named(&self, named: &Address) -> Option<(ServerId, &Server)> {
        let id = match named.connection {
            Some(_) => self.connected(named)?.server,
            None => declaration::server_of(named.server.as_deref()?)?,
        };
        Some((id, self.all.get(&id)?))
    }

    /// The server that its provider's message is about.
    pub fn of_provider(&self, provider: Provider, named: &Address) -> Option<ServerId> {
        let (connection, own_id) = (named.connection.as_deref(), named.server.as_deref());
        let request = named.request.as_deref();
        // A seat matches by the connection or by the request, not both.
        let is_meant = |server: &Server| match (connection, own_id) {
            (Some(connection), _) => server.seat.has(Some(connection), None),
            (None, Some(id)) => server.own_id == id && server.seat.has(None, request),
            (None, None) => false,
        };
        let mut all = self.all.iter();
        let meant = all.find(|(_, server)| server.provider == provider && is_meant(server));
        meant.map(|(id, _)| *id)
    }
}
