//! Which messages a proxy wants to see.

use super::{FailurePolicy, Pattern, Peer};
use crate::rpc::Kind;

/// The kinds of message that a subscription covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Kinds {
    pub request: bool,
    pub notification: bool,
    pub response: bool,
}

impl Kinds {
    /// All of them.
    pub const ALL: Self = Self {
        request: true,
        notification: true,
        response: true,
    };

    fn contains(self, kind: Kind) -> bool {
        match kind {
            Kind::Request => self.request,
            Kind::Notification => self.notification,
            Kind::Result | Kind::Error => self.response,
        }
    }
}

/// Messages that enter a proxy; all others pass by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Their methods. Of a response, the request's method.
    pub method: Pattern,
    /// Whose messages; `None` means both neighbours'.
    pub sender: Option<Peer>,
    /// Which kinds of message.
    pub kinds: Kinds,
    /// Whether the body comes with the message.
    pub with_body: bool,
}

impl Subscription {
    /// Whether this subscription covers a message.
    #[must_use]
    pub fn covers(&self, kind: Kind, sender: Peer, method: &str) -> bool {
        self.kinds.contains(kind)
            && self.sender.is_none_or(|wanted| wanted == sender)
            && self.method.covers(method)
    }
}

impl std::fmt::Display for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let kinds = [
            (self.kinds.request, "requests"),
            (self.kinds.notification, "notifications"),
            (self.kinds.response, "responses"),
        ];
        let kinds: Vec<_> = kinds
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, name)| *name)
            .collect();
        write!(f, "{} {}", self.method, kinds.join(", "))?;
        match self.sender {
            Some(sender) => write!(f, " from the {}", sender.as_str()),
            None => Ok(()),
        }
    }
}

/// What a proxy says of itself when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Which messages it wants to see.
    pub subscriptions: Vec<Subscription>,
    /// What is to become of it when it breaks; the manifest has the last word.
    pub on_failure: FailurePolicy,
    /// Whether it has tools for the agent.
    pub tools: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_covers_a_prefix_and_nothing_else_does() {
        let mut all = Subscription {
            method: Pattern::new("session/*").unwrap(),
            sender: Some(Peer::Agent),
            kinds: Kinds {
                request: false,
                notification: true,
                response: true,
            },
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
