//! Subscriptions of proxies.

use std::fmt;

use acp_chain_acp::HOOK;

use crate::{Actions, Cover, Grant, Kind, Kinds, Pattern, Peer, Power};

/// The messages that a proxy is called with; all others bypass it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Their methods; for a response, the request's method.
    pub method: Pattern,
    /// The side that sends them; `None`: both sides.
    pub sender: Option<Peer>,
    /// Their kinds.
    pub kinds: Kinds,
    /// Whether the body comes with the message.
    pub with_body: bool,
}

impl Subscription {
    /// Whether this subscription covers a message.
    pub fn covers(&self, kind: Kind, sender: Peer, method: &str) -> bool {
        self.kinds.has(kind)
            && self.sender.is_none_or(|wanted| wanted == sender)
            && self.method.covers(method)
    }

    /// Whether a power covers any of the messages. With bodies, the power must allow reading.
    pub fn is_met_by(&self, power: &Power) -> bool {
        self.is_met_by_those(power, self.least_actions(), |_| true)
    }

    /// Like [`is_met_by`](Self::is_met_by), but ignores covers that are [aside](Cover::is_aside).
    pub fn is_met_in_full_by(&self, power: &Power) -> bool {
        self.is_met_by_those(power, self.least_actions(), |cover| !cover.is_aside)
    }

    /// Whether a power covers any of the messages, with any action.
    pub fn is_touched_by(&self, power: &Power) -> bool {
        self.is_met_by_those(power, Actions::TOUCH, |_| true)
    }

    /// The actions of which a power must allow one.
    fn least_actions(&self) -> Actions {
        if self.with_body {
            Actions::READ
        } else {
            Actions::TOUCH
        }
    }

    fn is_met_by_those(
        &self,
        power: &Power,
        actions: Actions,
        of: impl Fn(&Cover) -> bool,
    ) -> bool {
        // A subscription to responses is not met by a power for errors only.
        let covers = power
            .covers
            .iter()
            .filter(|cover| cover.kinds != Kinds::ERROR && of(cover));
        let mut covers = covers.filter(|cover| cover.actions.intersects(actions));
        covers.any(|cover| cover.meets(&self.method, self.sender, self.kinds))
    }

    /// Whether a grant covers any of the messages.
    pub fn is_met(&self, grant: &Grant) -> bool {
        // The agent's hooks are never granted by name.
        let named = grant
            .methods()
            .iter()
            .filter(|_| !self.method.name().starts_with(HOOK));
        let mut named = named.filter(|named| named.actions.intersects(Actions::TOUCH));
        grant.powers().iter().any(|power| self.is_met_by(power))
            || named.any(|named| named.methods.meets(&self.method))
    }

    /// Whether any power covers any of the messages.
    pub fn is_known(&self) -> bool {
        Power::all().any(|power| self.is_touched_by(power))
    }

    /// The most similar method of the protocol, if the subscription is to an unknown method.
    pub fn nearest_method(&self) -> Option<&'static str> {
        let name = self.method.name();
        if self.method.is_prefix() || self.is_known() || name.starts_with('_') {
            return None;
        }
        let methods = Power::all().flat_map(Power::methods);
        let like = |method: &&'static str| strsim::jaro_winkler(method, name);
        let nearest = methods.max_by(|one, two| like(one).total_cmp(&like(two)));
        nearest.filter(|method| like(method) > 0.8)
    }
}

impl fmt::Display for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let kinds = [
            (Kinds::REQUEST, "requests"),
            (Kinds::NOTIFICATION, "notifications"),
            (Kinds::RESPONSE, "responses"),
        ];
        let kinds: Vec<_> = kinds
            .iter()
            .filter(|(kinds, _)| self.kinds.intersects(*kinds))
            .map(|(_, name)| *name)
            .collect();
        write!(f, "{} {}", self.method, kinds.join(", "))?;
        match self.sender {
            Some(sender) => write!(f, " from the {}", sender.as_str()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_covers_a_prefix_and_nothing_else_does() {
        let mut all = Subscription {
            method: Pattern::new("session/*").unwrap(),
            sender: Some(Peer::Agent),
            kinds: Kinds::NOTIFICATION | Kinds::RESPONSE,
            with_body: true,
        };
        assert!(all.covers(Kind::Notification, Peer::Agent, "session/update"));
        assert!(all.covers(Kind::Error, Peer::Agent, "session/prompt"));
        assert!(!all.covers(Kind::Request, Peer::Agent, "session/prompt"));
        assert!(!all.covers(Kind::Notification, Peer::Client, "session/cancel"));
        assert!(!all.covers(Kind::Notification, Peer::Agent, "sessions"));
        all.method = Pattern::new("session/update").unwrap();
        assert!(!all.covers(Kind::Notification, Peer::Agent, "session/updates"));
    }

    #[test]
    fn the_nearest_method_is_found_for_a_misspelt_one() {
        let nearest = |method: &str| {
            let asked = Subscription {
                method: Pattern::new(method).unwrap(),
                sender: None,
                kinds: Kinds::REQUEST,
                with_body: true,
            };
            asked.nearest_method()
        };
        assert_eq!(nearest("session/promt"), Some("session/prompt"));
        assert_eq!(nearest("session/prompt"), None);
        assert_eq!(nearest("_vendor/prompt"), None);
        assert_eq!(nearest("whatever"), None);
    }
}
