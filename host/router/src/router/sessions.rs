//! The sessions that have begun, with their routes, and how the connection began.
//!
//! All sessions share one route, unless a session was given another when it was set up. A session may have a different
//! name on each side, so its route is looked up by the sender's name for it.
//!
//! If projects are looked up, sessions are distinguished from the first one on, as the agent's messages in an unknown
//! session belong to an open setup.

use std::collections::HashMap;
use std::sync::Arc;

use super::setups::{Name, Setups};
use crate::sign_in::with_variable;
use acp_chain_acp::{Life, UPDATE};
use acp_chain_channel::Peer;
use acp_chain_channel::limits::{Account, Charge, OPEN_KEPT};
use acp_chain_hops::exchange::ExchangeId;
use acp_chain_hops::hop::Hop;
use acp_chain_hops::native_peer::Beginning;
use acp_chain_hops::route::Route;
use acp_chain_hops::routed::Routed;
use acp_chain_mcp::capabilities::with_acp;
use acp_chain_rpc::{Kind, Message, member, text_member};

/// The cost of a map entry.
const ENTRY: usize = 128;

pub(super) struct Sessions {
    /// The route of messages without a session, or in a session without a route of its own.
    pub main: Route,
    /// Whether sessions may have different routes, and must be distinguished.
    pub are_apart: bool,
    /// The sessions with a route of their own; all of them, if they are distinguished. Their names are untrusted, so
    /// the hash has its own secret.
    own: HashMap<Name, OpenSession, foldhash::quality::RandomState>,
    /// The requests that set up sessions, if sessions are distinguished.
    pub setups: Setups,
    /// How the connection began at the place where proxies of projects join.
    pub at_join: Beginning,
    /// The account of sessions.
    kept: Account,
}

/// A session that has begun.
struct OpenSession {
    route: Route,
    /// The session with which this one ends, if the agent announced this one as its child.
    parent: Option<Arc<str>>,
    /// Its working directory, as its setup names it.
    cwd: Option<Arc<str>>,
    _charge: Charge,
}

impl Sessions {
    /// No sessions, in a chain of this many proxies; their account is a part of `kept`.
    pub fn new(hops: usize, kept: &Account) -> Self {
        Self {
            main: Route::new(0..hops),
            are_apart: false,
            own: HashMap::default(),
            setups: Setups::default(),
            at_join: Beginning::default(),
            kept: kept.part(OPEN_KEPT),
        }
    }

    /// The route to one end for messages in a session with this name on this side.
    #[inline]
    pub fn route(&self, side: Peer, toward: Peer, session: Option<&Arc<str>>) -> Route {
        match session {
            Some(session) if self.are_apart => self.own_route(side, toward, session),
            _ => self.main.clone(),
        }
    }

    /// The route of a proxy's message to one side, with that side's name for the session. If only the other side knows
    /// the session, its setup ended between the two.
    pub fn route_from_within(&self, to: Peer, session: Option<&Arc<str>>) -> Route {
        match session {
            Some(session) if self.are_apart && self.known(to, session).is_none() => {
                let other = self.known(to.opposite(), session);
                other.map_or_else(|| self.own_route(to, to, session), Route::clone)
            }
            _ => self.route(to, to, session),
        }
    }

    #[cold]
    fn own_route(&self, side: Peer, toward: Peer, session: &Arc<str>) -> Route {
        // The agent may send messages in a new session before its answer names it.
        let new = || self.setups.common().filter(|_| toward == Peer::Client);
        let route = self.known(side, session).or_else(new);
        route.unwrap_or(&self.main).clone()
    }

    /// The route of a session with this name that has begun, or is being set up.
    fn known(&self, side: Peer, session: &Arc<str>) -> Option<&Route> {
        let name = (side, session.clone());
        let begun = || self.own.get(&name).map(|begun| &begun.route);
        self.setups.route(&name).or_else(begun)
    }

    /// The working directory of the session with this name on this side, as its setup names it.
    pub fn folder(&self, side: Peer, session: &Arc<str>) -> Option<Arc<str>> {
        let name = (side, session.clone());
        let begun = || self.own.get(&name)?.cwd.clone();
        self.setups.folder(&name).or_else(begun)
    }

    /// Whether the agent has a session of this name, or is setting one up.
    pub fn has(&self, session: &Arc<str>) -> bool {
        self.known(Peer::Agent, session).is_some()
    }

    /// Whether the agent is setting up a session of this name for a request that is meant.
    pub fn is_being_set_up(
        &self,
        session: &Arc<str>,
        is_meant: impl Fn(ExchangeId) -> bool,
    ) -> bool {
        let name = (Peer::Agent, session.clone());
        self.setups.any(&name, is_meant)
    }

    /// The sessions that have begun, without children, by the agent's names.
    pub fn begun(&self) -> impl Iterator<Item = &Arc<str>> {
        let begun = self.own.iter();
        let of_agent =
            begun.filter(|((side, _), begun)| *side == Peer::Agent && begun.parent.is_none());
        of_agent.map(|((_, session), _)| session)
    }

    /// The session with which this one ends, by the agent's names: itself, unless it is a child.
    pub fn root<'s>(&'s self, session: &'s Arc<str>) -> &'s Arc<str> {
        let begun = self.own.get(&(Peer::Agent, session.clone()));
        begun
            .and_then(|begun| begun.parent.as_ref())
            .unwrap_or(session)
    }

    /// Notes that a session begins, with the route and the working directory of the request that set it up. Returns
    /// whether there is room for it.
    pub fn begin(
        &mut self,
        side: Peer,
        session: &Arc<str>,
        route: &Route,
        cwd: Option<Arc<str>>,
    ) -> bool {
        if route.is(&self.main) && !self.are_apart {
            return true;
        }
        self.are_apart = true;
        // Children from an earlier setup had the earlier route.
        self.forget_children(session, |child| !child.route.is(route));
        // A setup need not repeat the folder.
        let cwd = cwd.or_else(|| self.folder(side, session));
        self.keep(side, session, route, cwd, None)
    }

    fn keep(
        &mut self,
        side: Peer,
        session: &Arc<str>,
        route: &Route,
        cwd: Option<Arc<str>>,
        parent: Option<Arc<str>>,
    ) -> bool {
        let names = session.len() + cwd.as_ref().map_or(0, |cwd| cwd.len());
        let Some(charge) = self.kept.charge(ENTRY + names) else {
            return false;
        };
        let begun = OpenSession {
            route: route.clone(),
            parent,
            cwd,
            _charge: charge,
        };
        self.own.insert((side, session.clone()), begun);
        true
    }

    /// Notes a child session, if a notification of the agent announces one: the child takes the route of its session,
    /// and ends with it (`SubagentUpdate`).
    pub fn adopt(&mut self, message: &Message, route: &Route) {
        let Some((parent, child)) = announced(message) else {
            return;
        };
        if self.known(Peer::Agent, &parent).is_none() {
            return;
        }
        // A child of a child ends with the outermost session.
        let of = self.own.get(&(Peer::Agent, parent.clone()));
        let cwd = self.folder(Peer::Agent, &parent);
        let root = of.and_then(|begun| begun.parent.clone()).unwrap_or(parent);
        for side in [Peer::Agent, Peer::Client] {
            let known = self.own.get(&(side, child.clone()));
            if known.is_none_or(|begun| begun.parent.is_some()) {
                // A child for which there is no room takes the main route, like any unknown session.
                self.keep(side, &child, route, cwd.clone(), Some(root.clone()));
            }
        }
    }

    /// Notes a side's name for a session that a request is setting up.
    pub fn name(&mut self, number: ExchangeId, side: Peer, session: &Arc<str>) {
        let charge = self.kept.charge_anyway(ENTRY + session.len());
        self.setups.name(number, (side, session.clone()), charge);
    }

    /// Notes how the connection begins at the place where proxies of projects join, which is after the position `join`.
    pub fn note_beginning(&mut self, routed: &Routed, join: usize) {
        match (routed.toward, routed.message.kind()) {
            (Peer::Agent, Kind::Request) if routed.at <= join => {
                self.at_join.initialize = Some(routed.message.clone());
            }
            (Peer::Client, Kind::Result) if routed.at > join => {
                self.at_join.answer = Some(routed.message.clone());
            }
            _ => {}
        }
    }

    /// Notes that a session was not set up: unless it had begun before, its children are forgotten.
    pub fn fail(&mut self, session: &Arc<str>) {
        if !self.own.contains_key(&(Peer::Agent, session.clone())) {
            self.forget_children(session, |_| true);
        }
    }

    /// Forgets the children of a session for which `are_meant` returns true.
    fn forget_children(&mut self, session: &Arc<str>, are_meant: impl Fn(&OpenSession) -> bool) {
        self.own
            .retain(|_, begun| begun.parent.as_ref() != Some(session) || !are_meant(begun));
    }

    /// Notes that a session ends on one side. Its children end with it on the agent's side.
    pub fn end(&mut self, side: Peer, session: &Arc<str>) {
        if !self.own.is_empty() {
            self.own.remove(&(side, session.clone()));
        }
        if side == Peer::Agent {
            self.forget_children(session, |_| true);
        }
    }
}

/// The session of a notification that announces a child, and the child.
fn announced(message: &Message) -> Option<(Arc<str>, Arc<str>)> {
    if &**message.method() != UPDATE || message.update() != Some("subagent_update") {
        return None;
    }
    let child = text_member(member(message.body(), "update")?, "sessionId")?;
    Some((message.session()?.clone(), child.into()))
}

/// The answer to `initialize`, adapted by the host: it declares MCP over ACP, which the host provides whether the parts
/// behind support it or not; and if there are proxies, terminals for signing in get their environment variable.
pub(super) fn shown(of: Life, toward: Peer, hops: &[Hop], message: Message) -> Message {
    if of != Life::Connects || toward != Peer::Client || message.kind() != Kind::Result {
        return message;
    }
    let message = match with_acp(message.body()) {
        Some(result) => message.with_body(&result),
        None => message,
    };
    match with_variable(message.body()).filter(|_| !hops.is_empty()) {
        Some(result) => message.with_body(&result),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, OPEN_KEPT, Peer, Route, Sessions};

    #[test]
    fn a_session_without_a_route_of_its_own_takes_the_main_route() {
        let mut sessions = Sessions::new(2, &Account::new(OPEN_KEPT));
        let main = sessions.route(Peer::Client, Peer::Agent, None);
        assert!(sessions.begin(Peer::Client, &"s".into(), &main, None));
        assert!(
            sessions
                .route(Peer::Client, Peer::Agent, Some(&"s".into()))
                .is(&main)
        );
        assert!(sessions.own.is_empty());
    }

    #[test]
    fn a_session_has_its_route_under_each_sides_name_until_it_ends() {
        let mut sessions = Sessions::new(2, &Account::new(OPEN_KEPT));
        let (own, name) = (Route::new([1]), "s".into());
        assert!(sessions.begin(Peer::Client, &name, &own, None));
        assert!(
            sessions
                .route(Peer::Client, Peer::Agent, Some(&name))
                .is(&own)
        );
        assert!(
            !sessions
                .route(Peer::Agent, Peer::Client, Some(&name))
                .is(&own)
        );
        assert!(
            !sessions
                .route(Peer::Client, Peer::Agent, Some(&"t".into()))
                .is(&own)
        );
        sessions.end(Peer::Client, &name);
        assert!(
            !sessions
                .route(Peer::Client, Peer::Agent, Some(&name))
                .is(&own)
        );
        assert_eq!(sessions.kept.kept(), 0);
    }

    #[test]
    fn sessions_with_routes_of_their_own_are_bounded() {
        let mut sessions = Sessions::new(2, &Account::new(1000));
        let own = Route::new([1]);
        let fits =
            (0..10).filter(|n| sessions.begin(Peer::Client, &n.to_string().into(), &own, None));
        assert_eq!(fits.count(), 7);
    }
}
