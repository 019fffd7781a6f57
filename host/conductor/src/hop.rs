//! A proxy's place in the chain: the messages that wait for it, those that it holds, and those that wait behind
//! these.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use tokio::time::Instant;

use super::breaker::Breaker;
use super::exchange::ExchangeId;
use super::member::{Member, Terms};
use super::native_peer::NativePeer;
use super::phase::Phase;
use super::queues::{OrderKey, Parked, Queues};
use super::route::HopIndex;
use super::routed::Routed;
use super::version::Version;
use super::versions::Versions;
use acp_chain_channel::limits::{Account, Limits};
use acp_chain_channel::{
    Actions, Failure, FailurePolicy, Grant, Kinds, MessageId, Offers, Pattern, Registration,
    Source, Started, Subject, Subscription, seen_subject, subject,
};
use acp_chain_rpc::transport::Outbox;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// An item that waits for a proxy.
#[derive(Debug)]
pub enum Item {
    Message(Routed),
    /// The sender of a held request has cancelled it.
    Cancel(MessageId),
    /// A pause that the proxy asked for is over.
    Wake(MessageId),
    /// A message was held for too long.
    Expired(MessageId),
}

/// A message that a proxy holds.
#[derive(Debug)]
pub struct Held {
    pub routed: Routed,
    /// When it is taken from the proxy.
    pub until: Instant,
    /// The version of the proxy that holds it.
    pub version: Version,
}

impl Held {
    /// Whether a response must wait for it.
    pub fn holds_up(&self, response: &Routed) -> bool {
        let held = &self.routed;
        held.exchange.is_none() && held.arrival < response.arrival && held.shares_queue(response)
    }
}

/// The kind of a proxy.
pub enum Runtime {
    /// A component, and the source of further instances.
    Component(Box<dyn Source>),
    /// A program.
    Native(Box<NativePeer>),
    /// Nothing: the proxy has left, and its place is free.
    Gone,
}

pub struct Hop {
    pub name: String,
    /// The project that it belongs to, if it is not the user's own.
    pub project: Option<Arc<str>>,
    /// Whether it ever began its work: a project's program may not have yet.
    pub has_begun: bool,
    pub terms: Terms,
    pub runtime: Runtime,
    pub phase: Phase,
    pub versions: Versions,
    /// When the last message for it arrived, if it may be put to sleep.
    pub called: Option<Instant>,
    /// Why it must be ended as soon as it returns.
    pub ending: Option<Failure>,
    pub breaker: Breaker,
    /// How often it was restarted.
    pub restarts: u64,
    /// Whether the user knows that it broke once.
    pub told: bool,
    /// What it declares.
    registration: Registration,
    /// The items that wait for the proxy, in order of arrival.
    pub inbox: VecDeque<Item>,
    /// Messages that the proxy did not subscribe to, and that must not overtake those in the inbox or in its hands.
    queues: Queues,
    /// Bytes in the inbox and behind it that slow down the client or the agent. Messages between proxies are not
    /// among them: they would keep both from being read for as long as the proxies like. `in_flight` limits those.
    pub waiting: usize,
    /// The messages of its own in the inboxes of proxies, and behind them.
    pub in_flight: Account,
    /// The message that the proxy is being called with.
    pub in_hand: Option<(MessageId, Routed)>,
    /// The key of the message that it was last handed, until it is done with it.
    key_in_hand: Option<OrderKey>,
    pub held: HashMap<MessageId, Held>,
    /// Responses that wait for a held notification, and the messages behind them.
    pub parked: Parked,
    /// Its own unanswered requests.
    pub asked: HashMap<MessageId, ExchangeId>,
    /// The account of its own requests, also of those of earlier instances, and of sessions that it gave to requests of others.
    pub kept: Account,
    /// When its pauses end. None of them keeps an instance that has nothing else to do.
    pub pauses: HashMap<MessageId, Instant>,
    /// When it may be called after a pause again.
    pub rests_until: Instant,
    /// When it was called after a pause, while that lasts.
    pub woken: Option<Instant>,
    /// The state that it saved last.
    pub saved: Option<String>,
    /// The first number of the next instance.
    pub next_number: MessageId,
    /// How many messages were refused because it failed.
    pub refused: u64,
    /// Whether it is in the router's queue.
    pub queued: bool,
    arrivals: u64,
}

impl Hop {
    /// A proxy for which nothing is kept yet; its accounts will be parts of this one.
    pub fn new(member: Member, kept: &Account) -> Self {
        match member {
            Member::Component(proxy) => {
                let Started { part, registration } = proxy.started;
                let mut hop = Self::of(
                    proxy.name,
                    proxy.terms,
                    Runtime::Component(proxy.source),
                    Phase::Idle(part),
                    kept,
                );
                hop.registration = registration;
                hop
            }
            Member::Asleep(sleeper) => {
                let runtime = Runtime::Component(sleeper.source);
                let mut hop = Self::of(sleeper.name, sleeper.terms, runtime, Phase::Asleep, kept);
                hop.registration = sleeper.registration;
                hop
            }
            Member::Native(native) => {
                let limits = Limits {
                    body: usize::MAX,
                    ..Limits::default()
                };
                let terms = Terms {
                    limits: limits.into(),
                    grant: Grant::unlimited().into(),
                    on_failure: native.on_failure,
                    sleep_after: None,
                };
                let runtime = Runtime::Native(Box::new(NativePeer::new(native.dialect, kept)));
                let mut hop = Self::of(native.name, terms, runtime, Phase::Runs, kept);
                hop.registration.subscriptions = everything();
                hop
            }
        }
    }

    /// A proxy of this project, which joins a connection that has begun.
    pub fn of_project(member: Member, project: Arc<str>, kept: &Account) -> Self {
        let mut hop = Self::new(member, kept);
        hop.project = Some(project);
        if hop.native().is_some() {
            hop.has_begun = false;
            hop.phase = Phase::Busy;
        }
        hop
    }

    /// The place of a proxy that has left.
    pub fn gone(kept: &Account) -> Self {
        let phase = Phase::Ended("it has left".to_owned());
        Self::of(String::new(), Terms::default(), Runtime::Gone, phase, kept)
    }

    fn of(name: String, terms: Terms, runtime: Runtime, phase: Phase, kept: &Account) -> Self {
        Self {
            name,
            project: None,
            has_begun: true,
            breaker: Breaker::new(&terms.limits),
            kept: kept.part(terms.limits.request_bytes),
            in_flight: kept.part(terms.limits.in_flight),
            parked: Parked::new(kept.part(terms.limits.behind)),
            terms,
            runtime,
            phase,
            versions: Versions::default(),
            called: None,
            ending: None,
            restarts: 0,
            told: false,
            registration: Registration {
                subscriptions: Vec::new(),
                on_failure: FailurePolicy::default(),
                offers: Offers::default(),
                guard: false,
            },
            inbox: VecDeque::new(),
            queues: Queues::default(),
            waiting: 0,
            in_hand: None,
            key_in_hand: None,
            held: HashMap::new(),
            asked: HashMap::new(),
            pauses: HashMap::new(),
            rests_until: Instant::now(),
            woken: None,
            saved: None,
            next_number: 1,
            refused: 0,
            queued: false,
            arrivals: 0,
        }
    }

    /// The program, if it is one.
    pub fn native(&self) -> Option<&NativePeer> {
        match &self.runtime {
            Runtime::Native(native) => Some(native),
            Runtime::Component(_) | Runtime::Gone => None,
        }
    }

    /// The program, if it is one.
    pub fn native_mut(&mut self) -> Option<&mut NativePeer> {
        match &mut self.runtime {
            Runtime::Native(native) => Some(native),
            Runtime::Component(_) | Runtime::Gone => None,
        }
    }

    /// Its name for people.
    pub fn title(&self) -> String {
        let of = self.project.as_ref();
        let of = of.map_or_else(String::new, |project| {
            format!(" of the project `{}`", quote(project, MAX_QUOTE))
        });
        format!("the proxy `{}`{of}", self.name)
    }

    /// Whether it has nothing to do, and nothing of it is open.
    pub fn is_at_rest(&self) -> bool {
        let is_done = self.native().is_none_or(|native| {
            native.introduction.is_none() && native.open.is_empty() && native.outbox.is_empty()
        });
        let waits = self.queued || self.ending.is_some() || self.in_hand.is_some();
        is_done
            && !waits
            && self.takes_messages()
            && self.inbox.is_empty()
            && self.held.is_empty()
            && self.asked.is_empty()
            && self.parked.is_empty()
    }

    /// The subscription through which the proxy sees a message, if a power lets it do anything with it.
    pub fn subscription(&self, routed: &Routed) -> Option<&Subscription> {
        self.wanted(&self.registration, routed)
    }

    /// Whether it has subscribed to such messages, whether or not a power covers this one.
    pub fn has_subscribed(&self, routed: &Routed) -> bool {
        subscribed(&self.registration, routed).is_some()
    }

    /// The same, by the declaration of one of its versions.
    #[inline]
    pub fn wanted<'r>(
        &self,
        registration: &'r Registration,
        routed: &Routed,
    ) -> Option<&'r Subscription> {
        subscribed(registration, routed).filter(|_| self.may_touch(routed))
    }

    /// Whether a power lets the proxy do anything with a message.
    fn may_touch(&self, routed: &Routed) -> bool {
        let (grant, sender) = (&self.terms.grant, routed.toward.opposite());
        let subject = seen_subject(grant, &routed.message, sender, &routed.method);
        grant.covers(Actions::TOUCH, &subject)
    }

    /// Whether others rely on its decisions.
    pub fn is_guard(&self) -> bool {
        self.registration.guard
    }

    /// What it offers the agent.
    pub fn offers(&self) -> Offers {
        self.registration.offers
    }

    /// Whether it offers the agent something, and can be called for it.
    pub fn is_server(&self) -> bool {
        !self.offers().is_empty()
            && self.terms.grant.has("tools")
            && !matches!(self.phase, Phase::Ended(_))
    }

    pub fn subscribe(&mut self, subscriptions: Vec<Subscription>) {
        self.registration.subscriptions = subscriptions;
    }

    /// What it declares.
    pub fn registration(&self) -> &Registration {
        &self.registration
    }

    /// Replaces what it declares. Returns what it declared before.
    pub fn register(&mut self, registration: Registration) -> Registration {
        std::mem::replace(&mut self.registration, registration)
    }

    /// Whether messages that it cannot decide go on unchanged: because the user wants it so, or because it has no say
    /// in them anyway.
    pub fn lets_pass(&self, routed: &Routed) -> bool {
        // A project's sessions do not begin without the proxies that it relies on.
        if routed.is_bound() || !self.has_begun {
            return false;
        }
        let policy = self.terms.on_failure;
        let given_up = matches!(self.phase, Phase::Ended(_));
        policy == FailurePolicy::Bypass
            || given_up && policy.ends_open()
            || routed.labels.is_sealed && !self.is_guard()
            || !self
                .terms
                .grant
                .covers(Actions::DECIDE, &subject_of(routed))
    }

    /// Whether the messages that wait for it can still be handled.
    pub fn takes_messages(&self) -> bool {
        matches!(
            self.phase,
            Phase::Idle(_) | Phase::Runs | Phase::Asleep | Phase::Ended(_)
        )
    }

    /// Whether it can be called.
    pub fn is_ready(&self) -> bool {
        !self.inbox.is_empty() && self.takes_messages()
    }

    pub fn next_arrival(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    pub fn push(&mut self, item: Item) {
        if let Item::Message(routed) = &item {
            self.waiting += slowing(routed);
            self.queues.add(routed);
        }
        self.inbox.push_back(item);
    }

    /// Takes out the first item. The proxy has it until it is [`done`](Self::done).
    pub fn pop(&mut self) -> Option<Item> {
        let mut item = self.inbox.pop_front()?;
        if let Item::Message(routed) = &mut item {
            routed.charge = None;
            self.waiting -= slowing(routed);
            self.key_in_hand = Some(self.queues.take(routed));
        }
        Some(item)
    }

    /// Whether another message of the same queue, waiting for the proxy or in its hands, must leave before this one.
    pub fn is_behind(&self, routed: &Routed) -> bool {
        self.queues.holds_up(routed)
    }

    /// Queues a message that is [behind](Self::is_behind) others.
    pub fn follow(&mut self, routed: Routed) {
        self.waiting += slowing(&routed);
        self.queues.follow(routed);
    }

    /// The proxy is done with the message in hand, if there was one. Returns the messages that waited only for it.
    pub fn done(&mut self) -> Vec<Routed> {
        let Some(key) = self.key_in_hand.take() else {
            return Vec::new();
        };
        let free = self.queues.done(key);
        self.waiting -= free.iter().map(slowing).sum::<usize>();
        free
    }

    /// Whether the message that begins the connection waits here, or is in the proxy's hands, and goes the same way:
    /// nothing may overtake it, as not every client waits for the answer.
    pub fn is_to_begin(&self, routed: &Routed) -> bool {
        let in_hand = self.in_hand.as_ref();
        in_hand.is_some_and(|(_, first)| first.is_beginning() && first.toward == routed.toward)
            || self.queues.has_beginning(routed)
    }

    /// Whether a message that is done here must still wait: a response waits for the held notifications of its queue
    /// that came before it, and everything else for such a response.
    pub fn must_wait(&self, routed: &Routed) -> bool {
        // Most proxies hold nothing; then the session need not be looked up.
        if self.held.is_empty() && self.parked.is_empty() {
            return false;
        }
        let mut held = self.held.values();
        self.parked.holds_up(routed)
            || routed.is_response() && held.any(|held| held.holds_up(routed))
    }

    /// How many waiting bytes here should stop further reading.
    pub fn backlog(&self) -> usize {
        self.waiting + self.parked.excess()
    }

    /// Whether more waits behind the held messages than may be kept.
    pub fn is_jammed(&self) -> bool {
        self.parked.is_too_much()
    }

    /// The parked messages that no longer have to wait, in order.
    pub fn release(&mut self) -> Vec<Routed> {
        match self.parked.is_empty() {
            true => Vec::new(),
            false => self
                .parked
                .release(self.held.values().map(|held| &held.routed)),
        }
    }

    /// Takes everything that the proxy has, in order, as it is to decide nothing more.
    pub fn give_up(&mut self) -> Vec<Routed> {
        let mut all: Vec<_> = self.held.drain().map(|(_, held)| held.routed).collect();
        all.extend(self.in_hand.take().map(|(_, routed)| routed));
        all.sort_by_key(|routed| routed.arrival);
        all
    }
}

/// The subscription of a declaration to such messages, whether or not a power covers them.
#[inline]
fn subscribed<'r>(registration: &'r Registration, routed: &Routed) -> Option<&'r Subscription> {
    let (kind, sender) = (routed.message.kind(), routed.toward.opposite());
    let mut subscriptions = registration.subscriptions.iter();
    subscriptions.find(|wanted| wanted.covers(kind, sender, &routed.method))
}

/// The properties of a message that powers distinguish.
fn subject_of(routed: &Routed) -> Subject<'_> {
    subject(&routed.message, routed.toward.opposite(), &routed.method)
}

/// The subscriptions of a native proxy: everything.
fn everything() -> Vec<Subscription> {
    let all = Pattern::new("*").map(|method| Subscription {
        method,
        sender: None,
        kinds: Kinds::ALL,
        with_body: true,
    });
    all.into_iter().collect()
}

/// By how many bytes of a message the client and the agent are slowed down.
fn slowing(routed: &Routed) -> usize {
    if routed.labels.is_internal {
        return 0;
    }
    routed.cost()
}

/// The messages that wait for native proxies, by their places.
pub struct ForNatives<'r>(pub(super) &'r mut [Hop]);

impl ForNatives<'_> {
    /// The bytes that wait to be written to the program of this one; `None` for a component.
    pub fn outbox(&mut self, index: HopIndex) -> Option<&mut Outbox> {
        Some(&mut self.0.get_mut(index)?.native_mut()?.outbox)
    }

    /// How many bytes wait to be written to this proxy.
    pub(super) fn backlog(&self, index: HopIndex) -> usize {
        self.0.get(index).map_or(0, Hop::backlog)
    }
}
