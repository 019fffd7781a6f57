//! The router: a state machine that takes messages in at the ends, carries them through the
//! proxies, and puts them out at the other end. It does no input or output of its own.

mod calls;
mod cancel;
mod intake;
mod travel;
mod verdict;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use futures_util::stream::FuturesUnordered;

pub use calls::Finished;

use self::calls::Busy;
use super::edge::Edge;
use super::exchange::Exchange;
use super::hop::{Hop, Proxy};
use super::parcel::{ExchangeId, HopIndex, Route};
use crate::channel::Peer;
use crate::rpc::Outbox;
use crate::trace::Trace;

/// Carries messages between a client and an agent through proxies.
pub struct Router {
    client: Edge,
    agent: Edge,
    hops: Vec<Hop>,
    route: Route,
    exchanges: HashMap<ExchangeId, Exchange>,
    next_exchange: ExchangeId,
    /// Proxies with something in their inbox.
    ready: VecDeque<HopIndex>,
    busy: FuturesUnordered<Busy>,
    trace: Option<Trace>,
}

impl Router {
    /// A router with these proxies, the client's neighbour first.
    #[must_use]
    pub fn new(proxies: Vec<Proxy>, trace: Option<Trace>) -> Self {
        let hops: Vec<_> = proxies.into_iter().map(Hop::new).collect();
        Self {
            client: Edge::default(),
            agent: Edge::default(),
            route: Route::new(0..hops.len()),
            hops,
            exchanges: HashMap::new(),
            next_exchange: 1,
            ready: VecDeque::new(),
            busy: FuturesUnordered::new(),
            trace,
        }
    }

    /// What waits to be written to one end.
    pub fn outbox(&mut self, peer: Peer) -> &mut Outbox {
        &mut self.edge(peer).outbox
    }

    /// How many bytes wait for proxies that are busy.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.hops.iter().map(|hop| hop.waiting).sum()
    }

    /// Whether a request of this end still has no answer.
    #[must_use]
    pub fn is_owed(&self, peer: Peer) -> bool {
        !match peer {
            Peer::Client => &self.client,
            Peer::Agent => &self.agent,
        }
        .open
        .is_empty()
    }

    fn edge(&mut self, peer: Peer) -> &mut Edge {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
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
