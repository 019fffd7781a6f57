//! A message on its way through a chain.

use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Instant;

use super::exchange::ExchangeId;
use super::labels::Labels;
use super::route::{HopIndex, Route, Target, Via};
use super::version::Version;
use acp_chain_acp::Life;
use acp_chain_channel::Peer;
use acp_chain_channel::limits::Charge;
use acp_chain_rpc::Message;

/// What a message has been doing at its place, and since when. Kept for the trace, if there is one.
#[derive(Clone, Copy, Debug)]
pub enum Since {
    /// It waits for the proxy.
    Queued(Instant),
    /// The proxy works on it.
    Called(Instant),
    /// The proxy holds it.
    Held(Instant),
}

/// A message, where it is, and where it goes. It is moved often, so it is as small as a pointer.
#[derive(Debug)]
pub struct Routed(Box<Content>);

/// Its contents.
#[derive(Debug)]
pub struct Content {
    pub message: Message,
    pub toward: Peer,
    pub route: Route,
    pub target: Target,
    /// Whether it comes from, or leaves to, the agent itself or an MCP client.
    pub via: Via,
    /// Its position on the route.
    pub at: usize,
    /// The position of the part that touched it last.
    pub from: usize,
    /// The open request that it is or answers.
    pub exchange: Option<ExchangeId>,
    /// The method; of a response, the request's.
    pub method: Arc<str>,
    /// What it does, by its method; for a response, what the request does. Looked up once.
    pub life: Life,
    /// The proxy that this is the answer for.
    pub home: Option<HopIndex>,
    /// What the chain knows of it.
    pub labels: Labels,
    /// The account on which it waits, if any.
    pub charge: Option<Charge>,
    /// Its order of arrival at the proxy where it is.
    pub arrival: u64,
    /// What it has been doing at its place.
    pub since: Option<Since>,
    /// Its number in the trace, if there is one.
    pub number: Option<NonZeroU64>,
    /// The last replaced version of the current proxy that has seen it, if any.
    pub seen: Option<Version>,
    /// The session of the request that this answers.
    pub request_session: Option<Arc<str>>,
    /// Where the request that this answers got another session, starting at the proxy nearest the answering side.
    pub renamed: Vec<(usize, Option<Arc<str>>)>,
}

impl Deref for Routed {
    type Target = Content;

    fn deref(&self) -> &Content {
        &self.0
    }
}

impl DerefMut for Routed {
    fn deref_mut(&mut self) -> &mut Content {
        &mut self.0
    }
}

impl Routed {
    /// A message that starts at a position; not an answer, and not part of an open request.
    pub fn new(message: Message, route: Route, at: usize, toward: Peer) -> Self {
        Self(Box::new(Content {
            method: message.method().clone(),
            life: Life::of(message.method()),
            toward,
            route,
            target: Target::End,
            via: Via::Agent,
            at,
            from: at,
            exchange: None,
            home: None,
            labels: Labels::default(),
            charge: None,
            arrival: 0,
            since: None,
            number: None,
            seen: None,
            request_session: None,
            renamed: Vec::new(),
            message,
        }))
    }

    /// The session that the message belongs to.
    pub fn session(&self) -> Option<&Arc<str>> {
        self.request_session
            .as_ref()
            .or_else(|| self.message.session())
    }

    /// The session that a request to set one up names as its own: the one that a fork names is another.
    pub fn named_session(&self) -> Option<&Arc<str>> {
        self.session().filter(|_| self.life != Life::Forks)
    }

    /// Arrives at the next position; an answer gets the session that its request had on this leg.
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
    fn has_passed(&self, at: usize) -> bool {
        match self.toward {
            Peer::Client => self.at < at,
            Peer::Agent => self.at > at,
        }
    }

    /// What it costs to keep it, in bytes: even short ones take room.
    pub fn cost(&self) -> usize {
        let session = self.session().map_or(0, |session| session.len());
        self.message.cost() + session + size_of::<Content>()
    }

    /// Whether it ends at a proxy, whatever the proxy does with it.
    pub fn is_bound(&self) -> bool {
        let is_provided = matches!(self.target, Target::Provider(_));
        (is_provided || self.is_for_component()) && !self.is_response()
    }

    /// Whether it is for something that a component offers the agent.
    pub fn is_for_component(&self) -> bool {
        matches!(self.target, Target::List(_) | Target::Call)
    }

    pub fn is_response(&self) -> bool {
        self.message.kind().is_response()
    }

    /// Whether the two belong to one session, or both to none, and go the same way.
    pub fn shares_queue(&self, other: &Self) -> bool {
        self.toward == other.toward && self.session() == other.session()
    }

    /// Whether it begins the connection, or answers what does.
    pub fn is_beginning(&self) -> bool {
        self.life == Life::Connects
    }
}
