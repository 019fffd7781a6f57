//! Open setups, where sessions may have different routes: the routes of sessions that have yet to begin.
//!
//! A session that is set up by name has its route from the request on, as an agent replays its messages before it
//! answers. Everything that a setup adds here ends with it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::exchange::ExchangeId;
use crate::route::Route;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::Charge;

/// A session, by its name on one side.
pub(super) type Name = (Peer, Arc<str>);

#[derive(Default)]
pub(super) struct Setups {
    open: BTreeMap<ExchangeId, Setup>,
    /// The routes of the sessions that they name, the latest last. The names are untrusted, so the hash has its own
    /// secret.
    named: HashMap<Name, Vec<Early>, foldhash::quality::RandomState>,
}

/// A request that sets up a session.
struct Setup {
    route: Route,
    /// The request that it stands for: a native proxy repeats a request as its own.
    stands_for: Option<ExchangeId>,
    /// Whether another stands for it.
    is_stood_for: bool,
    /// The origin of its chain of requests that stand for each other, or itself.
    root: ExchangeId,
    /// The session's working directory.
    cwd: Option<String>,
    /// The names that it gives the session.
    names: Vec<Name>,
}

struct Early {
    setup: ExchangeId,
    route: Route,
    _charge: Charge,
}

impl Setups {
    /// A request sets up a session on this route; it may stand for another.
    pub fn open(
        &mut self,
        number: ExchangeId,
        stands_for: Option<ExchangeId>,
        route: Route,
        cwd: Option<String>,
    ) {
        let root = stands_for.map_or(number, |other| self.root(other));
        self.stand_for(stands_for, true);
        let setup = Setup {
            route,
            stands_for,
            is_stood_for: false,
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
        let Some(route) = self.open.get(&number).map(|setup| setup.route.clone()) else {
            return;
        };
        let Some(setup) = self.open.get_mut(&root) else {
            return;
        };
        if setup.names.contains(&name) {
            return;
        }
        setup.names.push(name.clone());
        self.named.entry(name).or_default().push(Early {
            setup: root,
            route,
            _charge: charge,
        });
    }

    /// The route of a session that is being set up under this name.
    pub fn route(&self, name: &Name) -> Option<&Route> {
        let early = self.named.get(name)?;
        early.last().map(|early| &early.route)
    }

    /// The common route of all open setups, if there is one.
    pub fn common(&self) -> Option<&Route> {
        let mut routes = self.open.values().map(|setup| &setup.route);
        let first = routes.next()?;
        routes.all(|route| route.is(first)).then_some(first)
    }

    /// The working directory of the session that a request sets up.
    pub fn cwd(&self, number: ExchangeId) -> Option<&str> {
        self.open.get(&number)?.cwd.as_deref()
    }

    /// Whether another stands for a request.
    pub fn is_stood_for(&self, number: ExchangeId) -> bool {
        self.open
            .get(&number)
            .is_some_and(|setup| setup.is_stood_for)
    }

    fn stand_for(&mut self, other: Option<ExchangeId>, stands: bool) {
        if let Some(other) = other.and_then(|other| self.open.get_mut(&other)) {
            other.is_stood_for = stands;
        }
    }

    /// A request has failed on one side, whose earlier names for the session apply again.
    pub fn fail(&mut self, number: ExchangeId, side: Peer) {
        let root = self.root(number);
        if let Some(setup) = self.open.get_mut(&root) {
            let gone = setup.names.extract_if(.., |(of, _)| *of == side);
            let gone: Vec<_> = gone.collect();
            self.forget(root, gone);
        }
    }

    /// A request is answered.
    pub fn settle(&mut self, number: ExchangeId) {
        if let Some(setup) = self.open.remove(&number) {
            self.stand_for(setup.stands_for, false);
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
