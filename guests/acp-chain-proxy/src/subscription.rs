//! Subscriptions: which messages a proxy receives.

use std::borrow::Cow;

use crate::Peer;

/// The messages that a proxy receives. All others bypass it.
///
/// ```
/// use acp_chain_proxy::{Peer, Subscription};
///
/// const SUBSCRIPTIONS: &[Subscription] = &[
///     Subscription::requests("session/prompt").from(Peer::Client),
///     Subscription::notifications("session/*").from(Peer::Agent).without_body(),
/// ];
/// ```
#[derive(Clone, Debug)]
pub struct Subscription {
    pub(crate) method: Cow<'static, str>,
    pub(crate) sender: Option<Peer>,
    pub(crate) kind: Kind,
    pub(crate) with_body: bool,
}

/// The three kinds of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Notification,
    Response,
}

impl Subscription {
    /// Requests with this method, or, if it ends in `*`, with this prefix.
    #[must_use]
    pub const fn requests(method: &'static str) -> Self {
        Self::new(method, Kind::Request)
    }

    /// Notifications with this method, or, if it ends in `*`, with this prefix.
    #[must_use]
    pub const fn notifications(method: &'static str) -> Self {
        Self::new(method, Kind::Notification)
    }

    /// Responses to requests with this method, or, if it ends in `*`, with this prefix.
    #[must_use]
    pub const fn responses(method: &'static str) -> Self {
        Self::new(method, Kind::Response)
    }

    const fn new(method: &'static str, kind: Kind) -> Self {
        Self {
            method: Cow::Borrowed(method),
            sender: None,
            kind,
            with_body: true,
        }
    }

    /// Only those that this neighbour sends.
    #[must_use]
    pub const fn from(mut self, sender: Peer) -> Self {
        self.sender = Some(sender);
        self
    }

    /// Without the body, which stays with the host: [`Head::read`](crate::Head::read) reads parts of it.
    #[must_use]
    pub const fn without_body(mut self) -> Self {
        self.with_body = false;
        self
    }

    /// Replaces the method by one whose name is known only at run time.
    #[must_use]
    pub fn of_method(mut self, method: impl Into<String>) -> Self {
        self.method = Cow::Owned(method.into());
        self
    }
}
