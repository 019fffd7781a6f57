//! Subscriptions of proxies.

use acp_chain_powers::Asked;

use super::{FailurePolicy, Kinds, Offers, Pattern, Peer};
use acp_chain_rpc::Kind;

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
    #[must_use]
    pub fn covers(&self, kind: Kind, sender: Peer, method: &str) -> bool {
        self.kinds.has(kind)
            && self.sender.is_none_or(|wanted| wanted == sender)
            && self.method.covers(method)
    }

    /// The subscription, in the form by which powers are checked.
    #[must_use]
    pub fn asked(&self) -> Asked<'_> {
        Asked {
            methods: &self.method,
            sender: self.sender,
            kinds: self.kinds,
            with_body: self.with_body,
        }
    }
}

impl std::fmt::Display for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
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

/// What a proxy declares when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Its subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// Its failure policy, which the manifest may override.
    pub on_failure: FailurePolicy,
    /// Its offers to the agent.
    pub offers: Offers,
    /// Whether others rely on its decisions, so that it must be next to the agent.
    pub guard: bool,
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
}
