//! Wraps a component: reports its restarts, records its calls with their outcomes, and can make it fail in any call, as
//! a trap would. The chain sees no difference.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use tokio::sync::Notify;

use acp_chain_channel::{
    Action, Call, Effect, Event, Failure, MessageId, Offer, Outcome, Part, Peer, Reply, Source,
    Started, Starting, Tally,
};
use acp_chain_rpc::{Message, Mutex};
use acp_chain_sandbox::Guest;

/// The observations of a component, and the failures to cause. Clones share them.
#[derive(Clone, Default)]
pub struct Observations(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    restarted: Notify,
}

#[derive(Default)]
pub struct State {
    /// Whether calls are only counted. A transcript needs no more, and would keep all messages.
    only_counts: bool,
    /// The number of starts and calls in progress.
    busy: usize,
    /// The number of calls that have begun.
    begun: usize,
    has_started: bool,
    /// The saved states of the restarts that [`Observations::restarted`] has not returned yet.
    restarts: Vec<Option<String>>,
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
    /// The number of the call in which to fail: its position in `calls`.
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
    /// Its result; or the fate of its message, once the component has settled that.
    pub outcome: Outcome,
    /// Whether the component was made to fail.
    pub was_failed: bool,
}

impl Observations {
    /// Observations without a record of the calls.
    pub fn without_record() -> Self {
        let observations = Self::default();
        observations.lock().only_counts = true;
        observations
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }

    /// Takes the record of the calls so far. What was held, sent or saved in them is forgotten, and restarts as well.
    pub fn take_calls(&self) -> Vec<CallRecord> {
        let mut state = self.lock();
        state.held.clear();
        state.taken.clear();
        state.restarts.clear();
        state.own.clear();
        state.lists.clear();
        state.saved.clear();
        std::mem::take(&mut state.calls)
    }

    /// Makes the component fail in its next call.
    pub fn fail_next(&self) {
        let mut state = self.lock();
        state.fails_at = Some(state.begun);
    }

    /// Waits until the component is restarted, and returns its saved state. Cancel safe.
    pub async fn restarted(&self) -> Option<String> {
        loop {
            let mut restarted = std::pin::pin!(self.0.restarted.notified());
            restarted.as_mut().enable();
            let next = {
                let mut state = self.lock();
                (!state.restarts.is_empty()).then(|| state.restarts.remove(0))
            };
            match next {
                Some(saved) => return saved,
                None => restarted.await,
            }
        }
    }

    /// Whether the component is starting, or in a call.
    pub fn is_busy(&self) -> bool {
        self.lock().busy > 0
    }

    /// Marks the component as busy until the result is dropped.
    fn work(&self) -> Busy {
        self.lock().busy += 1;
        Busy(self.clone())
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

/// Marks the component as busy until dropped.
struct Busy(Observations);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.lock().busy -= 1;
    }
}

impl State {
    /// Whether the call that begins now must fail.
    fn begins(&mut self) -> bool {
        let fails = self.fails_at.take_if(|at| *at == self.begun).is_some();
        self.begun += 1;
        fails
    }

    /// The call in which the component broke by itself.
    pub fn broken(&self) -> Option<(&CallRecord, &Failure)> {
        let mut calls = self.calls.iter().filter(|called| !called.was_failed);
        calls.find_map(|called| match &called.outcome {
            Outcome::Broke(failure) => Some((called, failure)),
            _ => None,
        })
    }

    pub fn was_failed(&self) -> bool {
        self.calls.iter().any(|called| called.was_failed)
    }

    /// The fate of a message, by its sender and its body, in the calls from position `from` on.
    pub fn fate(&self, from: usize, sender: Peer, body: &str) -> Option<&Outcome> {
        let calls = self.calls.get(from..).unwrap_or_default();
        let found = calls.iter().find(|called| {
            let message = called.message.as_ref();
            message.is_some_and(|(peer, _, message)| *peer == sender && message.body() == body)
        });
        found.map(|called| &called.outcome)
    }

    fn record(&mut self, event: Event, was_failed: bool, reply: &Reply) {
        if self.only_counts {
            return;
        }
        let is_offer = matches!(event, Event::Call(_) | Event::List(..));
        let (id, message) = match event {
            Event::Message(delivery) | Event::Answer(delivery) | Event::Call(delivery) => {
                let message = (delivery.sender, delivery.method, delivery.message);
                (Some(delivery.id), Some(message))
            }
            Event::List(offer, _) => {
                if let Outcome::Decided(Action::Answer(list)) = &reply.outcome {
                    self.lists.push((offer, list.body().to_owned()));
                }
                (None, None)
            }
            Event::Cancel(_) => (None, None),
        };
        let at = self.calls.len();
        self.calls.push(CallRecord {
            message,
            is_offer,
            outcome: reply.outcome.clone(),
            was_failed,
        });
        for effect in &reply.effects {
            match effect {
                Effect::Request { to, message, .. } | Effect::Notify { to, message } => {
                    self.own.push((*to, message.clone()));
                    self.sent += 1;
                }
                Effect::Settle { id, action } => self.settle(*id, Outcome::Decided(action.clone())),
                Effect::Fail { id, reason } => self.settle(*id, Outcome::Refused(reason.clone())),
                Effect::Cancel { .. }
                | Effect::Wake { .. }
                | Effect::Load { .. }
                | Effect::Store { .. }
                | Effect::Ask { .. }
                | Effect::Progress { .. }
                | Effect::Changed(_) => {}
            }
        }
        let saved = reply.saved.as_ref();
        if let Some(saved) = saved.filter(|saved| !self.saved.contains(saved)) {
            self.saved.push(saved.clone());
        }
        match &reply.outcome {
            Outcome::Decided(Action::Hold) => self.held.extend(id.map(|id| (id, at))),
            // The host settles all messages that the component held.
            Outcome::Broke(_) => self.held.clear(),
            _ => {}
        }
    }

    fn settle(&mut self, id: MessageId, outcome: Outcome) {
        if let Some(at) = self.held.remove(&id) {
            self.calls[at].outcome = outcome;
        }
    }
}

/// The source of an observed component.
pub struct ObservedSource {
    pub guest: Guest,
    pub observations: Observations,
}

impl Source for ObservedSource {
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting {
        let observations = self.observations.clone();
        let (saved, is_again) = {
            let mut state = observations.lock();
            let is_again = std::mem::replace(&mut state.has_started, true);
            (saved.filter(|_| !state.forgets), is_again)
        };
        let starting = self.guest.start(first, saved.clone());
        let busy = observations.work();
        Box::pin(async move {
            let _busy = busy;
            let Started { part, registration } = starting.await.inspect_err(|failure| {
                observations.lock().not_started = Some(failure.clone());
            })?;
            if is_again {
                observations.lock().restarts.push(saved);
                observations.0.restarted.notify_waiters();
            }
            let part = Box::new(ObservedPart { part, observations });
            Ok(Started { part, registration })
        })
    }
}

struct ObservedPart {
    part: Box<dyn Part>,
    observations: Observations,
}

impl Part for ObservedPart {
    fn allot(&mut self) -> MessageId {
        self.part.allot()
    }

    fn take_away(&mut self, id: MessageId) {
        let mut state = self.observations.lock();
        if let Some(at) = state.held.remove(&id) {
            state.taken.push(at);
        }
        drop(state);
        self.part.take_away(id);
    }

    fn call(self: Box<Self>, event: Event) -> Call {
        let Self { part, observations } = *self;
        let busy = observations.work();
        let fails = observations.lock().begins();
        Box::pin(async move {
            let _busy = busy;
            let (part, reply) = if fails {
                let reply = Reply {
                    effects: Vec::new(),
                    saved: None,
                    outcome: Outcome::Broke(Failure::new("its test let it fail")),
                };
                (part, reply)
            } else {
                part.call(event.clone()).await
            };
            observations.lock().record(event, fails, &reply);
            let part = Box::new(Self { part, observations });
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
