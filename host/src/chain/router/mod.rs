//! The router: a state machine that takes messages in at the ends, carries them through the
//! proxies, and puts them out at the other end. It does no input or output of its own.

mod calls;
mod cancel;
mod failure;
mod guards;
mod intake;
mod mcp;
mod native;
mod notice;
mod parent;
mod scope;
mod sides;
mod trace;
mod travel;
mod turns;
mod verdict;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

pub use calls::{Finished, RUN};

use self::calls::Busy;
use self::mcp::Servers;
use self::notice::Notices;
use super::edge::Edge;
use super::exchange::{Exchange, ExchangeId};
use super::hop::{Hop, Member};
use super::native_peer::Order;
use super::route::{HopIndex, Route};
use super::timers::Timers;
use crate::channel::Peer;
use crate::limits::{Account, FLOOD, KEPT};
use crate::mcp::door::{Door, Transport};
use crate::native::Dialect;
use crate::native::Supervisor;
use crate::rpc::Outbox;
use crate::trace::Trace;

/// Carries messages between a client and an agent through proxies.
pub struct Router {
    client: Edge,
    agent: Edge,
    /// How the parent speaks of a chain that is itself a proxy.
    parent: Option<Dialect>,
    hops: Vec<Hop>,
    /// Those of them that are programs.
    natives: Vec<HopIndex>,
    route: Route,
    exchanges: HashMap<ExchangeId, Exchange>,
    next_exchange: ExchangeId,
    /// Proxies with something in their inbox.
    ready: VecDeque<HopIndex>,
    busy: FuturesUnordered<Busy>,
    /// Proxies that are to be ended.
    due_to_end: Vec<HopIndex>,
    /// What is to be done to the programs of native proxies.
    orders: Vec<Order>,
    /// The MCP servers of the sessions.
    servers: Servers,
    /// By which an agent without MCP over ACP reaches them.
    door: Door,
    /// All that is kept: what others have are parts of it.
    kept: Account,
    timers: Timers,
    now: Instant,
    /// What the user is to be told in the next turn.
    notices: Notices,
    /// How many notices there were.
    told: u64,
    /// The version of ACP that was agreed on with the client.
    version: u64,
    /// Where the user finds more.
    log: Option<PathBuf>,
    trace: Option<Trace>,
}

impl Router {
    /// A router with these proxies, the client's neighbour first.
    #[must_use]
    pub fn new<P: Into<Member>>(proxies: Vec<P>, trace: Option<Trace>) -> Self {
        let members = proxies.into_iter().map(P::into);
        let kept = Account::new(KEPT);
        let hops: Vec<_> = members.map(|member| Hop::new(member, &kept)).collect();
        let natives = (0..hops.len()).filter(|index| hops[*index].native().is_some());
        Self {
            client: Edge::new(&kept),
            agent: Edge::new(&kept),
            parent: None,
            route: Route::new(0..hops.len()),
            natives: natives.collect(),
            hops,
            exchanges: HashMap::new(),
            next_exchange: 1,
            ready: VecDeque::new(),
            busy: FuturesUnordered::new(),
            due_to_end: Vec::new(),
            orders: Vec::new(),
            servers: Servers::new(&kept),
            door: Door::new(PathBuf::new(), &kept),
            timers: Timers::default(),
            now: Instant::now(),
            notices: Notices::new(&kept),
            kept,
            told: 0,
            version: 1,
            log: None,
            trace,
        }
    }

    /// Lets the agent in by a door, with this program as the way to it, whose sockets the supervisor
    /// opens if there is one. By this transport, if the agent can choose.
    pub fn set_door(
        &mut self,
        shim: PathBuf,
        supervisor: Option<Supervisor>,
        transport: Transport,
    ) {
        self.door = Door::new(shim, &self.kept).supervised(supervisor);
        self.servers.bridge = transport;
    }

    /// Names the log in what the user is told.
    pub fn set_log(&mut self, log: Option<PathBuf>) {
        self.log = log;
    }

    /// What waits to be written to one end.
    pub fn outbox(&mut self, peer: Peer) -> &mut Outbox {
        match peer {
            Peer::Client => &mut self.client.outbox,
            Peer::Agent => &mut self.agent.outbox,
        }
    }

    /// How many bytes wait for proxies that are busy.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.hops.iter().map(Hop::backlog).sum()
    }

    /// How many of them wait for this proxy.
    #[must_use]
    pub fn waiting_for(&self, index: HopIndex) -> usize {
        self.hops.get(index).map_or(0, Hop::backlog)
    }

    /// Whether so much waits for an end, or a native proxy, that no proxy may add to it.
    fn is_flooded(&self) -> bool {
        self.client.outbox.len() >= FLOOD
            || self.agent.outbox.len() >= FLOOD
            || self.most_for_natives(None) >= FLOOD
    }

    /// Whether a request of this end still has no answer.
    #[must_use]
    pub fn is_owed(&self, peer: Peer) -> bool {
        let edge = match peer {
            Peer::Client => &self.client,
            Peer::Agent => &self.agent,
        };
        !edge.open.is_empty()
    }

    /// By which an end is reached: the parent's serves both.
    fn edge(&mut self, peer: Peer) -> &mut Edge {
        match peer {
            Peer::Agent if self.parent.is_none() => &mut self.agent,
            _ => &mut self.client,
        }
    }

    /// The way of messages of a session. There is one chain for all of them.
    fn route(&self, _session: Option<&Arc<str>>) -> Route {
        self.route.clone()
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Router")
            .field(
                "hops",
                &self.hops.iter().map(|hop| &hop.name).collect::<Vec<_>>(),
            )
            .field("exchanges", &self.exchanges.len())
            .finish_non_exhaustive()
    }
}
