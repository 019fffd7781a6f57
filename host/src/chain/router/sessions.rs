//! What has begun in a connection: the connection itself, and sessions, with the ways that they go.
//!
//! All go one way as long as nobody gives a session another when it is set up. A session may have another
//! name on each side, so its way is found by the name that it has on the side which says it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::chain::exchange::Boundary;
use crate::chain::route::Route;
use crate::channel::Peer;
use crate::limits::{Account, Charge, OPEN_KEPT};
use crate::mcp::capabilities::with_acp;
use crate::rpc::{Kind, Message};

/// What the map takes for a session.
const ENTRY: usize = 128;

/// A session, as one side calls it.
type Name = (Peer, Arc<str>);

pub(super) struct Sessions {
    /// The way of all that names no session, or one without a way of its own.
    main: Route,
    /// The sessions with a way of their own. Their names come from outside, so the hash has a secret of its
    /// own.
    own: HashMap<Name, (Route, Charge), foldhash::quality::RandomState>,
    /// What began the connection, for each proxy.
    pub begun: Vec<Beginning>,
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
            own: HashMap::default(),
            begun: vec![Beginning::default(); hops],
            kept: kept.part(OPEN_KEPT),
        }
    }

    /// The way of what is said in a session that this side calls so.
    #[inline]
    pub fn route(&self, side: Peer, session: Option<&Arc<str>>) -> Route {
        match session {
            Some(session) if !self.own.is_empty() => self.own_route(side, session),
            _ => self.main.clone(),
        }
    }

    #[cold]
    fn own_route(&self, side: Peer, session: &Arc<str>) -> Route {
        let own = self.own.get(&(side, session.clone()));
        own.map_or(&self.main, |(route, _)| route).clone()
    }

    /// A session begins, and goes the way of the request that set it up. Says whether there is room for it.
    pub fn begin(&mut self, side: Peer, session: &Arc<str>, route: &Route) -> bool {
        if route.is(&self.main) {
            self.end(side, session);
            return true;
        }
        let Some(charge) = self.kept.charge(ENTRY + session.len()) else {
            return false;
        };
        self.own
            .insert((side, session.clone()), (route.clone(), charge));
        true
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
        let main = sessions.route(Peer::Client, None);
        assert!(sessions.begin(Peer::Client, &"s".into(), &main));
        assert!(sessions.route(Peer::Client, Some(&"s".into())).is(&main));
        assert!(sessions.own.is_empty());
    }

    #[test]
    fn a_session_goes_its_own_way_by_the_name_that_a_side_has_for_it_until_it_ends() {
        let mut sessions = Sessions::new(2, &Account::new(OPEN_KEPT));
        let (own, name) = (Route::new([1]), "s".into());
        assert!(sessions.begin(Peer::Client, &name, &own));
        assert!(sessions.route(Peer::Client, Some(&name)).is(&own));
        assert!(!sessions.route(Peer::Agent, Some(&name)).is(&own));
        assert!(!sessions.route(Peer::Client, Some(&"t".into())).is(&own));
        sessions.end(Peer::Client, &name);
        assert!(!sessions.route(Peer::Client, Some(&name)).is(&own));
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
