//! The routes of messages: the proxies that a message passes, and where it ends.

use std::sync::Arc;

use acp_chain_channel::{Offer, Peer};
use acp_chain_mcp::{LinkId, ServerId};

/// The index of a proxy in the router.
pub type HopIndex = usize;

/// The proxies between client and agent that a message passes, in order.
///
/// A position on a route is 0 for the client, then one for each proxy, and the last for the
/// agent. Sessions may have different routes, which share proxies.
#[derive(Clone, Debug)]
pub struct Route(Arc<[HopIndex]>);

/// A place on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// At one of the two ends.
    Edge(Peer),
    /// At a proxy.
    Hop(HopIndex),
}

impl Route {
    #[inline]
    pub fn new(hops: impl IntoIterator<Item = HopIndex>) -> Self {
        Self(hops.into_iter().collect())
    }

    /// Whether both are one route, and not just two that pass the same proxies.
    #[inline]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether this is the only copy: no session and nothing open uses the route.
    #[inline]
    pub fn is_free(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// The position of an end.
    #[inline]
    pub fn edge(&self, peer: Peer) -> usize {
        match peer {
            Peer::Client => 0,
            Peer::Agent => self.0.len() + 1,
        }
    }

    /// The position of a proxy; `None` if the route does not pass it.
    #[inline]
    pub fn position(&self, hop: HopIndex) -> Option<usize> {
        self.0
            .iter()
            .position(|&other| other == hop)
            .map(|at| at + 1)
    }

    /// The place at a position.
    #[inline]
    pub fn place(&self, position: usize) -> Place {
        match position {
            0 => Place::Edge(Peer::Client),
            at if at > self.0.len() => Place::Edge(Peer::Agent),
            at => Place::Hop(self.0[at - 1]),
        }
    }
}

/// Where a message ends, if not at the end of its route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// At the end of the route.
    #[default]
    End,
    /// At the seat of an MCP server, which is behind the part at this position.
    Seat(ServerId, usize),
    /// At this proxy, which provides the MCP server that the message is for.
    Provider(HopIndex),
    /// At the component where the message is, which lists its offers of this kind.
    List(Offer),
    /// At the component where the message is, which is called for the agent.
    Call,
}

/// Which peer at the agent's end sends or receives a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// The agent itself.
    #[default]
    Agent,
    /// An MCP client of the agent.
    Link(LinkId),
}
