//! What there is of a connection, and what can be done to it that decides nothing. Nothing here calls a
//! handler, so any of them may call it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::calls::Busy;
use super::cancel::CANCEL;
use super::exchanges::Exchanges;
use super::notice::Notices;
use crate::chain::edge::Edge;
use crate::chain::exchange::{Exchange, ExchangeId, Origin};
use crate::chain::hop::{Hop, Life, Member};
use crate::chain::native_peer::Order;
use crate::chain::route::{HopIndex, Route};
use crate::chain::routed::Routed;
use crate::chain::timers::{Timer, Timers};
use crate::channel::{Failure, MessageId, Peer};
use crate::limits::{Account, FLOOD, KEPT};
use crate::native::Dialect;
use crate::rpc::{Error, Id, Message};
use crate::trace::Trace;
use crate::untrusted::{MAX_QUOTE, quote};

pub(super) struct Core {
    pub client: Edge,
    pub agent: Edge,
    /// How the parent speaks of a chain that is itself a proxy.
    pub parent: Option<Dialect>,
    pub hops: Vec<Hop>,
    /// Those of them that are programs.
    pub natives: Vec<HopIndex>,
    pub route: Route,
    pub exchanges: Exchanges,
    /// Proxies with something in their inbox.
    pub ready: VecDeque<HopIndex>,
    pub busy: FuturesUnordered<Busy>,
    /// Proxies that are to be ended.
    pub due_to_end: Vec<HopIndex>,
    /// What is to be done to the programs of native proxies.
    pub orders: Vec<Order>,
    /// All that is kept: what others have are parts of it.
    pub kept: Account,
    pub timers: Timers,
    pub now: Instant,
    /// What the user is to be told in the next turn.
    pub notices: Notices,
    /// How many notices there were.
    pub told: u64,
    /// The version of ACP that was agreed on with the client.
    pub version: u64,
    /// Where the user finds more.
    pub log: Option<PathBuf>,
    pub trace: Option<Trace>,
}

impl Core {
    /// With these proxies, the client's neighbour first.
    pub fn new<P: Into<Member>>(proxies: Vec<P>, trace: Option<Trace>) -> Self {
        let members = proxies.into_iter().map(P::into);
        let kept = Account::new(KEPT);
        let hops: Vec<_> = members.map(|member| Hop::new(member, &kept)).collect();
        let natives = (0..hops.len()).filter(|index| hops[*index].native().is_some());
        Self {
            client: Edge::new(&kept),
            agent: Edge::new(&kept),
            parent: None,
            route: Route::new(0..hops.len()),
            natives: natives.collect(),
            hops,
            exchanges: Exchanges::new(),
            ready: VecDeque::new(),
            busy: FuturesUnordered::new(),
            due_to_end: Vec::new(),
            orders: Vec::new(),
            timers: Timers::default(),
            now: Instant::now(),
            notices: Notices::new(&kept),
            kept,
            told: 0,
            version: 1,
            log: None,
            trace,
        }
    }

    /// Whether so much waits for an end, or a native proxy, that no proxy may add to it.
    pub fn is_flooded(&self) -> bool {
        self.client.outbox.len() >= FLOOD
            || self.agent.outbox.len() >= FLOOD
            || self.most_for_natives(None) >= FLOOD
    }

    /// By which an end is reached: the parent's serves both.
    pub fn edge(&mut self, peer: Peer) -> &mut Edge {
        match peer {
            Peer::Agent if self.parent.is_none() => &mut self.agent,
            _ => &mut self.client,
        }
    }

    /// The way of messages of a session. There is one chain for all of them.
    pub fn route(&self, _session: Option<&Arc<str>>) -> Route {
        self.route.clone()
    }

    /// Queues a message for an end, as a call under this id if it wants an answer.
    pub fn send(&mut self, to: Peer, message: &Message, id: Option<&str>) {
        let is_plain =
            to == Peer::Client || message.kind().is_response() || &**message.method() == CANCEL;
        match self.parent {
            Some(dialect) if !is_plain => {
                self.client.send_within(dialect.successor(), message, id);
            }
            _ => self.edge(to).send(message, id),
        }
    }

    /// Answers one end directly, past all proxies; without an id, with the id null.
    pub fn tell(&mut self, to: Peer, id: Option<&Id>, error: &Error) {
        let id = id.map_or("null", Id::as_str);
        self.send(to, &Message::error(error), Some(id));
    }

    /// Counts what an end says to no effect, and why; the log gets the first hundred, and ever fewer
    /// of the others.
    pub fn note_discarded(&mut self, from: Peer, why: &str) {
        const ALL: u64 = 100;
        let edge = self.edge(from);
        edge.discarded += 1;
        let count = edge.discarded;
        if count <= ALL || count.is_power_of_two() {
            tracing::warn!(count, "{}", quote(why, MAX_QUOTE));
        }
    }

    pub fn make_ready(&mut self, index: HopIndex) {
        let hop = &mut self.hops[index];
        if hop.is_ready() && !hop.queued {
            hop.queued = true;
            self.ready.push_back(index);
        }
    }

    /// Ends a proxy that is the cause of trouble, as soon as it is not busy.
    pub fn end_soon(&mut self, index: HopIndex, reason: &str) {
        let hop = &mut self.hops[index];
        if hop.ending.is_none() && matches!(hop.life, Life::Idle(_) | Life::Busy | Life::Runs) {
            hop.ending = Some(Failure::new(reason));
            self.due_to_end.push(index);
        }
    }

    /// Opens a request of a proxy's own, on its account. One that has no room there breaks.
    pub fn open_own(
        &mut self,
        index: HopIndex,
        id: MessageId,
        to: Peer,
        route: &Route,
        message: &Message,
    ) -> Option<ExchangeId> {
        let charge = self.hops[index].kept.charge(Exchange::cost(None, message));
        if charge.is_none() {
            let reason = "more is kept of its open requests than its limit `request-bytes`, or that of \
                          all that is kept, lets";
            self.end_soon(index, reason);
            return None;
        }
        let number =
            self.exchanges
                .open(Origin::Hop(index, id), to, route.clone(), message, charge);
        self.hops[index].asked.insert(id, number);
        Some(number)
    }

    /// The way of a proxy's own message, and where on it the proxy stands.
    pub fn stand(&self, index: HopIndex, message: &Message) -> Option<(Route, usize)> {
        let route = self.route(message.session());
        let at = route.position(index)?;
        Some((route, at))
    }

    /// Takes a held message from its proxy.
    pub fn let_go(&mut self, index: HopIndex, id: MessageId) -> Option<Routed> {
        let held = self.hops[index].held.remove(&id)?;
        self.timers.clear(held.until, Timer::Expire(index, id));
        Some(held.routed)
    }

    /// A message begins to wait for a proxy: whoever made it answers for the room that it takes.
    pub fn charge(&mut self, routed: &mut Routed) {
        let Some(maker) = routed.maker else { return };
        let account = &self.hops[maker].in_flight;
        // Whatever its size, one message may always wait.
        let too_much = account.kept() > 0 && account.is_full();
        routed.charge = Some(account.charge_anyway(routed.cost()));
        if too_much {
            let reason = "more of what it sends waits for other proxies than its limit `in-flight`, or \
                          that of all that is kept, lets";
            self.end_soon(maker, reason);
        }
    }
}
