//! What has begun in a connection: the connection itself, and sessions, with the ways that they go.
//!
//! All go one way as long as nobody gives a session another when it is set up. A session may have another
//! name on each side, so its way is found by the name that it has on the side which says it.
//!
//! Where projects have proxies, sessions are told apart from the first on, for what the agent says in one that
//! nobody knows yet belongs to a setup that is open.

use std::collections::HashMap;
use std::sync::Arc;

use super::setups::{Name, Setups};
use crate::exchange::{Boundary, ExchangeId};
use crate::route::Route;
use crate::routed::Routed;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::{Account, Charge, OPEN_KEPT};
use acp_chain_mcp::capabilities::with_acp;
use acp_chain_rpc::{Kind, Message};

/// What the map takes for a session.
const ENTRY: usize = 128;

pub(super) struct Sessions {
    /// The way of all that names no session, or one without a way of its own.
    main: Route,
    /// Whether sessions have to be told apart.
    apart: bool,
    /// The sessions with a way of their own; if they are told apart, all. Their names come from outside, so the hash has a secret of its
    /// own.
    own: HashMap<Name, (Route, Charge), foldhash::quality::RandomState>,
    /// The requests that set up others, if they are told apart.
    pub setups: Setups,
    /// What began the connection, for each proxy.
    pub begun: Vec<Beginning>,
    /// What began it at the place where proxies of projects join.
    pub at_join: Beginning,
    /// What is kept of sessions.
    kept: Account,
}

/// How the connection began at a proxy.
#[derive(Clone, Default)]
pub(super) struct Beginning {
    /// What the client said first, as it came there.
    pub initialize: Option<Message>,
    /// What the side behind answered.
    pub answer: Option<Message>,
}

impl Sessions {
    /// No sessions, in a chain of so many proxies; what will be kept is a part of this account.
    pub fn new(hops: usize, kept: &Account) -> Self {
        Self {
            main: Route::new(0..hops),
            apart: false,
            own: HashMap::default(),
            setups: Setups::default(),
            begun: vec![Beginning::default(); hops],
            at_join: Beginning::default(),
            kept: kept.part(OPEN_KEPT),
        }
    }

    /// From here on sessions are told apart.
    pub fn tell_apart(&mut self) {
        self.apart = true;
    }

    /// Whether sessions may go different ways.
    pub fn are_apart(&self) -> bool {
        self.apart
    }

    /// The way of all that names no session.
    pub fn main(&self) -> &Route {
        &self.main
    }

    /// The way to one end of what is said in a session that this side calls so.
    #[inline]
    pub fn route(&self, side: Peer, toward: Peer, session: Option<&Arc<str>>) -> Route {
        match session {
            Some(session) if self.apart => self.own_route(side, toward, session),
            _ => self.main.clone(),
        }
    }

    /// The same of what a proxy says to one side. Where only the other one knows the session, whatever set it
    /// up has ended between the two.
    pub fn route_from_within(&self, to: Peer, session: Option<&Arc<str>>) -> Route {
        match session {
            Some(session) if self.apart && self.known(to, session).is_none() => {
                let other = self.known(to.opposite(), session);
                other.map_or_else(|| self.own_route(to, to, session), Route::clone)
            }
            _ => self.route(to, to, session),
        }
    }

    #[cold]
    fn own_route(&self, side: Peer, toward: Peer, session: &Arc<str>) -> Route {
        // The agent may speak in a new session before it says in an answer what that is called.
        let new = || self.setups.common().filter(|_| toward == Peer::Client);
        let route = self.known(side, session).or_else(new);
        route.unwrap_or(&self.main).clone()
    }

    /// The way of a session that has begun, or is set up, under this name.
    fn known(&self, side: Peer, session: &Arc<str>) -> Option<&Route> {
        let name = (side, session.clone());
        let begun = || self.own.get(&name).map(|(route, _)| route);
        self.setups.route(&name).or_else(begun)
    }

    /// A session begins, and goes the way of the request that set it up. Says whether there is room for it.
    pub fn begin(&mut self, side: Peer, session: &Arc<str>, route: &Route) -> bool {
        if route.is(&self.main) && !self.apart {
            return true;
        }
        let Some(charge) = self.kept.charge(ENTRY + session.len()) else {
            return false;
        };
        self.apart = true;
        self.own
            .insert((side, session.clone()), (route.clone(), charge));
        true
    }

    /// While a request sets up a session, a side calls that so.
    pub fn name(&mut self, number: ExchangeId, side: Peer, session: &Arc<str>) {
        let charge = self.kept.charge_anyway(ENTRY + session.len());
        self.setups.name(number, (side, session.clone()), charge);
    }

    /// What begins the connection leaves a place; proxies of projects will join behind this position.
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

    pub fn end(&mut self, side: Peer, session: &Arc<str>) {
        if !self.own.is_empty() {
            self.own.remove(&(side, session.clone()));
        }
    }
}

/// What whoever made it shows of the parts behind it in the answer to `initialize`: servers are
/// reached over ACP past all of them, whether they know or not.
pub(super) fn shown(of: Boundary, toward: Peer, message: Message) -> Message {
    if of != Boundary::Connection || toward != Peer::Client || message.kind() != Kind::Result {
        return message;
    }
    match with_acp(message.body()) {
        Some(result) => message.with_body(&result),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, OPEN_KEPT, Peer, Route, Sessions};

    #[test]
    fn a_session_without_a_way_of_its_own_goes_that_of_all() {
        let mut sessions = Sessions::new(2, &Account::new(OPEN_KEPT));
        let main = sessions.route(Peer::Client, Peer::Agent, None);
        assert!(sessions.begin(Peer::Client, &"s".into(), &main));
        assert!(
            sessions
                .route(Peer::Client, Peer::Agent, Some(&"s".into()))
                .is(&main)
        );
        assert!(sessions.own.is_empty());
    }

    #[test]
    fn a_session_goes_its_own_way_by_the_name_that_a_side_has_for_it_until_it_ends() {
        let mut sessions = Sessions::new(2, &Account::new(OPEN_KEPT));
        let (own, name) = (Route::new([1]), "s".into());
        assert!(sessions.begin(Peer::Client, &name, &own));
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
    fn sessions_with_ways_of_their_own_are_kept_within_a_bound() {
        let mut sessions = Sessions::new(2, &Account::new(1000));
        let own = Route::new([1]);
        let fits = (0..10).filter(|n| sessions.begin(Peer::Client, &n.to_string().into(), &own));
        assert_eq!(fits.count(), 7);
    }
}
