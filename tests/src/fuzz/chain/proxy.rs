//! Proxies whose actions the bytes choose.

use std::collections::HashSet;
use std::sync::Arc;

use acp_chain::channel::{
    Call, Decision, Delivery, Event, Failure, FailurePolicy, Grant, Kinds, Ledger, MessageId,
    Offers, Outcome, Owner, Part, Pattern, Peer, Registration, Reply, Source, Started, Starting,
    Subscription, Tally,
};
use acp_chain::limits::Limits;
use acp_chain::rpc;
use tokio::sync::oneshot;

use super::World;
use super::ends::{body, tag};
use super::model::{Kind, Tag};

/// The methods to which proxies subscribe; all others pass unseen.
const SEEN: [&str; 5] = ["request", "tell", "own", "session/prompt", "session/load"];

/// Starts the instances of a proxy.
pub(super) struct Script {
    pub world: World,
    pub hop: usize,
}

impl Script {
    pub fn begin(&self, first: MessageId) -> Started {
        let mut ledger = Ledger::new(
            first,
            Arc::new(Limits::default()),
            Arc::new(Grant::unlimited()),
        );
        ledger.start();
        let subscription = |method| Subscription {
            method: Pattern::new(method).expect("a valid pattern"),
            sender: None,
            kinds: Kinds::all(),
            with_body: true,
        };
        Started {
            part: Box::new(ScriptedProxy {
                world: self.world.clone(),
                hop: self.hop,
                version: first >> 32,
                is_broken: false,
                held: HashSet::new(),
                asked: HashSet::new(),
                values: HashSet::new(),
                ledger,
            }),
            registration: Registration {
                subscriptions: SEEN.map(subscription).into(),
                on_failure: FailurePolicy::Refuse,
                guard: false,
                offers: Offers::default(),
            },
        }
    }
}

impl Source for Script {
    fn start(&self, first: MessageId, _: Option<String>) -> Starting {
        let fails = self.world.lock().choose(8) == 1;
        let is_newer = self.world.lock().model.is_newer(self.hop, first >> 32);
        let started = if fails {
            if !is_newer {
                self.world.lock().model.breaks(self.hop, None);
            }
            Err(Failure::new("it does not start"))
        } else {
            let mut world = self.world.lock();
            world.model.is_replaced(self.hop, first >> 32);
            drop(world);
            Ok(self.begin(first))
        };
        Box::pin(async move { started })
    }
}

/// One instance.
struct ScriptedProxy {
    world: World,
    hop: usize,
    version: u64,
    /// Whether it broke after a newer version had replaced it.
    is_broken: bool,
    /// The messages that this instance holds.
    held: HashSet<MessageId>,
    /// The open requests of this instance.
    asked: HashSet<MessageId>,
    /// The open requests of this instance for stored values.
    values: HashSet<MessageId>,
    ledger: Ledger,
}

impl Part for ScriptedProxy {
    fn allot(&mut self) -> MessageId {
        self.ledger.allot()
    }

    fn take_away(&mut self, id: MessageId) {
        self.ledger.let_go(id);
        self.lets_go(id);
    }

    fn call(mut self: Box<Self>, event: Event) -> Call {
        let go = self.is_busy();
        Box::pin(async move {
            if let Some(go) = go {
                // If the sender is dropped, the call continues too.
                let _ = go.await;
            }
            let outcome = self.handle(&event);
            let (effects, saved) = match outcome {
                Outcome::Broke(_) => (Vec::new(), None),
                _ => self.ledger.take_effects(),
            };
            let reply = Reply {
                effects,
                saved,
                outcome,
            };
            (self as Box<dyn Part>, reply)
        })
    }

    fn tally(&self) -> Tally {
        Tally::default()
    }

    fn untold(&mut self) -> Tally {
        Tally::default()
    }
}

/// The host drops the instance, with the messages and requests that it still has.
impl Drop for ScriptedProxy {
    fn drop(&mut self) {
        let (held, asked) = (self.held.drain(), self.asked.drain());
        let mut world = self.world.lock();
        let mut had_something = world.model.is_gone(self.hop, held, asked);
        had_something |= world.model.loses_values(self.hop, &self.values);
        let may_be_ended = self.is_broken || world.model.may_be_ended(self.hop, self.version);
        drop(world);
        assert!(
            !had_something || may_be_ended || std::thread::panicking(),
            "a dropped version still had something to finish"
        );
    }
}

impl ScriptedProxy {
    fn choose(&self, count: usize) -> usize {
        self.world.lock().choose(count)
    }

    /// For a slow call, the signal to continue.
    fn is_busy(&self) -> Option<oneshot::Receiver<()>> {
        (self.choose(4) == 1).then(|| {
            let (go, wait) = oneshot::channel();
            self.world.lock().busy.push(go);
            wait
        })
    }

    fn handle(&mut self, event: &Event) -> Outcome {
        match event {
            Event::List(..) | Event::Call(_) => unreachable!("the proxy has no tools"),
            Event::Message(delivery) => {
                self.ledger.hand_in(delivery);
                let tag = tag(delivery.message.body());
                if let Some(tag) = tag {
                    self.world.lock().model.passes(self.hop, tag);
                }
                if self.choose(16) == 1 {
                    return self.break_at(tag);
                }
                self.act_by_the_way();
                self.decide(delivery, tag)
            }
            Event::Answer(delivery) if delivery.method.ends_with("-value") => {
                self.ledger.answered(delivery.id);
                let is_own = self.values.remove(&delivery.id);
                assert!(is_own, "another version has asked");
                self.world.lock().model.gets_value(self.hop, delivery.id);
                if self.choose(16) == 1 {
                    return self.break_at(None);
                }
                self.act_by_the_way();
                Outcome::Told
            }
            Event::Answer(delivery) => {
                self.ledger.answered(delivery.id);
                let is_own = self.asked.remove(&delivery.id);
                assert!(is_own, "another version has asked");
                let answer = tag(delivery.message.body());
                let mut world = self.world.lock();
                world.model.is_answered(self.hop, delivery.id, answer);
                drop(world);
                if self.choose(16) == 1 {
                    return self.break_at(None);
                }
                self.act_by_the_way();
                Outcome::Told
            }
            Event::Cancel(id) => {
                match self.choose(3) {
                    0 => self.settle(*id, 3),
                    1 => {
                        let error = rpc::Error::new(-32800, "cancelled");
                        self.ledger.refuse(*id, error);
                        self.end_held(*id);
                    }
                    _ => {}
                }
                Outcome::Told
            }
        }
    }

    fn break_at(&mut self, at: Option<Tag>) -> Outcome {
        let mut world = self.world.lock();
        // The model learns what a replaced version had when that version is dropped.
        self.is_broken = world.model.is_old(self.hop, self.version);
        if !self.is_broken {
            world.model.breaks(self.hop, at);
        }
        Outcome::Broke(Failure::new("trap"))
    }

    /// Sends a message, settles a held one, cancels a request of its own, or loads or stores a value.
    fn act_by_the_way(&mut self) {
        match self.choose(8) {
            1 => self.send(Kind::Notification),
            2 => self.send(Kind::Request),
            3 | 4 => {
                let mut held = self.world.lock().model.held(self.hop);
                held.retain(|(id, _)| self.held.contains(id));
                if !held.is_empty() {
                    let (id, _) = held[self.choose(held.len())];
                    let how = self.choose(5);
                    self.settle(id, how);
                }
            }
            5 => {
                let mut asked = self.world.lock().model.own_requests(self.hop);
                asked.retain(|(id, _)| self.asked.contains(id));
                if !asked.is_empty() {
                    let (id, tag) = asked[self.choose(asked.len())];
                    self.ledger.cancel(id).expect("an open request");
                    self.world.lock().model.withdraws(tag);
                }
            }
            6 => self.keep(),
            _ => {}
        }
    }

    /// Loads or stores a value of the user, or of a session's project.
    fn keep(&mut self) {
        let of = match self.choose(3) {
            0 => Owner::User,
            session => Owner::Project(format!("s{session}").into()),
        };
        let id = if self.choose(2) == 0 {
            self.ledger.load_value(of, "k")
        } else {
            let value = Some("v".to_owned());
            self.ledger.store_value(of, "k", 1, value)
        };
        let id = id.expect("permitted");
        self.values.insert(id);
        self.world.lock().model.asks_for_value(self.hop, id);
    }

    fn send(&mut self, kind: Kind) {
        let to = [Peer::Client, Peer::Agent][self.choose(2)];
        let choice = self.choose(3);
        let mut world = self.world.lock();
        let model = &mut world.model;
        let session = model.speaks_in(self.hop, choice);
        let tag = model.sets_out(kind, to, session, false, |tag| body(tag, session));
        model.may_be_refused(self.hop, tag);
        let params = model.body(tag).to_owned();
        if kind == Kind::Request {
            let id = self.ledger.request(to, "own", &params).expect("permitted");
            model.asks(self.hop, id, tag);
            drop(world);
            self.asked.insert(id);
        } else {
            self.ledger.notify(to, "own", &params).expect("permitted");
        }
    }

    /// Settles a held message in the way numbered `how`, if its kind permits that.
    fn settle(&mut self, id: MessageId, how: usize) {
        let Some(tag) = self.tag_of_held(id) else {
            return;
        };
        if how == 4 {
            self.ledger.fail(id, "no").expect("a held message");
            self.lets_go(id);
            return self.world.lock().model.fails_on(self.hop, tag);
        }
        let kind = self.world.lock().model.kind(tag);
        let decision = self.become_of(kind, tag, how);
        self.ledger.settle(id, decision).expect("a held message");
        self.lets_go(id);
    }

    fn lets_go(&mut self, id: MessageId) -> Option<Tag> {
        self.held.remove(&id);
        self.world.lock().model.lets_go(self.hop, id)
    }

    fn tag_of_held(&self, id: MessageId) -> Option<Tag> {
        let mut held = self.world.lock().model.held(self.hop);
        held.retain(|(id, _)| self.held.contains(id));
        let found = held.iter().find(|(held, _)| *held == id);
        found.map(|(_, tag)| *tag)
    }

    fn end_held(&mut self, id: MessageId) {
        if let Some(tag) = self.lets_go(id) {
            self.world.lock().model.ends(tag);
        }
    }

    /// A decision, with its effect on the message recorded in the model.
    fn become_of(&mut self, kind: Kind, tag: Tag, how: usize) -> Decision {
        let mut world = self.world.lock();
        let model = &mut world.model;
        match (how, kind) {
            (1, Kind::Notification | Kind::Request) => {
                let body = if model.is_load(tag) {
                    model.body(tag).replace('}', r#","more":"x"}"#)
                } else {
                    body(tag, model.session(tag)).replace('}', r#","more":"x"}"#)
                };
                model.changes(tag, Some(body.clone()));
                Decision::Replace(body)
            }
            (1, Kind::Answer) => {
                let body = format!(r#"{{"changed":[],"t":{tag},"by":0}}"#);
                model.changes(tag, Some(body.clone()));
                Decision::Replace(body)
            }
            (2, Kind::Notification) => {
                model.ends(tag);
                Decision::Discard
            }
            (2, Kind::Request) => {
                model.ends(tag);
                Decision::Respond(r#"{"by":"a proxy"}"#.to_owned())
            }
            (3, Kind::Request) => {
                model.ends(tag);
                Decision::Reject(rpc::Error::new(2, "not here"))
            }
            (2 | 3, Kind::Answer) => {
                // It is forwarded as an error without a tag.
                model.ends(tag);
                Decision::Reject(rpc::Error::new(2, "not this"))
            }
            _ => Decision::Forward,
        }
    }

    fn decide(&mut self, delivery: &Delivery, tag: Option<Tag>) -> Outcome {
        let Some(tag) = tag else {
            // An error of the host's or a proxy's.
            let decision = self.ledger.take_back(delivery.id, Decision::Forward);
            return Outcome::Decided(decision.expect("every message can be forwarded"));
        };
        let kind = self.world.lock().model.kind(tag);
        let decision = match self.choose(8) {
            how @ 1..=3 => self.become_of(kind, tag, how),
            4 | 5 => {
                self.world.lock().model.holds(self.hop, delivery.id, tag);
                self.held.insert(delivery.id);
                Decision::Hold
            }
            6 => {
                self.ledger.close(delivery.id);
                self.world.lock().model.fails_on(self.hop, tag);
                return Outcome::Refused("no idea".to_owned());
            }
            _ => Decision::Forward,
        };
        let action = self.ledger.take_back(delivery.id, decision);
        Outcome::Decided(action.unwrap_or_else(|error| panic!("{error}")))
    }
}
