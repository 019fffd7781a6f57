//! The MCP servers of all sessions, and who is talking to them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::exchange::ExchangeId;
use crate::route::{HopIndex, Route, Via};
use acp_chain_channel::limits::{Account, Charge, LONGEST_ID, MCP_CONNECTING, MCP_KEPT_OF_ALL};
use acp_chain_mcp::bridge::BridgeKind;
use acp_chain_mcp::seat::{Asked, Caller, ConnectionId, Question, Seat};
use acp_chain_mcp::wire::Wrapped;
use acp_chain_mcp::{Dialect, LinkId, ServerId};
use acp_chain_rpc::{Id, Message};

/// Who provides a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    Client,
    /// A proxy that answers `mcp/*` itself.
    Proxy(HopIndex),
    /// The host, with what a component has.
    Component(HopIndex),
}

/// One server, declared in one session.
pub struct Server {
    pub provider: Provider,
    /// How its provider speaks, by its declaration; the host speaks either.
    pub dialect: Option<Dialect>,
    /// The provider's own id.
    pub own_id: String,
    pub seat: Box<dyn Seat>,
    /// The way of the request that declared it, and where on it the provider is.
    pub route: Route,
    pub at: usize,
    /// The request that declared it, until that is answered.
    pub setup: Option<ExchangeId>,
    pub session: Option<Arc<str>>,
    /// The seat's own open requests.
    pub questions: HashMap<Question, ExchangeId>,
    /// What the seat is asked, and by whom.
    pub asked: HashMap<Asked, Option<Caller>>,
    /// What its seat keeps.
    pub charge: Charge,
}

impl Server {
    /// A session by the name that its servers know it by. One that is longer than any id is not kept.
    pub fn session(name: Option<&Arc<str>>) -> Option<Arc<str>> {
        name.filter(|name| name.len() <= LONGEST_ID).cloned()
    }

    /// The proxy that provides it.
    pub fn proxy(&self) -> Option<HopIndex> {
        match self.provider {
            Provider::Client => None,
            Provider::Proxy(index) | Provider::Component(index) => Some(index),
        }
    }
}

/// A connection to a server (`mcp/connect`).
#[derive(Debug)]
pub struct Connection {
    pub server: ServerId,
    /// Whose it is.
    pub via: Via,
    /// Its requests that have no answer yet.
    pub open: HashSet<Asked>,
}

/// How far an MCP client of the agent's is connected.
#[derive(Debug, Default)]
pub enum LinkState {
    /// It has said nothing yet that needs a connection.
    #[default]
    Idle,
    /// What it says waits for the connection, which this request is to make.
    Connecting(ExchangeId, Vec<(Message, Charge)>),
    Connected(ConnectionId),
}

/// An MCP client of the agent's that came by the bridge.
#[derive(Debug)]
pub struct Link {
    pub server: ServerId,
    /// Whether it is one request, which never needs a connection.
    pub stands_alone: bool,
    pub state: LinkState,
    /// Its requests that have no answer yet.
    pub open: HashMap<Id, ExchangeId>,
    /// How many of its requests stood alone.
    pub alone: u64,
}

impl Link {
    /// Whether an id belongs to something that it asked and that has no answer yet.
    pub fn has(&self, id: &Id) -> bool {
        let waits = match &self.state {
            LinkState::Connecting(_, waiting) => waiting
                .iter()
                .any(|(message, _)| message.id().as_ref() == Some(id)),
            LinkState::Idle | LinkState::Connected(_) => false,
        };
        waits || self.open.contains_key(id)
    }

    /// Takes back what it asked under an id: the request, if that is on its way.
    pub fn take(&mut self, id: &Id) -> Option<ExchangeId> {
        if let LinkState::Connecting(_, waiting) = &mut self.state {
            waiting.retain(|(message, _)| message.id().as_ref() != Some(id));
        }
        self.open.remove(id)
    }

    /// The ids of all that it asked and that has no answer yet; nothing of it is open any more.
    pub fn give_up(&mut self) -> Vec<Id> {
        let mut ids: Vec<_> = self.open.drain().map(|(id, _)| id).collect();
        if let LinkState::Connecting(_, waiting) = &mut self.state {
            ids.extend(waiting.drain(..).filter_map(|(message, _)| message.id()));
        }
        ids
    }
}

/// All of them.
pub struct Servers {
    last: u64,
    /// How agents that do not reach servers over ACP are to get to them.
    pub bridge: BridgeKind,
    pub all: BTreeMap<ServerId, Server>,
    pub connections: HashMap<ConnectionId, Connection>,
    /// Requests that stand alone, while they are open, and whose they are, as with a connection.
    pub alone: HashMap<(ServerId, Arc<str>), Via>,
    pub links: HashMap<LinkId, Link>,
    /// What waits for their connections.
    pub connecting: Account,
    /// What all seats keep.
    pub kept: Account,
    /// What the client calls its servers that are not reached over ACP, by the request that declares
    /// them, while that is open.
    pub clients: HashMap<ExchangeId, Vec<String>>,
    /// What the user was told of once.
    pub told: HashSet<String>,
}

impl Servers {
    /// None yet; what will be kept for them is a part of this account.
    pub fn new(kept: &Account) -> Self {
        Self {
            last: 0,
            bridge: BridgeKind::Stdio,
            all: BTreeMap::new(),
            connections: HashMap::new(),
            alone: HashMap::new(),
            links: HashMap::new(),
            connecting: kept.part(MCP_CONNECTING),
            kept: kept.part(MCP_KEPT_OF_ALL),
            clients: HashMap::new(),
            told: HashSet::new(),
        }
    }

    /// Whether a seat may be given so many bytes, all of which it may keep.
    pub fn have_room(&self, bytes: usize) -> bool {
        self.kept.charge(bytes).is_some()
    }

    /// A number that was never used, for a server or a connection.
    pub fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The next server of a provider behind this one.
    pub fn next_of(&self, provider: Provider, after: ServerId) -> Option<ServerId> {
        let others = self.all.range(after + 1..);
        let mut theirs = others.filter(|(_, server)| server.provider == provider);
        theirs.next().map(|(id, _)| *id)
    }

    /// The connection that a message names.
    pub fn connected(&self, wrapped: &Wrapped) -> Option<&Connection> {
        self.connections.get(&wrapped.own_connection()?)
    }

    /// The connections to a server.
    pub fn connections_to(&self, server: ServerId) -> Vec<ConnectionId> {
        self.connections_of(|connection| connection.server == server)
    }

    /// The connections of whoever speaks in this way.
    pub fn connections_by(&self, via: Via) -> Vec<ConnectionId> {
        self.connections_of(|connection| connection.via == via)
    }

    fn connections_of(&self, of: impl Fn(&Connection) -> bool) -> Vec<ConnectionId> {
        let all = self.connections.iter();
        let those = all.filter(|(_, connection)| of(connection));
        those.map(|(id, _)| *id).collect()
    }

    /// The server that a message of its provider is about.
    pub fn of_provider(&self, provider: Provider, said: &Wrapped) -> Option<ServerId> {
        let (connection, own_id) = (said.connection.as_deref(), said.server.as_deref());
        let request = said.request.as_deref();
        // A seat knows but one of them.
        let is_meant = |server: &Server| match (connection, own_id) {
            (Some(connection), _) => server.seat.has(Some(connection), None),
            (None, Some(id)) => server.own_id == id && server.seat.has(None, request),
            (None, None) => false,
        };
        let theirs = self.all.iter();
        let mut theirs = theirs.filter(|(_, server)| server.provider == provider);
        theirs
            .find(|(_, server)| is_meant(server))
            .map(|(id, _)| *id)
    }
}
