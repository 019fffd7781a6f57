//! The router's promises, on exact lines. Proxies are scripts; the ends are their outboxes.

mod cancel;
mod failure;
mod ids;
mod order;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::{Buf, Bytes};
use tokio::sync::oneshot;

use super::Router;
use crate::chain::Proxy;
use crate::channel::{
    Action, Bounds, Call, Event, Kinds, Ledger, MessageId, Outcome, Part, Peer, Reply, Subscription,
};
use crate::rpc::Message;

const BOUNDS: Bounds = Bounds {
    requests: 100,
    held: 100,
    held_bytes: 1 << 20,
    effects: 100,
    effect_bytes: 1 << 20,
};

/// A proxy whose decisions are made by a closure, which may use the ledger as a guest would.
struct Scripted<F> {
    ledger: Ledger,
    script: F,
}

impl<F: FnMut(&Event, &mut Ledger) -> Outcome + Send + 'static> Part for Scripted<F> {
    fn allot(&mut self) -> MessageId {
        self.ledger.allot()
    }

    fn call(mut self: Box<Self>, event: Event) -> Call {
        let id = match &event {
            Event::Message(delivery) => {
                self.ledger.hand_in(delivery);
                delivery.id
            }
            Event::Answer(delivery) => {
                self.ledger.answered(delivery.id);
                delivery.id
            }
            Event::Cancel(id) => *id,
        };
        let mut outcome = (self.script)(&event, &mut self.ledger);
        if let Outcome::Decided(action) = outcome {
            outcome = Outcome::Decided(self.ledger.take_back(id, action).unwrap());
        }
        let effects = self.ledger.take_effects();
        let reply = Reply { effects, outcome };
        Box::pin(async move { (self as Box<dyn Part>, reply) })
    }
}

/// A proxy that is busy with each message until it is told to go on.
struct Slow(Arc<Mutex<VecDeque<oneshot::Receiver<()>>>>, MessageId);

impl Part for Slow {
    fn allot(&mut self) -> MessageId {
        self.1 += 1;
        self.1
    }

    fn call(self: Box<Self>, _: Event) -> Call {
        let go = self.0.lock().unwrap().pop_front().unwrap();
        let reply = Reply {
            effects: Vec::new(),
            outcome: Outcome::Decided(Action::Forward),
        };
        Box::pin(async move {
            let _ = go.await;
            (self as Box<dyn Part>, reply)
        })
    }
}

fn wants(method: &str) -> Vec<Subscription> {
    vec![Subscription {
        method: method.to_owned(),
        sender: None,
        kinds: Kinds {
            request: true,
            notification: true,
            response: true,
        },
        with_body: true,
    }]
}

fn scripted(
    name: &str,
    method: &str,
    script: impl FnMut(&Event, &mut Ledger) -> Outcome + Send + 'static,
) -> Proxy {
    let mut ledger = Ledger::new(BOUNDS);
    ledger.start();
    Proxy {
        name: name.to_owned(),
        subscriptions: wants(method),
        part: Box::new(Scripted { ledger, script }),
    }
}

fn forwards(method: &str) -> Proxy {
    scripted("forwards", method, |_, _| Outcome::Decided(Action::Forward))
}

fn say(router: &mut Router, from: Peer, line: &str) {
    let message = Message::parse(Bytes::copy_from_slice(line.as_bytes())).unwrap();
    router.receive(from, message);
    router.pump(1000);
}

fn client(router: &mut Router, line: &str) {
    say(router, Peer::Client, line);
}

fn agent(router: &mut Router, line: &str) {
    say(router, Peer::Agent, line);
}

fn heard(router: &mut Router, peer: Peer) -> Vec<String> {
    let outbox = router.outbox(peer);
    let bytes = outbox.copy_to_bytes(outbox.remaining());
    let text = std::str::from_utf8(&bytes).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn update(session: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","t":"{text}"}}}}"#
    )
}

const PROMPT: &str =
    r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s"}}"#;
