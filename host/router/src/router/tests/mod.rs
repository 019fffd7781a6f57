//! The router's guarantees, on exact lines. Proxies are scripts; the ends are their outboxes.

mod cancel;
mod dry_run;
mod failure;
mod guards;
mod halted;
mod history;
mod hooks;
mod ids;
mod kept;
mod lists;
mod mcp;
mod native;
mod notices;
mod order;
mod parent;
mod pauses;
mod projects;
mod proof;
mod reads;
mod reports;
mod scope;
mod sessions;
mod sleep;
mod swaps;
mod turns;
mod values;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::{Buf, Bytes};
use tokio::sync::oneshot;

use super::Router;
use crate::{Proxy, Terms};
use acp_chain_channel::{
    Action, Call, Decision, Event, Failure, FailurePolicy, Grant, Kinds, Ledger, MessageId, Offers,
    Outcome, Part, Pattern, Peer, Registration, Reply, Source, Started, Starting, Subscription,
    Tally,
};
use acp_chain_rpc::Message;

/// A script's reaction to an event.
enum Reaction {
    Decided(Decision),
    Told,
    Refused(String),
    Broke(&'static str),
}

type Script = Box<dyn FnMut(&Event, &mut Ledger) -> Reaction + Send>;

/// A proxy whose decisions are made by a closure, which may use the ledger as a guest would.
struct ScriptedProxy {
    ledger: Ledger,
    script: Arc<Mutex<Script>>,
}

impl Part for ScriptedProxy {
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
            Event::List(..) | Event::Call(_) => unreachable!("it has no tools"),
        };
        let said = (self.script.lock().unwrap())(&event, &mut self.ledger);
        let outcome = match said {
            Reaction::Decided(decision) => match self.ledger.take_back(id, decision) {
                Ok(action) => Outcome::Decided(action),
                Err(error) => Outcome::Refused(error.to_string()),
            },
            Reaction::Told => Outcome::Told,
            Reaction::Refused(reason) => Outcome::Refused(reason),
            Reaction::Broke(reason) => Outcome::Broke(Failure::new(reason)),
        };
        let (effects, saved) = self.ledger.take_effects();
        let reply = Reply {
            effects,
            saved,
            outcome,
        };
        Box::pin(async move { (self as Box<dyn Part>, reply) })
    }

    fn take_away(&mut self, id: MessageId) {
        self.ledger.let_go(id);
    }

    fn tally(&self) -> Tally {
        Tally::default()
    }

    fn untold(&mut self) -> Tally {
        Tally::default()
    }
}

/// The parameters of a restart: the first number, and the saved state.
type RestartLog = Arc<Mutex<Vec<(MessageId, Option<String>)>>>;

/// Starts further instances of a script, and records the parameters.
struct ScriptSource {
    script: Arc<Mutex<Script>>,
    method: String,
    terms: Terms,
    starts: RestartLog,
}

impl ScriptSource {
    fn begin(&self, first: MessageId) -> Started {
        let (limits, grant) = (self.terms.limits.clone(), self.terms.grant.clone());
        let mut ledger = Ledger::new(first, limits, grant);
        ledger.start();
        let script = self.script.clone();
        Started {
            part: Box::new(ScriptedProxy { ledger, script }),
            registration: registration(&self.method),
        }
    }
}

impl Source for ScriptSource {
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting {
        self.starts.lock().unwrap().push((first, saved));
        let started = self.begin(first);
        Box::pin(async move { Ok(started) })
    }
}

/// A proxy that cannot be restarted.
struct NoRestart;

impl Source for NoRestart {
    fn start(&self, _: MessageId, _: Option<String>) -> Starting {
        Box::pin(async { Err(Failure::new("there is only one")) })
    }
}

/// A proxy that is busy with each of its first messages until it gets a signal.
struct SlowProxy(VecDeque<oneshot::Receiver<()>>);

impl Part for SlowProxy {
    fn allot(&mut self) -> MessageId {
        1
    }

    fn call(mut self: Box<Self>, _: Event) -> Call {
        let go = self.0.pop_front();
        let reply = Reply {
            effects: Vec::new(),
            saved: None,
            outcome: Outcome::Decided(Action::Forward),
        };
        Box::pin(async move {
            if let Some(go) = go {
                let _ = go.await;
            }
            (self as Box<dyn Part>, reply)
        })
    }

    fn take_away(&mut self, _: MessageId) {}

    fn tally(&self) -> Tally {
        Tally::default()
    }

    fn untold(&mut self) -> Tally {
        Tally::default()
    }
}

fn registration(method: &str) -> Registration {
    let subscription = Subscription {
        method: Pattern::new(method).unwrap(),
        sender: None,
        kinds: Kinds::all(),
        with_body: true,
    };
    Registration {
        subscriptions: vec![subscription],
        on_failure: FailurePolicy::Refuse,
        offers: Offers::default(),
        guard: false,
    }
}

/// A proxy that may do everything, and is not restarted.
fn scripted(
    name: &str,
    method: &str,
    script: impl FnMut(&Event, &mut Ledger) -> Reaction + Send + 'static,
) -> Proxy {
    let terms = Terms {
        grant: Grant::unlimited().into(),
        on_failure: FailurePolicy::Refuse,
        ..Terms::default()
    };
    under(terms, name, method, script).0
}

/// A proxy with other terms; also returns the parameters of its restarts.
fn under(
    terms: Terms,
    name: &str,
    method: &str,
    script: impl FnMut(&Event, &mut Ledger) -> Reaction + Send + 'static,
) -> (Proxy, RestartLog) {
    let starts = Arc::default();
    let again = ScriptSource {
        script: Arc::new(Mutex::new(Box::new(script))),
        method: method.to_owned(),
        terms: terms.clone(),
        starts: Arc::clone(&starts),
    };
    let Started { part, registration } = again.begin(1);
    let proxy = Proxy {
        name: name.to_owned(),
        registration,
        part: Some(part),
        source: Box::new(again),
        terms,
    };
    (proxy, starts)
}

fn slow(method: &str, go: oneshot::Receiver<()>) -> Proxy {
    slow_over(method, [go])
}

fn slow_over<const N: usize>(method: &str, go: [oneshot::Receiver<()>; N]) -> Proxy {
    Proxy {
        name: "slow".to_owned(),
        registration: registration(method),
        part: Some(Box::new(SlowProxy(go.into()))),
        source: Box::new(NoRestart),
        terms: Terms {
            grant: Grant::unlimited().into(),
            ..Terms::default()
        },
    }
}

fn forwards(method: &str) -> Proxy {
    scripted("forwards", method, |_, _| {
        Reaction::Decided(Decision::Forward)
    })
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

fn received(router: &mut Router, peer: Peer) -> Vec<String> {
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
