//! The router's promises, on exact lines. Proxies are scripts; the ends are their outboxes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::{Buf, Bytes};
use tokio::sync::oneshot;

use super::Router;
use crate::chain::Proxy;
use crate::channel::{
    Action, Bounds, Call, Event, Kinds, Ledger, MessageId, Outcome, Part, Peer, Reply, Subscription,
};
use crate::rpc::{self, Message};

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

#[test]
fn an_id_is_the_hosts_on_the_far_side_and_comes_back_as_it_went() {
    let mut router = Router::new(vec![forwards("*"), forwards("other")], None);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0", "id":0,"method":"m","params":{"n":1e400},"x":1}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Agent),
        [r#"{"jsonrpc":"2.0", "id":1,"method":"m","params":{"n":1e400},"x":1}"#]
    );
    agent(
        &mut router,
        r#"{"result":{"s":"\u00e9"}, "id":1,"jsonrpc":"2.0"}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"result":{"s":"\u00e9"}, "id":0,"jsonrpc":"2.0"}"#]
    );
    // Answered already: dropped.
    agent(&mut router, r#"{"result":2, "id":1,"jsonrpc":"2.0"}"#);
    assert!(heard(&mut router, Peer::Client).is_empty());
}

#[test]
fn an_id_that_is_in_flight_is_refused_and_a_free_one_is_not() {
    let mut router = Router::new(vec![], None);
    client(&mut router, r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#);
    client(&mut router, r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#);
    let answers = heard(&mut router, Peer::Client);
    assert!(
        answers[0].contains(r#""id":null"#) && answers[0].contains("-32600"),
        "{answers:?}"
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#]
    );
    client(&mut router, r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#);
    assert_eq!(heard(&mut router, Peer::Agent).len(), 2);
}

#[test]
fn what_conductors_speak_with_proxies_is_refused_at_the_ends() {
    let mut router = Router::new(vec![], None);
    for from in [Peer::Client, Peer::Agent] {
        say(
            &mut router,
            from,
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{}}"#,
        );
        say(
            &mut router,
            from,
            r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{}}"#,
        );
        let answers = heard(&mut router, from);
        assert!(
            answers.len() == 1 && answers[0].contains("-32600"),
            "{answers:?}"
        );
        assert!(heard(&mut router, from.opposite()).is_empty());
    }
}

#[test]
fn a_response_waits_for_the_notifications_that_a_proxy_holds() {
    let mut first = None;
    let holds = scripted("holds", "session/update", move |event, ledger| {
        let Event::Message(delivery) = event else {
            panic!("{event:?}")
        };
        match first.take() {
            // The second update settles the first, and goes on itself.
            Some(held) => {
                ledger
                    .settle(held, Action::Replace(r#"{"t":"settled"}"#.into()))
                    .unwrap();
                Outcome::Decided(Action::Forward)
            }
            None => {
                first = Some(delivery.id);
                Outcome::Decided(Action::Hold)
            }
        }
    });
    let mut router = Router::new(vec![holds], None);
    client(&mut router, PROMPT);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"q","method":"m","params":{"sessionId":"t"}}"#,
    );
    agent(&mut router, &update("s", "held"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":"waits"}"#);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s","after":1}}"#,
    );
    assert!(
        heard(&mut router, Peer::Client).is_empty(),
        "the session's line stands still"
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":"other session"}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":"q","result":"other session"}"#]
    );
    agent(&mut router, &update("s", "later"));
    assert_eq!(
        heard(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"t":"settled"}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":"p","result":"waits"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s","after":1}}"#.to_owned(),
            update("s", "later"),
        ]
    );
}

/// The client knows the session as `a`, the agent as `b`.
#[tokio::test]
async fn an_answer_travels_in_the_line_of_the_session_that_its_request_had_there() {
    let renames = scripted("renames", "*", |event, _| {
        let Event::Message(delivery) = event else {
            panic!("{event:?}")
        };
        let (from, to) = match delivery.sender {
            Peer::Client => (r#""a""#, r#""b""#),
            Peer::Agent => (r#""b""#, r#""a""#),
        };
        let body = delivery.message.body().replace(from, to);
        Outcome::Decided(Action::Replace(body))
    });
    let (go, wait) = oneshot::channel();
    let slow = Proxy {
        name: "slow".to_owned(),
        subscriptions: wants("session/update"),
        part: Box::new(Slow(Arc::new(Mutex::new(VecDeque::from([wait]))), 0)),
    };
    let mut router = Router::new(vec![renames, slow], None);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"a"}}"#,
    );
    agent(&mut router, &update("b", "first"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(heard(&mut router, Peer::Client).is_empty());
    go.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    let answer = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#.to_owned();
    assert_eq!(
        heard(&mut router, Peer::Client),
        [update("a", "first"), answer]
    );
}

#[test]
fn a_proxy_that_holds_a_line_for_too_long_is_given_up() {
    let holds = scripted("holds", "session/update", |_, _| {
        Outcome::Decided(Action::Hold)
    });
    let mut router = Router::new(vec![holds], None);
    client(&mut router, PROMPT);
    agent(&mut router, &update("s", "held"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let long = "x".repeat(1 << 20);
    let long =
        format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"sessionId":"s","x":"{long}"}}}}"#);
    for _ in 0..15 {
        agent(&mut router, &long);
    }
    assert!(heard(&mut router, Peer::Client).is_empty());
    agent(&mut router, &long);
    let came = heard(&mut router, Peer::Client);
    assert_eq!(came.len(), 17, "the answer, and all that waited behind it");
    assert!(came[0].contains(r#""id":"p""#), "{}", came[0]);
}

#[test]
fn a_proxy_asks_and_settles_what_it_held() {
    let mut held = None;
    let asks = scripted("asks", "session/prompt", move |event, ledger| match event {
        Event::Message(delivery) => {
            ledger
                .request(Peer::Client, "fs/read_text_file", r#"{"path":"/x"}"#)
                .unwrap();
            held = Some(delivery.id);
            Outcome::Decided(Action::Hold)
        }
        Event::Answer(delivery) => {
            let body = delivery.message.body().to_owned();
            ledger
                .settle(held.take().unwrap(), Action::Replace(body))
                .unwrap();
            Outcome::Told
        }
        Event::Cancel(_) => panic!("{event:?}"),
    });
    let mut router = Router::new(vec![forwards("*"), asks, forwards("*")], None);
    client(&mut router, PROMPT);
    // What overtakes a held request does so by design: a session/cancel must never wait.
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"path":"/x"}}"#]
    );
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":"c"}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Agent),
        [
            r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"content":"c"}}"#,
        ]
    );
}

#[test]
fn a_cancellation_names_the_id_of_the_hop_and_keeps_the_rest() {
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, PROMPT);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"_meta":{"t":1},"requestId":"p"}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Agent)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"_meta":{"t":1},"requestId":1}}"#
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"x"}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"x"}}"#]
    );
    // It crosses its answer, names nothing, or names what never was: harmless.
    for params in [
        r#"{"requestId":"p"}"#,
        "{}",
        r#"{"requestId":{}}"#,
        r#"{"requestId":99}"#,
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{params}}}"#);
        client(&mut router, &line);
    }
    assert!(heard(&mut router, Peer::Agent).is_empty());
}

#[test]
fn a_cancellation_from_the_agent_reaches_the_client() {
    let mut router = Router::new(vec![forwards("*")], None);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{}}"#,
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#
    );
}

#[test]
fn a_cancellation_of_a_held_request_is_told_to_the_holder() {
    let mut asked = None;
    let holds = scripted(
        "holds",
        "session/prompt",
        move |event, ledger| match event {
            Event::Message(_) => {
                asked = ledger.request(Peer::Agent, "own", "null").ok();
                Outcome::Decided(Action::Hold)
            }
            Event::Cancel(id) => {
                ledger.cancel(asked.unwrap()).unwrap();
                let error = rpc::Error::new(-32800, "Request cancelled");
                ledger.settle(*id, Action::Reject(error)).unwrap();
                Outcome::Told
            }
            Event::Answer(_) => Outcome::Told,
        },
    );
    let mut router = Router::new(vec![holds], None);
    client(&mut router, PROMPT);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"Request cancelled"}}"#]
    );
    assert_eq!(
        heard(&mut router, Peer::Agent),
        [
            r#"{"jsonrpc":"2.0","id":2,"method":"own"}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}"#,
        ]
    );
}

#[test]
fn a_proxy_may_answer_in_the_agents_place() {
    let answers = scripted("answers", "m", |_, _| {
        Outcome::Decided(Action::Respond("7".into()))
    });
    let mut router = Router::new(vec![forwards("*"), answers], None);
    client(&mut router, r#"{"jsonrpc":"2.0","id":4,"method":"m"}"#);
    assert!(heard(&mut router, Peer::Agent).is_empty());
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":4,"result":7}"#]
    );
}

#[test]
fn a_proxy_that_cannot_decide_fails_that_message_only() {
    let mut calls = 0;
    let fails = scripted("fails", "*", move |_, _| {
        calls += 1;
        match calls {
            1..=3 => Outcome::Refused("no idea".to_owned()),
            _ => Outcome::Decided(Action::Forward),
        }
    });
    let mut router = Router::new(vec![fails], None);
    client(&mut router, PROMPT);
    let answers = heard(&mut router, Peer::Client);
    assert!(
        answers[0].contains("the proxy `fails` failed on session/prompt: no idea"),
        "{answers:?}"
    );
    agent(&mut router, &update("s", "lost"));
    client(&mut router, r#"{"jsonrpc":"2.0","method":"lost"}"#);
    client(&mut router, PROMPT);
    assert_eq!(heard(&mut router, Peer::Agent).len(), 1);
    assert!(heard(&mut router, Peer::Client).is_empty());
}

#[test]
fn when_a_proxy_dies_everything_that_it_had_is_answered() {
    let dies = scripted("dies", "*", |event, ledger| match event {
        Event::Message(delivery) if &*delivery.method == "die" => Outcome::Died("trap".into()),
        _ => {
            ledger.request(Peer::Agent, "own", "null").unwrap();
            Outcome::Decided(Action::Hold)
        }
    });
    let mut router = Router::new(vec![dies], None);
    client(&mut router, PROMPT);
    client(&mut router, r#"{"jsonrpc":"2.0","id":"d","method":"die"}"#);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"later","method":"m"}"#,
    );
    let answers = heard(&mut router, Peer::Client);
    assert_eq!(answers.len(), 3);
    for (answer, id) in answers.iter().zip([r#""p""#, r#""d""#, r#""later""#]) {
        assert!(answer.contains(id) && answer.contains("`dies`"), "{answer}");
    }
    assert_eq!(
        heard(&mut router, Peer::Agent)[1],
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}"#
    );
    // The answer to what it had asked comes too late for it.
    agent(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":1}"#);
    assert!(heard(&mut router, Peer::Client).is_empty());
}

#[test]
fn when_the_agent_is_lost_nobody_waits_for_it() {
    let mut router = Router::new(vec![forwards("*")], None);
    client(&mut router, PROMPT);
    router.lose(Peer::Agent, &rpc::Error::new(-32603, "gone"));
    router.pump(1000);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"later","method":"m"}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32603,"message":"gone"}}"#,
            r#"{"jsonrpc":"2.0","id":"later","error":{"code":-32603,"message":"gone"}}"#,
        ]
    );
    assert!(!router.is_owed(Peer::Client));
}

#[tokio::test]
async fn a_busy_proxy_keeps_only_what_it_may_concern() {
    let (go, wait) = oneshot::channel();
    let waits = Arc::new(Mutex::new(VecDeque::from([wait])));
    let slow = Proxy {
        name: "slow".to_owned(),
        subscriptions: wants("session/prompt"),
        part: Box::new(Slow(waits, 0)),
    };
    let mut router = Router::new(vec![slow], None);
    client(&mut router, PROMPT);
    let note = |session: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"sessionId":"{session}"}}}}"#)
    };
    client(&mut router, &note("s"));
    client(&mut router, &note("t"));
    agent(&mut router, &update("s", "the other way"));
    assert_eq!(heard(&mut router, Peer::Agent), [note("t")]);
    assert_eq!(
        heard(&mut router, Peer::Client),
        [update("s", "the other way")]
    );
    go.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    assert_eq!(
        heard(&mut router, Peer::Agent),
        [PROMPT.replace(r#""p""#, "1"), note("s")]
    );
}
