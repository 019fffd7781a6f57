//! The proxies of projects in the chain beside the user's own, and the routes through them.
//!
//! A project's proxies come before the user's first guard. They leave when their route is no longer used; then their
//! places are free.

use std::collections::HashMap;
use std::sync::Arc;

use acp_chain_channel::limits::PROJECT_PROXIES;
use acp_chain_hops::hop::Hop;
use acp_chain_hops::route::{HopIndex, Route};

pub(super) struct JoinedProxies {
    /// How many proxies are the user's own.
    own: usize,
    /// How many of the user's own proxies come before proxies that join.
    pub front: usize,
    /// By key. Keys are untrusted, so the hash has its own secret.
    chains: HashMap<Arc<str>, Chain, foldhash::quality::RandomState>,
    /// Places of proxies that have left.
    free: Vec<HopIndex>,
}

/// The proxies of a project.
struct Chain {
    route: Route,
    hops: Vec<HopIndex>,
}

impl JoinedProxies {
    /// No projects, beside these proxies of the user.
    pub fn new(own: &[Hop]) -> Self {
        let guard = own.iter().position(Hop::is_guard);
        Self {
            own: own.len(),
            front: guard.unwrap_or(own.len()),
            chains: HashMap::default(),
            free: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Whether there is room for this many more proxies.
    pub fn have_room(&self, more: usize) -> bool {
        let all: usize = self.chains.values().map(|chain| chain.hops.len()).sum();
        all + more <= PROJECT_PROXIES
    }

    /// The route of the sessions with this key.
    pub fn route(&self, key: &str) -> Option<&Route> {
        self.chains.get(key).map(|chain| &chain.route)
    }

    /// The route of a proxy that is not the user's own.
    pub fn route_of(&self, index: HopIndex) -> Option<&Route> {
        let mut chains = self.chains.values();
        let chain = chains.find(|chain| index >= self.own && chain.hops.contains(&index));
        chain.map(|chain| &chain.route)
    }

    /// Takes a free place, if there is one.
    pub fn take_place(&mut self) -> Option<HopIndex> {
        self.free.pop()
    }

    /// Adds the proxies of a project, which are at these places, in this order.
    pub fn insert(&mut self, key: Arc<str>, hops: Vec<HopIndex>) {
        let (front, rest) = (0..self.front, self.front..self.own);
        let route = Route::new(front.chain(hops.iter().copied()).chain(rest));
        self.chains.insert(key, Chain { route, hops });
    }

    /// Removes the chains whose route is unused and whose proxies are at rest. Returns their places, which become free.
    pub fn take_free(&mut self, is_at_rest: impl Fn(HopIndex) -> bool) -> Vec<HopIndex> {
        let free = self.chains.extract_if(|_, chain| {
            chain.route.is_free() && chain.hops.iter().all(|index| is_at_rest(*index))
        });
        let left: Vec<_> = free.flat_map(|(_, chain)| chain.hops).collect();
        self.free.extend(&left);
        left
    }

    /// Where to insert a joining program, so that all programs are in the order of the chain.
    pub fn among(&self, natives: &[HopIndex]) -> usize {
        let rest = self.front..self.own;
        let behind = natives.iter().position(|index| rest.contains(index));
        behind.unwrap_or(natives.len())
    }
}
