//! Wraps a component: records every call with its outcome, and can make the component fail in any call. The chain sees
//! no difference.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::transcript::watched::{Watch, Watched};
use acp_chain_channel::{
    Action, Call, Effect, Event, Failure, MessageId, Offer, Outcome, Part, Peer, Reply, Source,
    Started, Starting, Tally,
};
use acp_chain_rpc::Message;

/// The observations. Clones share them.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<State>>);

#[derive(Default)]
pub struct State {
    /// Every call, in order.
    pub calls: Vec<CallRecord>,
    /// The calls whose messages the component holds: positions in `calls`.
    pub held: BTreeMap<MessageId, usize>,
    /// The calls whose messages the host took back after `hold-time`: positions in `calls`.
    pub taken: Vec<usize>,
    /// The component's own messages that have not reached an end yet.
    own: Vec<(Peer, Message)>,
    /// The number of messages that the component sent itself.
    pub sent: usize,
    /// The lists of offers that the component returned.
    pub lists: Vec<(Offer, String)>,
    /// The states that the component saved, without duplicates.
    pub saved: Vec<String>,
    /// Why the component did not start or restart.
    pub not_started: Option<Failure>,
    /// The call in which to fail: a position in `calls`.
    pub fails_at: Option<usize>,
    /// Whether the component is restarted without its saved state.
    pub forgets: bool,
}

/// A call of the component.
#[derive(Clone)]
pub struct CallRecord {
    /// The message, with its sender and method; `None` for lists and cancellations.
    pub message: Option<(Peer, Arc<str>, Message)>,
    /// Whether it lists or calls the component's offers.
    pub is_offer: bool,
    pub fate: Fate,
}

/// The fate of a message.
#[derive(Clone)]
pub enum Fate {
    /// The component only observed it.
    Observed,
    /// It is forwarded byte for byte.
    Forward,
    /// This message is sent in its place.
    Replaced(Message),
    /// The component answered it with this message.
    Answered(Message),
    /// It is dropped.
    Discarded,
    /// The component holds it.
    Held,
    /// The component could not decide, for this reason.
    Undecided(String),
    /// The component broke.
    Broke(Failure),
    /// The component was made to fail.
    Failed,
}

impl Seen {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the component sent this message itself. Forgets the message, so each counts once.
    pub fn is_own(&self, to: Peer, message: &Message) -> bool {
        let mut state = self.lock();
        let own = state.own.iter().position(|(peer, own)| {
            *peer == to && own.method() == message.method() && own.body() == message.body()
        });
        own.map(|at| state.own.swap_remove(at)).is_some()
    }
}

impl State {
    /// The call in which the component broke.
    pub fn broken(&self) -> Option<(&CallRecord, &Failure)> {
        self.calls.iter().find_map(|called| match &called.fate {
            Fate::Broke(failure) => Some((called, failure)),
            _ => None,
        })
    }

    pub fn was_failed(&self) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|called| matches!(called.fate, Fate::Failed))
    }

    /// The fate of a message, by its sender and its body, in the calls from position `from` on.
    pub fn fate(&self, from: usize, sender: Peer, body: &str) -> Option<&Fate> {
        let calls = self.calls.get(from..).unwrap_or_default();
        let found = calls.iter().find(|called| {
            let message = called.message.as_ref();
            message.is_some_and(|(peer, _, message)| *peer == sender && message.body() == body)
        });
        found.map(|called| &called.fate)
    }

    fn reply(&mut self, id: Option<MessageId>, called: CallRecord, reply: &Reply) {
        let at = self.calls.len();
        self.calls.push(called);
        for effect in &reply.effects {
            match effect {
                Effect::Request { to, message, .. } | Effect::Notify { to, message } => {
                    self.own.push((*to, message.clone()));
                    self.sent += 1;
                }
                Effect::Settle { id, action } => self.settle(*id, Fate::of(action)),
                Effect::Fail { id, reason } => self.settle(*id, Fate::Undecided(reason.clone())),
                Effect::Cancel { .. }
                | Effect::Wake { .. }
                | Effect::Ask { .. }
                | Effect::Progress { .. }
                | Effect::Changed(_) => {}
            }
        }
        if let Some(saved) = reply
            .saved
            .as_ref()
            .filter(|saved| !self.saved.contains(saved))
        {
            self.saved.push(saved.clone());
        }
        match &reply.outcome {
            Outcome::Decided(Action::Hold) => {
                self.held.extend(id.map(|id| (id, at)));
            }
            // The host settles all messages that the component held.
            Outcome::Broke(_) => self.held.clear(),
            _ => {}
        }
    }

    fn settle(&mut self, id: MessageId, fate: Fate) {
        if let Some(at) = self.held.remove(&id) {
            self.calls[at].fate = fate;
        }
    }
}

impl Fate {
    fn of(action: &Action) -> Self {
        match action {
            Action::Forward => Self::Forward,
            Action::Replace(message) => Self::Replaced(message.clone()),
            Action::Answer(message) => Self::Answered(message.clone()),
            Action::Discard => Self::Discarded,
            Action::Hold => Self::Held,
        }
    }
}

/// The source of an observed component.
pub struct Observed {
    source: Watched,
    seen: Seen,
    watch: Watch,
}

impl Observed {
    /// Observes the components of this source. The watch records whether they are busy.
    pub fn new(source: impl Source + 'static, seen: Seen, watch: Watch) -> Self {
        Self {
            source: Watched::new(Box::new(source), watch.clone()),
            seen,
            watch,
        }
    }
}

impl Source for Observed {
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting {
        let saved = saved.filter(|_| !self.seen.lock().forgets);
        let starting = self.source.start(first, saved);
        let (seen, watch) = (self.seen.clone(), self.watch.clone());
        Box::pin(async move {
            let started = starting.await;
            let Started { part, registration } = started.inspect_err(|failure| {
                seen.lock().not_started = Some(failure.clone());
            })?;
            let part = Box::new(ObservedPart { part, seen, watch });
            Ok(Started { part, registration })
        })
    }
}

struct ObservedPart {
    part: Box<dyn Part>,
    seen: Seen,
    watch: Watch,
}

impl Part for ObservedPart {
    fn allot(&mut self) -> MessageId {
        self.part.allot()
    }

    fn take_away(&mut self, id: MessageId) {
        let mut state = self.seen.lock();
        if let Some(at) = state.held.remove(&id) {
            state.taken.push(at);
        }
        drop(state);
        self.part.take_away(id);
    }

    fn call(self: Box<Self>, event: Event) -> Call {
        let Self { part, seen, watch } = *self;
        let fails = {
            let mut state = seen.lock();
            let fails = state.fails_at == Some(state.calls.len());
            if fails {
                state.fails_at = None;
            }
            fails
        };
        if fails {
            watch.fail();
        }
        Box::pin(async move {
            let (part, reply) = part.call(event.clone()).await;
            {
                let mut state = seen.lock();
                let fate = match &reply.outcome {
                    _ if fails => Fate::Failed,
                    Outcome::Decided(action) => Fate::of(action),
                    Outcome::Told => Fate::Observed,
                    Outcome::Refused(reason) => Fate::Undecided(reason.clone()),
                    Outcome::Broke(failure) => Fate::Broke(failure.clone()),
                };
                let (id, message, is_offer) = match event {
                    Event::Message(delivery) | Event::Answer(delivery) => {
                        let message = (delivery.sender, delivery.method, delivery.message);
                        (Some(delivery.id), Some(message), false)
                    }
                    Event::Call(delivery) => {
                        let message = (delivery.sender, delivery.method, delivery.message);
                        (Some(delivery.id), Some(message), true)
                    }
                    Event::List(offer, _) => {
                        if let Outcome::Decided(Action::Answer(list)) = &reply.outcome {
                            state.lists.push((offer, list.body().to_owned()));
                        }
                        (None, None, true)
                    }
                    Event::Cancel(_) => (None, None, false),
                };
                let called = CallRecord {
                    message,
                    is_offer,
                    fate,
                };
                state.reply(id, called, &reply);
            }
            let part = Box::new(Self { part, seen, watch });
            (part as Box<dyn Part>, reply)
        })
    }

    fn tally(&self) -> Tally {
        self.part.tally()
    }

    fn untold(&mut self) -> Tally {
        self.part.untold()
    }
}
