//! Proxies that are replaced by newer versions while messages pass.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;

use super::{
    NoRestart, PROMPT, Reaction, RestartLog, Script, ScriptSource, agent, client, forwards,
    received, scripted, slow, under, update,
};
use crate::router::Router;
use crate::{Swap, Terms};
use acp_chain_channel::{
    Decision, Edit, Event, Failure, FailurePolicy, Grant, Ledger, MessageId, Peer, Source, Starting,
};

type SwapResult = oneshot::Receiver<Result<(), Failure>>;

fn terms() -> Terms {
    Terms {
        grant: Grant::unlimited().into(),
        on_failure: FailurePolicy::Restart,
        sleep_after: None,
        ..Terms::default()
    }
}

fn swap(name: &str, source: Box<dyn Source>) -> (Swap, SwapResult) {
    let (done, is_done) = oneshot::channel();
    let swap = Swap {
        proxy: name.to_owned(),
        source,
        terms: terms(),
        on_failure: Some(FailurePolicy::Restart),
        done,
        cut_short: Box::new(|_| ()),
    };
    (swap, is_done)
}

/// A newer version of the proxy `p`; also returns the parameters of its start.
fn newer(
    method: &str,
    script: impl FnMut(&Event, &mut Ledger) -> Reaction + Send + 'static,
) -> (Swap, SwapResult, RestartLog) {
    let (proxy, starts) = under(terms(), "p", method, script);
    let (swap, done) = swap("p", proxy.source);
    (swap, done, starts)
}

/// A version that appends its name to the messages that it sees.
fn marks(name: &'static str) -> impl FnMut(&Event, &mut Ledger) -> Reaction {
    move |_, _| {
        Reaction::Decided(Decision::Edit(vec![Edit {
            pointer: "/by".to_owned(),
            value: Some(format!(r#""{name}""#)),
        }]))
    }
}

fn is_done(done: &mut SwapResult) -> bool {
    matches!(done.try_recv(), Ok(Ok(())))
}

fn why_not(done: &mut SwapResult) -> String {
    match done.try_recv() {
        Ok(Err(failure)) => failure.to_string(),
        other => panic!("it is in its place, or nobody knows: {other:?}"),
    }
}

/// A version that holds prompts, asks the client about them, and settles them with the answer.
fn asks() -> impl FnMut(&Event, &mut Ledger) -> Reaction {
    let mut held = None;
    move |event, ledger| match event {
        Event::Message(delivery) if &*delivery.method == "session/prompt" => {
            held = Some(delivery.id);
            ledger.request(Peer::Client, "own", "{}").unwrap();
            Reaction::Decided(Decision::Hold)
        }
        Event::Answer(_) => {
            ledger
                .settle(held.take().unwrap(), Decision::Forward)
                .unwrap();
            Reaction::Told
        }
        _ => Reaction::Decided(Decision::Forward),
    }
}

#[test]
fn a_newer_version_gets_later_messages_and_the_saved_state() {
    let mut seen = 0;
    let (first, _) = under(terms(), "p", "session/update", move |_, ledger| {
        seen += 1;
        ledger.save(format!("{seen}")).unwrap();
        Reaction::Decided(Decision::Forward)
    });
    let mut router = Router::new(vec![first], None);
    agent(&mut router, &update("s", "a"));
    let (second, mut done, starts) = newer("session/update", marks("second"));
    router.swap(second);
    assert!(is_done(&mut done));
    assert_eq!(
        starts.lock().unwrap()[..],
        [((1 << 32) + 1, Some("1".to_owned()))]
    );
    agent(&mut router, &update("s", "b"));
    let came = received(&mut router, Peer::Client);
    assert_eq!(came[0], update("s", "a"));
    assert!(came[1].contains(r#""t":"b","by":"second""#), "{came:?}");
}

#[test]
fn held_messages_and_requests_stay_with_the_old_version() {
    let (first, _) = under(terms(), "p", "session/prompt", asks());
    let mut router = Router::new(vec![first], None);
    client(&mut router, PROMPT);
    let asked = received(&mut router, Peer::Client);
    let (second, mut done, _) = newer("session/prompt", marks("second"));
    router.swap(second);
    assert!(is_done(&mut done));
    client(&mut router, &PROMPT.replace(r#""p""#, r#""q""#));
    assert!(asked[0].contains(r#""method":"own""#), "{asked:?}");
    let came = received(&mut router, Peer::Agent);
    assert!(
        came.len() == 1 && came[0].contains(r#""by":"second""#),
        "{came:?}"
    );
    client(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    let came = received(&mut router, Peer::Agent);
    assert!(came.len() == 1 && !came[0].contains("by"), "{came:?}");
    assert!(router.core.hops[0].has_one_version());
}

#[test]
fn the_old_version_gets_cancellations_of_what_it_holds() {
    let (first, _) = under(
        terms(),
        "p",
        "session/prompt",
        |event, ledger| match event {
            Event::Cancel(id) => {
                let error = acp_chain_rpc::Error::new(-32800, "by the first");
                ledger.settle(*id, Decision::Reject(error)).unwrap();
                Reaction::Told
            }
            _ => Reaction::Decided(Decision::Hold),
        },
    );
    let mut router = Router::new(vec![first], None);
    client(&mut router, PROMPT);
    router.swap(newer("session/prompt", marks("second")).0);
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#;
    client(&mut router, cancel);
    let came = received(&mut router, Peer::Client);
    assert!(came[0].contains("by the first"), "{came:?}");
}

#[test]
fn a_response_passes_the_old_version_that_holds_what_came_before_it() {
    let holds = || {
        let mut held: Vec<MessageId> = Vec::new();
        move |event: &Event, ledger: &mut Ledger| match event {
            Event::Message(delivery) if delivery.message.kind().is_response() => {
                for id in held.drain(..) {
                    ledger.settle(id, Decision::Forward).unwrap();
                }
                Reaction::Decided(Decision::Forward)
            }
            Event::Message(delivery) if &*delivery.method == "session/update" => {
                held.push(delivery.id);
                Reaction::Decided(Decision::Hold)
            }
            _ => Reaction::Decided(Decision::Forward),
        }
    };
    let (first, _) = under(terms(), "p", "session/*", holds());
    let mut router = Router::new(vec![first], None);
    client(&mut router, PROMPT);
    agent(&mut router, &update("s", "a"));
    router.swap(newer("session/*", holds()).0);
    agent(&mut router, &update("s", "b"));
    router.swap(newer("session/*", holds()).0);
    agent(&mut router, &update("s", "c"));
    assert!(received(&mut router, Peer::Client).is_empty());
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(
        received(&mut router, Peer::Client),
        [
            update("s", "a"),
            update("s", "b"),
            update("s", "c"),
            r#"{"jsonrpc":"2.0","id":"p","result":{}}"#.to_owned(),
        ]
    );
    assert!(router.core.hops[0].has_one_version());
}

#[test]
fn a_message_that_the_old_version_holds_for_too_long_is_taken_from_it() {
    let (first, _) = under(terms(), "p", "session/prompt", asks());
    let mut router = Router::new(vec![first], None);
    client(&mut router, PROMPT);
    router.swap(newer("session/prompt", marks("second")).0);
    let over = router.next_timer().unwrap() + Duration::from_secs(1);
    received(&mut router, Peer::Client);
    router.advance(over);
    router.pump(1000);
    let came = received(&mut router, Peer::Client);
    assert_eq!(came.len(), 2, "{came:?}");
    assert!(came.iter().any(|line| line.contains("for too long")
        || line.contains("its work in time") && line.contains(r#""id":"p""#)));
    assert!(came.iter().any(|line| line.contains("$/cancel_request")));
    assert!(router.core.hops[0].has_one_version());
    // The answer is too late for the old version, and not for the new one.
    client(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert!(received(&mut router, Peer::Agent).is_empty());
}

#[test]
fn an_old_version_that_breaks_takes_nothing_with_it_but_what_it_holds() {
    let mut is_first = true;
    let (first, starts) = under(
        terms(),
        "p",
        "session/prompt",
        move |event, ledger| match event {
            Event::Answer(_) => Reaction::Broke("trap"),
            _ if std::mem::take(&mut is_first) => {
                ledger.request(Peer::Client, "own", "{}").unwrap();
                Reaction::Decided(Decision::Hold)
            }
            _ => Reaction::Decided(Decision::Hold),
        },
    );
    let mut router = Router::new(vec![first], None);
    client(&mut router, PROMPT);
    router.swap(newer("session/prompt", marks("second")).0);
    received(&mut router, Peer::Client);
    client(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    let came = received(&mut router, Peer::Client);
    assert!(
        came.len() == 1 && came[0].contains(r#""id":"p","error""#),
        "{came:?}"
    );
    client(&mut router, PROMPT);
    assert!(received(&mut router, Peer::Agent)[0].contains(r#""by":"second""#));
    assert!(starts.lock().unwrap().is_empty(), "it is not started again");
}

#[test]
fn of_many_old_versions_the_oldest_end_first_and_that_is_reported() {
    let (first, _) = under(terms(), "p", "session/prompt", asks());
    let (tell, got) = mpsc::channel();
    let mut router = Router::new(vec![first], None);
    for turn in 0..6 {
        let id = format!(r#""{turn}""#);
        client(&mut router, &PROMPT.replace(r#""p""#, &id));
        let (mut swap, ..) = newer("session/prompt", asks());
        let tell = tell.clone();
        swap.cut_short = Box::new(move |why| tell.send(why.to_owned()).unwrap());
        router.swap(swap);
    }
    let came = received(&mut router, Peer::Client);
    let failed: Vec<_> = came
        .iter()
        .filter(|line| line.contains("too often"))
        .collect();
    assert_eq!(failed.len(), 2, "{came:?}");
    assert!(failed[0].contains(r#""id":"0""#) && failed[1].contains(r#""id":"1""#));
    let got: Vec<String> = got.try_iter().collect();
    assert!(
        got.len() == 2 && got.iter().all(|why| why.contains("too often")),
        "{got:?}"
    );
}

#[test]
fn a_version_that_does_not_start_leaves_the_old_one_at_work() {
    let (first, _) = under(terms(), "p", "session/prompt", asks());
    let mut router = Router::new(vec![first], None);
    client(&mut router, PROMPT);
    let (swap, mut done) = swap("p", Box::new(NoRestart));
    router.swap(swap);
    assert!(why_not(&mut done).contains("there is only one"));
    let came = received(&mut router, Peer::Client);
    assert!(
        came[1].contains("The old version stays in place."),
        "{came:?}"
    );
    client(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert_eq!(received(&mut router, Peer::Agent).len(), 1);
}

#[test]
fn a_proxy_that_was_given_up_works_again_in_its_new_version() {
    let dies = scripted("p", "*", |_, _| Reaction::Broke("trap"));
    let mut router = Router::new(vec![dies], None);
    client(&mut router, PROMPT);
    received(&mut router, Peer::Client);
    router.swap(newer("*", marks("second")).0);
    client(&mut router, PROMPT);
    assert!(received(&mut router, Peer::Agent)[0].contains(r#""by":"second""#));
}

#[test]
fn a_newer_version_has_its_own_subscriptions() {
    let mut router = Router::new(vec![under(terms(), "p", "a", marks("first")).0], None);
    router.swap(newer("b", marks("second")).0);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"a","params":{}}"#);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"b","params":{}}"#);
    assert_eq!(
        received(&mut router, Peer::Agent),
        [
            r#"{"jsonrpc":"2.0","method":"a","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"b","params":{"by":"second"}}"#,
        ]
    );
}

/// A version whose start finishes on a signal, and which is a guard or not.
struct GatedSource {
    go: Mutex<Option<oneshot::Receiver<()>>>,
    guard: bool,
    again: ScriptSource,
}

impl GatedSource {
    fn new(guard: bool, go: Option<oneshot::Receiver<()>>) -> Self {
        let script: Script = Box::new(marks("second"));
        Self {
            go: Mutex::new(go),
            guard,
            again: ScriptSource {
                script: Arc::new(Mutex::new(script)),
                method: "*".to_owned(),
                terms: terms(),
                starts: RestartLog::default(),
            },
        }
    }
}

impl Source for GatedSource {
    fn start(&self, first: MessageId, _: Option<String>) -> Starting {
        let go = self.go.lock().unwrap().take();
        let mut started = self.again.begin(first);
        started.registration.guard = self.guard;
        Box::pin(async move {
            if let Some(go) = go {
                let _ = go.await;
            }
            Ok(started)
        })
    }
}

#[tokio::test]
async fn messages_wait_in_order_while_a_version_starts() {
    let mut router = Router::new(vec![under(terms(), "p", "*", marks("first")).0], None);
    let (go, goes) = oneshot::channel();
    let (swap, mut done) = swap("p", Box::new(GatedSource::new(false, Some(goes))));
    router.swap(swap);
    for text in ["a", "b"] {
        agent(&mut router, &update("s", text));
    }
    assert!(received(&mut router, Peer::Client).is_empty());
    go.send(()).unwrap();
    let (_, _, finished, ..) = router.split();
    let finished = finished.await;
    router.finished(finished);
    router.pump(1000);
    assert!(is_done(&mut done));
    let came = received(&mut router, Peer::Client);
    assert!(came[0].contains(r#""t":"a","by":"second""#), "{came:?}");
    assert!(came[1].contains(r#""t":"b","by":"second""#), "{came:?}");
}

#[tokio::test]
async fn a_proxy_that_is_being_called_is_replaced_when_it_returns() {
    let (go, goes) = oneshot::channel();
    let mut router = Router::new(vec![slow("*", goes)], None);
    agent(&mut router, &update("s", "a"));
    let (proxy, _) = under(terms(), "slow", "*", marks("second"));
    let (superseded, mut first) = swap("slow", Box::new(NoRestart));
    let (swap, mut done) = swap("slow", proxy.source);
    router.swap(superseded);
    router.swap(swap);
    assert!(why_not(&mut first).contains("a newer version came"));
    agent(&mut router, &update("s", "b"));
    go.send(()).unwrap();
    let (_, _, finished, ..) = router.split();
    let finished = finished.await;
    router.finished(finished);
    router.pump(1000);
    assert!(is_done(&mut done));
    let came = received(&mut router, Peer::Client);
    assert_eq!(came[0], update("s", "a"));
    assert!(came[1].contains(r#""t":"b","by":"second""#), "{came:?}");
}

#[test]
fn a_newer_version_does_not_change_the_order_of_the_chain() {
    let mut router = Router::new(
        vec![forwards("x"), scripted("p", "*", marks("first"))],
        None,
    );
    let (guard, mut done) = swap("p", Box::new(GatedSource::new(true, None)));
    router.swap(guard);
    assert!(why_not(&mut done).contains("it is a guard now"));
    // A proxy alone in its chain has no position to keep.
    let mut router = Router::new(vec![scripted("p", "*", marks("first"))], None);
    let (guard, mut done) = swap("p", Box::new(GatedSource::new(true, None)));
    router.swap(guard);
    assert!(is_done(&mut done));
}

#[test]
fn only_a_component_of_this_chain_has_newer_versions() {
    let mut router = Router::new(vec![forwards("x")], None);
    let (swap, mut done) = swap("nobody", Box::new(NoRestart));
    router.swap(swap);
    assert!(why_not(&mut done).contains("no such proxy"));
}
