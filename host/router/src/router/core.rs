//! The state of a connection, and operations on it without decisions. Nothing here calls a handler, so every handler
//! may call the operations.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::busy::BusyProxy;
use super::cancel::with_request_id;
use super::deeds::Deeds;
use super::exchanges::Exchanges;
use super::hooks::Hooks;
use super::joined::JoinedProxies;
use super::lookups::{Lookups, PATIENCE};
use super::notices::Notices;
use super::proof::Proof;
use super::sessions::{Sessions, shown};
use super::steps::{Answer, Steps};
use crate::clock::{Clock, Timer};
use crate::losses::Losses;
use crate::native::Dialect;
use crate::reading::FileRead;
use crate::stored::ValueRequest;
use acp_chain_acp::{CANCEL_REQUEST, Life, Turns};
use acp_chain_channel::limits::{Account, FLOOD, KEPT, Quantity};
use acp_chain_channel::{Failure, MessageId, Peer};
use acp_chain_hops::edge::Edge;
use acp_chain_hops::exchange::{Exchange, ExchangeId, Origin, Stage, Turn};
use acp_chain_hops::hop::{HeldMessage, Hop, Item};
use acp_chain_hops::member::Member;
use acp_chain_hops::native_peer::{NativePeer, Order};
use acp_chain_hops::route::{HopIndex, Route};
use acp_chain_hops::routed::Routed;
use acp_chain_recorder::Recorder;
use acp_chain_rpc::{Error, Id, Message};

/// The error for a proxy that sends a message where it may not: in a session with another route, or, for a project's
/// proxy, outside any session.
pub(super) fn not_of_session(message: &Message) -> &'static str {
    match message.session() {
        Some(_) => "the session does not pass this proxy",
        None => {
            "a proxy of a project may send only in the sessions of its project; the message names none"
        }
    }
}

/// Why nothing more is kept for the connection.
pub(super) fn kept_is_full() -> String {
    let limit = Quantity::Size.show(KEPT as u64);
    format!("{limit} are kept for the connection already")
}

/// Reads of files by proxies through the client.
#[derive(Default)]
pub(super) struct Reads {
    /// Whether a timer for the client's answers is running.
    pub are_timed: bool,
    /// The session of the last read that the client did not answer.
    pub missed: Option<Arc<str>>,
    /// Whether files are looked for before their reads are sent.
    pub are_checked: bool,
    /// The files that are yet to be looked for.
    pub unchecked: Vec<FileRead>,
    /// The reads that wait for the places of their files.
    pub waiting: HashMap<ExchangeId, Routed>,
}

pub(super) struct Core {
    pub client: Edge,
    pub agent: Edge,
    /// The dialect of the parent, if the chain is itself a proxy.
    pub parent: Option<Dialect>,
    /// Whether the parent is this program, which sends what the agent's hooks report.
    pub sees_tool_runs: bool,
    pub hops: Vec<Hop>,
    /// The native proxies, in the order of the chain.
    pub programs: Vec<HopIndex>,
    /// What is to be done about their programs.
    pub orders: Vec<Order>,
    pub exchanges: Exchanges,
    pub sessions: Sessions,
    /// Requests that wait for the lookup of their project.
    pub lookups: Lookups,
    /// The proxies of projects.
    pub joined: JoinedProxies,
    /// The proxies with items in their inbox, the one that has waited longest first.
    pub ready: VecDeque<HopIndex>,
    /// The proxies to end as soon as they are not busy.
    pub to_end: Vec<HopIndex>,
    /// The proxies with a pending newer version.
    pub to_swap: Vec<HopIndex>,
    pub busy: FuturesUnordered<BusyProxy>,
    /// The account of the connection: all other accounts are parts of it.
    pub kept: Account,
    pub clock: Clock,
    /// Further work of the event that is being handled.
    pub steps: Steps,
    /// The notices for the user's next turn.
    pub notices: Notices,
    pub hooks: Hooks,
    /// The proof that the agent's hooks work, if it has any.
    pub proof: Option<Box<Proof>>,
    pub reads: Reads,
    /// What proxies would have done, in a dry run.
    pub deeds: Option<Box<Deeds>>,
    /// Whether the agent runs on another machine.
    pub is_remote: bool,
    /// Whether proxies may store values.
    pub keeps_values: bool,
    /// The requests of proxies for stored values that are yet to be taken.
    pub values: VecDeque<ValueRequest>,
    pub losses: Losses,
    /// The turns of the client that go on after their prompts are answered, by the client's name of the session.
    pub turns: Turns<Arc<str>, Turn>,
    /// The version of ACP negotiated with the client.
    version: u64,
    pub trace: Option<Recorder>,
}

impl Core {
    /// The state of a new connection with these proxies, the client's neighbour first.
    pub fn new<P: Into<Member>>(proxies: Vec<P>, trace: Option<Recorder>) -> Self {
        let members = proxies.into_iter().map(P::into);
        let kept = Account::new(KEPT);
        let hops: Vec<_> = members.map(|member| Hop::new(member, &kept)).collect();
        let joined = JoinedProxies::new(&hops);
        let programs = (0..hops.len()).filter(|index| hops[*index].native().is_some());
        Self {
            client: Edge::new(&kept),
            agent: Edge::new(&kept),
            parent: None,
            sees_tool_runs: false,
            programs: programs.collect(),
            orders: Vec::new(),
            sessions: Sessions::new(hops.len(), &kept),
            hops,
            exchanges: Exchanges::new(),
            lookups: Lookups::new(&kept),
            joined,
            ready: VecDeque::new(),
            to_end: Vec::new(),
            to_swap: Vec::new(),
            busy: FuturesUnordered::new(),
            clock: Clock::new(Instant::now()),
            steps: Steps::new(),
            notices: Notices::new(&kept),
            kept,
            hooks: Hooks::default(),
            proof: None,
            reads: Reads::default(),
            deeds: None,
            is_remote: false,
            keeps_values: false,
            values: VecDeque::new(),
            losses: Losses::default(),
            turns: Turns::new(),
            version: 1,
            trace,
        }
    }

    /// The version of ACP negotiated with the client; 1 before that.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Sets the version that client and agent have negotiated.
    pub fn agree(&mut self, version: u64) {
        self.version = version;
        self.turns.agree(version);
    }

    /// Whether the backlog of an end or a native proxy is so long that no proxy may be called, as it could add to it.
    pub fn is_flooded(&self) -> bool {
        self.client.outbox.len() >= FLOOD
            || self.agent.outbox.len() >= FLOOD
            || self.most_for_natives() >= FLOOD
    }

    /// The edge for an end.
    ///
    /// A chain that is itself a proxy (RFD proxy-chains) has a parent, which is both ends: its plain messages come from
    /// the client's side, those in `proxy/successor` from the agent's, and messages to it are sent likewise. Answers
    /// and cancellations are plain in both directions. All ids are the parent's, and the ids of its open requests
    /// differ, so one edge serves both.
    pub fn edge(&mut self, peer: Peer) -> &mut Edge {
        match peer {
            Peer::Agent if self.parent.is_none() => &mut self.agent,
            _ => &mut self.client,
        }
    }

    /// A message of an end, at the beginning of its route.
    #[inline]
    pub fn sent_by(&self, end: Peer, message: Message) -> Routed {
        let toward = end.opposite();
        let route = self.sessions.route(end, toward, message.session());
        let at = route.edge(end);
        Routed::new(message, route, at, toward)
    }

    /// Queues a message for an end; a request is sent under this id.
    pub fn send(&mut self, to: Peer, message: &Message, id: Option<&str>) {
        let is_plain = to == Peer::Client
            || message.kind().is_response()
            || &**message.method() == CANCEL_REQUEST;
        match self.parent {
            Some(dialect) if !is_plain => self.client.send_within(dialect.successor(), message, id),
            _ => self.edge(to).send(message, id),
        }
    }

    /// Queues a message for a native proxy, in this direction; a request is sent under its number.
    pub fn send_to_native(
        &mut self,
        index: HopIndex,
        toward: Peer,
        message: &Message,
        number: Option<ExchangeId>,
    ) {
        let id = number.map(|number| number.to_string());
        if let Some(native) = self.hops[index].native_mut() {
            native.send(toward, message, id.as_deref());
        }
    }

    /// Answers a request of one end with an error, past all proxies.
    pub fn tell(&mut self, to: Peer, id: &Id, error: &Error) {
        self.send(to, &Message::error(error), Some(id.as_str()));
    }

    /// Queues a proxy to be called, if it is ready and not queued yet.
    #[inline]
    pub fn make_ready(&mut self, index: HopIndex) {
        if self.hops[index].queues_up() {
            self.ready.push_back(index);
        }
    }

    /// Takes the proxy that has waited longest to be called.
    #[inline]
    pub fn next_ready(&mut self) -> Option<HopIndex> {
        let index = self.ready.pop_front()?;
        self.hops[index].leave_queue();
        Some(index)
    }

    /// Ends a proxy, as soon as it is not busy.
    pub fn end_soon(&mut self, index: HopIndex, reason: &str) {
        if self.hops[index].end_soon(reason) {
            self.to_end.push(index);
        }
    }

    /// Takes a proxy that is due to end and is not busy, with the reason.
    pub fn next_to_end(&mut self) -> Option<(HopIndex, Failure)> {
        while let Some(index) = self.to_end.pop() {
            if let Some(failure) = self.hops[index].take_ending_if_free() {
                return Some((index, failure));
            }
        }
        None
    }

    /// Takes a proxy with a pending newer version that is not being called.
    #[inline]
    pub fn next_to_swap(&mut self) -> Option<HopIndex> {
        let is_free = |index: &HopIndex| !self.hops[*index].is_busy();
        let at = self.to_swap.iter().position(is_free)?;
        Some(self.to_swap.swap_remove(at))
    }

    /// Opens a proxy's own request, on its account. If there is no room, the proxy breaks.
    pub fn open_own(
        &mut self,
        index: HopIndex,
        id: MessageId,
        to: Peer,
        route: &Route,
        message: &Message,
    ) -> Option<ExchangeId> {
        let charge = self.hops[index].charge(Exchange::cost(None, message));
        if charge.is_none() {
            let reason = "its open requests take more memory than its limit `request-bytes`, or the connection's, \
                          allows";
            self.end_soon(index, reason);
            return None;
        }
        let number =
            self.exchanges
                .open(Origin::Hop(index, id), to, route.clone(), message, charge);
        self.hops[index].note_request(id, number);
        Some(number)
    }

    /// The route of a proxy's own message to one side, and the proxy's position on it; `None` if the session's route
    /// does not pass the proxy. The message names the session as that side does.
    pub fn route_of_own(
        &self,
        index: HopIndex,
        to: Peer,
        message: &Message,
    ) -> Option<(Route, usize)> {
        let route = self.sessions.route_from_within(to, message.session());
        let at = route.position(index)?;
        Some((route, at))
    }

    /// The route of a proxy's messages outside sessions, and its position on it.
    pub fn default_route(&self, index: HopIndex) -> (Route, usize) {
        let route = self.joined.route_of(index);
        let route = route.unwrap_or(&self.sessions.main).clone();
        let at = route.position(index).unwrap_or_default();
        (route, at)
    }

    /// Takes the lookups to start, whose timers start now. There are none before the connection has begun.
    pub fn take_lookups(&mut self) -> Vec<(ExchangeId, PathBuf)> {
        let begins = |exchange: &Exchange| {
            let is_clients = matches!(exchange.origin, Origin::Edge(Peer::Client, _));
            is_clients && exchange.life == Life::Connects
        };
        let mut open = self.exchanges.iter();
        if !self.lookups.has_unstarted() || open.any(|(_, exchange)| begins(exchange)) {
            return Vec::new();
        }
        let unstarted = self.lookups.take_unstarted();
        for (number, _) in &unstarted {
            self.clock.set_after(PATIENCE, Timer::Lookup(*number));
        }
        unstarted
    }

    /// Ends all pauses of a proxy, whose instance ends.
    pub fn end_pauses(&mut self, index: HopIndex) {
        for id in self.hops[index].take_pauses() {
            self.clock.clear(Timer::Wake(index, id));
        }
    }

    /// Takes a held message from its proxy.
    pub fn take_held(&mut self, index: HopIndex, id: MessageId) -> Option<HeldMessage> {
        let held = self.hops[index].remove_held(id)?;
        self.clock.clear(Timer::Expire(index, id));
        Some(held)
    }

    /// If a request is cancelled, sends the cancellation to the far side or the native proxy that has the request.
    pub fn send_cancel(&mut self, number: ExchangeId) {
        let Some(exchange) = self.exchanges.get(number) else {
            return;
        };
        let Some(cancel) = &exchange.cancel else {
            return;
        };
        let cancel = with_request_id(cancel, &number.to_string());
        let toward = exchange.toward;
        match exchange.stage {
            // A cancellation is not wrapped, whichever direction the request has.
            Stage::Native(index) => {
                if let Some(native) = self.hops[index].native_mut() {
                    cancel.write(None, &mut native.outbox);
                }
            }
            _ => self.send(toward, &cancel, None),
        }
    }

    /// Answers an open request in place of one end.
    pub fn answer_of_end(&mut self, number: ExchangeId, end: Peer, message: Message) {
        if let Some(exchange) = self.exchanges.get(number) {
            let at = exchange.route.edge(end);
            self.steps.answer_at(number, at, message);
        }
    }

    /// Answers an open request in place of a proxy; does nothing if its route does not pass the proxy.
    pub fn answer_of_proxy(&mut self, number: ExchangeId, index: HopIndex, message: Message) {
        let exchange = self.exchanges.get(number);
        if let Some(at) = exchange.and_then(|exchange| exchange.route.position(index)) {
            self.steps.answer_at(number, at, message);
        }
    }

    /// Adds an item to a proxy's inbox.
    pub fn enqueue(&mut self, index: HopIndex, item: Item) {
        self.hops[index].push(item);
        self.make_ready(index);
    }

    /// The longest backlog of a native proxy, in bytes.
    pub fn most_for_natives(&self) -> usize {
        let waits = self.peers().map(|(_, native)| native.outbox.len());
        waits.max().unwrap_or_default()
    }

    pub fn peers(&self) -> impl Iterator<Item = (HopIndex, &NativePeer)> {
        let all = self.programs.iter();
        all.filter_map(|index| Some((*index, self.hops[*index].native()?)))
    }
}

/// An answer to an open request, at the start of its way back through these proxies.
pub(super) fn returning(exchange: &Exchange, hops: &[Hop], answer: Answer) -> Routed {
    let Answer {
        number,
        at,
        message,
        labels,
    } = answer;
    let toward = exchange.toward.opposite();
    let message = shown(exchange.life, toward, hops, message);
    let mut routed = Routed::new(message, exchange.route.clone(), at, toward);
    routed.exchange = Some(number);
    routed.method = exchange.method.clone();
    routed.life = exchange.life;
    routed.request_session = exchange.far_session().cloned();
    routed.renamed.clone_from(&exchange.renamed);
    let is_for_proxy = matches!(exchange.origin, Origin::Hop(..) | Origin::Native(..));
    routed.labels = labels.of_answer(is_for_proxy);
    routed
}
