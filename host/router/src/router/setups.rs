//! Open setups, where sessions may have different routes: the routes of sessions that are being set up.
//!
//! A session that is set up by name has its route from the request on, as an agent replays its messages before it
//! answers. Everything that a setup adds here is removed with it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use acp_chain_channel::Peer;
use acp_chain_channel::limits::Charge;
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_hops::route::Route;

/// A session, by its name on one side.
pub(super) type Name = (Peer, Arc<str>);

#[derive(Default)]
pub(super) struct Setups {
    open: BTreeMap<ExchangeId, Setup>,
    /// The routes of the sessions that open setups name, the latest last. The names are untrusted, so the hash has its
    /// own secret.
    named: HashMap<Name, Vec<EarlySession>, foldhash::quality::RandomState>,
}

/// A request that sets up a session.
struct Setup {
    route: Route,
    /// The request that this one repeats: a native proxy sends a request on as its own.
    repeats: Option<ExchangeId>,
    /// The first request of the chain of repetitions; the request itself if it repeats none.
    root: ExchangeId,
    /// The session's working directory.
    cwd: Option<Arc<str>>,
    /// The names of the session.
    names: Vec<Name>,
}

struct EarlySession {
    setup: ExchangeId,
    route: Route,
    cwd: Option<Arc<str>>,
    _charge: Charge,
}

impl Setups {
    /// Notes a request that sets up a session on this route, and the request that it repeats.
    pub fn open(
        &mut self,
        number: ExchangeId,
        repeats: Option<ExchangeId>,
        route: Route,
        cwd: Option<Arc<str>>,
    ) {
        let root = repeats.map_or(number, |other| self.root(other));
        let setup = Setup {
            route,
            repeats,
            root,
            cwd,
            names: Vec::new(),
        };
        self.open.insert(number, setup);
    }

    fn root(&self, number: ExchangeId) -> ExchangeId {
        self.open.get(&number).map_or(number, |setup| setup.root)
    }

    /// Notes a side's name for the session of a request, until the client's own request is answered.
    pub fn name(&mut self, number: ExchangeId, name: Name, charge: Charge) {
        let root = self.root(number);
        let Some(Setup { route, cwd, .. }) = self.open.get(&number) else {
            return;
        };
        let (route, cwd) = (route.clone(), cwd.clone());
        let Some(setup) = self.open.get_mut(&root) else {
            return;
        };
        if setup.names.contains(&name) {
            return;
        }
        setup.names.push(name.clone());
        self.named.entry(name).or_default().push(EarlySession {
            setup: root,
            route,
            cwd,
            _charge: charge,
        });
    }

    /// The route of a session that is being set up under this name.
    pub fn route(&self, name: &Name) -> Option<&Route> {
        let early = self.named.get(name)?;
        early.last().map(|early| &early.route)
    }

    /// Whether a request that is meant sets up a session under this name: of repeated ones, the first.
    pub fn any(&self, name: &Name, is_meant: impl Fn(ExchangeId) -> bool) -> bool {
        let early = self.named.get(name);
        early.is_some_and(|all| all.iter().any(|early| is_meant(early.setup)))
    }

    /// The working directory of a session that is being set up under this name.
    pub fn folder(&self, name: &Name) -> Option<Arc<str>> {
        self.named.get(name)?.last()?.cwd.clone()
    }

    /// The common route of all open setups, if there is one.
    pub fn common(&self) -> Option<&Route> {
        let mut routes = self.open.values().map(|setup| &setup.route);
        let first = routes.next()?;
        routes.all(|route| route.is(first)).then_some(first)
    }

    /// The working directory of the session that a request sets up.
    pub fn cwd(&self, number: ExchangeId) -> Option<&Arc<str>> {
        self.open.get(&number)?.cwd.as_ref()
    }

    /// Notes the working directory with which a request reaches the agent: a proxy may have changed it.
    pub fn note_cwd(&mut self, number: ExchangeId, cwd: Option<Arc<str>>) {
        if let Some(setup) = self.open.get_mut(&number) {
            setup.cwd = cwd;
        }
    }

    /// The requests that others repeat.
    pub fn repeated(&self) -> HashSet<ExchangeId> {
        let repeated = self.open.values().filter_map(|setup| setup.repeats);
        repeated.collect()
    }

    /// Notes that a request has failed on one side: that side's earlier names for the session apply again.
    pub fn fail(&mut self, number: ExchangeId, side: Peer) {
        let root = self.root(number);
        if let Some(setup) = self.open.get_mut(&root) {
            let failed = setup.names.extract_if(.., |(of, _)| *of == side);
            let failed: Vec<_> = failed.collect();
            self.forget(root, failed);
        }
    }

    /// Removes a setup, whose request is answered.
    pub fn settle(&mut self, number: ExchangeId) {
        if let Some(setup) = self.open.remove(&number) {
            self.forget(number, setup.names);
        }
    }

    fn forget(&mut self, root: ExchangeId, names: Vec<Name>) {
        for name in names {
            let Some(early) = self.named.get_mut(&name) else {
                continue;
            };
            early.retain(|early| early.setup != root);
            if early.is_empty() {
                self.named.remove(&name);
            }
        }
    }
}
