//! A message on its way through a chain.

use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Instant;

use crate::exchange::ExchangeId;
use crate::labels::Labels;
use crate::route::{HopIndex, Route, Target, Via};
use crate::version::Version;
use acp_chain_acp::{HOOK, Life};
use acp_chain_channel::Peer;
use acp_chain_channel::limits::Charge;
use acp_chain_rpc::Message;

/// The state of a message at its place, and since when. Kept for the trace, if there is one.
#[derive(Clone, Copy, Debug)]
pub enum MessageState {
    /// The message waits for the proxy.
    Queued(Instant),
    /// The proxy is called with the message.
    Called(Instant),
    /// The proxy holds the message.
    Held(Instant),
}

/// A message, where it is, and where it goes. It is moved often, so it is as small as a pointer.
#[derive(Debug)]
pub struct Routed(Box<Content>);

#[derive(Debug)]
pub struct Content {
    pub message: Message,
    pub toward: Peer,
    pub route: Route,
    pub target: Target,
    /// Whether the message comes from or goes to the agent itself or an MCP client of the agent.
    pub via: Via,
    /// Its position on the route.
    pub at: usize,
    /// The position of the part that last saw the message.
    pub from: usize,
    /// The open request that this message is or answers.
    pub exchange: Option<ExchangeId>,
    /// The method; of a response, the request's.
    pub method: Arc<str>,
    /// What the method does, looked up once; for a response, the request's method.
    pub life: Life,
    /// Whether its session was being opened while it was on its way: the agent may have replayed it.
    pub is_replayed: bool,
    /// For an answer to a proxy's own request, the proxy.
    pub requester: Option<HopIndex>,
    pub labels: Labels,
    /// The charge for the message while it waits, if any.
    pub charge: Option<Charge>,
    /// The order of arrival at the current proxy.
    pub arrival: u64,
    pub since: Option<MessageState>,
    /// The number of the message in the trace, if there is one.
    pub number: Option<NonZeroU64>,
    /// Whether an observer of the trace is known to pass over this message, and proxies that forward it.
    pub is_passed_over: bool,
    /// The last replaced version of the current proxy that has seen the message, if any.
    pub seen: Option<Version>,
    /// The session of the request that this answers.
    pub request_session: Option<Arc<str>>,
    /// The entries of `renamed` of the answered request, without those whose positions the answer has passed.
    pub renamed: Vec<(usize, Option<Arc<str>>)>,
}

impl Deref for Routed {
    type Target = Content;

    #[inline]
    fn deref(&self) -> &Content {
        &self.0
    }
}

impl DerefMut for Routed {
    #[inline]
    fn deref_mut(&mut self) -> &mut Content {
        &mut self.0
    }
}

impl Routed {
    /// A message that starts at a position; not an answer, and not part of an open request.
    #[inline]
    pub fn new(message: Message, route: Route, at: usize, toward: Peer) -> Self {
        Self(Box::new(Content {
            method: message.method().clone(),
            life: Life::of(message.method()),
            is_replayed: false,
            toward,
            route,
            target: Target::End,
            via: Via::Agent,
            at,
            from: at,
            exchange: None,
            requester: None,
            labels: Labels::default(),
            charge: None,
            arrival: 0,
            since: None,
            number: None,
            is_passed_over: false,
            seen: None,
            request_session: None,
            renamed: Vec::new(),
            message,
        }))
    }

    /// The session that the message belongs to.
    #[inline]
    pub fn session(&self) -> Option<&Arc<str>> {
        self.request_session
            .as_ref()
            .or_else(|| self.message.session())
    }

    /// The session that a request to set one up names as its own: the one that a fork names is another.
    #[inline]
    pub fn named_session(&self) -> Option<&Arc<str>> {
        self.session().filter(|_| self.life != Life::Forks)
    }

    /// Moves to the next position; an answer gets the session that its request had on this leg.
    #[inline]
    pub fn step(&mut self) {
        match self.toward {
            Peer::Client => self.at -= 1,
            Peer::Agent => self.at += 1,
        }
        // The last change to the request was nearest to its far end, where the answer starts.
        while let [.., (_, before), (at, _)] = &self.renamed[..]
            && self.has_passed(*at)
        {
            let before = before.clone();
            self.request_session = before;
            self.renamed.pop();
        }
    }

    /// Whether the part at a position lies behind.
    #[inline]
    fn has_passed(&self, at: usize) -> bool {
        match self.toward {
            Peer::Client => self.at < at,
            Peer::Agent => self.at > at,
        }
    }

    /// The cost of keeping the message, in bytes, including its entry.
    #[inline]
    pub fn cost(&self) -> usize {
        let session = self.session().map_or(0, |session| session.len());
        self.message.cost() + session + size_of::<Content>()
    }

    /// Whether the message ends at a proxy, whatever the proxy decides.
    #[inline]
    pub fn ends_at_proxy(&self) -> bool {
        let is_provided = matches!(self.target, Target::Provider(_));
        (is_provided || self.is_for_component()) && !self.is_response()
    }

    /// Whether the message is for an offer of a component to the agent.
    #[inline]
    pub fn is_for_component(&self) -> bool {
        matches!(self.target, Target::List(_) | Target::Call)
    }

    #[inline]
    pub fn is_response(&self) -> bool {
        self.message.kind().is_response()
    }

    /// Whether both messages belong to one session, or to none, and go in the same direction.
    #[inline]
    pub fn shares_queue(&self, other: &Self) -> bool {
        self.toward == other.toward && self.session() == other.session()
    }

    /// Whether the message is about a tool run that the agent's hooks report.
    #[inline]
    pub fn is_of_hook(&self) -> bool {
        self.method.starts_with(HOOK)
    }

    /// Whether the message begins the connection, or is the answer to that.
    #[inline]
    pub fn is_beginning(&self) -> bool {
        self.life == Life::Connects
    }
}
