//! The routes of messages: the places that they pass, and where they end.

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

/// Where on a route something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// At one of the two ends.
    Edge(Peer),
    /// At a proxy.
    Hop(HopIndex),
}

impl Route {
    pub fn new(hops: impl IntoIterator<Item = HopIndex>) -> Self {
        Self(hops.into_iter().collect())
    }

    /// Whether it is this very route, and no other that passes the same proxies.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether nobody else has it: no session and nothing open uses this route.
    pub fn is_free(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// The position of an end.
    pub fn edge(&self, peer: Peer) -> usize {
        match peer {
            Peer::Client => 0,
            Peer::Agent => self.0.len() + 1,
        }
    }

    /// The position of a proxy; `None` if the route does not pass it.
    pub fn position(&self, hop: HopIndex) -> Option<usize> {
        self.0
            .iter()
            .position(|&other| other == hop)
            .map(|at| at + 1)
    }

    /// Who is at a position.
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
    /// At the end.
    #[default]
    End,
    /// At the seat of an MCP server, which is behind the part at this position.
    Seat(ServerId, usize),
    /// At this proxy, which provides the MCP server that it is for.
    Provider(HopIndex),
    /// At the component where it is, which is asked for its list of these.
    List(Offer),
    /// At the component where it is, which is called for the agent.
    Call,
}

/// Who speaks at the agent's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via {
    /// The agent itself.
    #[default]
    Agent,
    /// An MCP client of the agent.
    Link(LinkId),
}
