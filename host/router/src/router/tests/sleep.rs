//! Proxies that sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::{PROMPT, Reaction, RestartLog, agent, client, received, under, update};
use crate::router::Router;
use crate::{Proxy, Terms};
use acp_chain_channel::{
    Decision, Event, FailurePolicy, Grant, Ledger, MessageId, Peer, Source, Starting,
};

const IDLE: Duration = Duration::from_mins(1);
const END: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// A proxy that may sleep, with this subscription.
fn drowsy(
    method: &str,
    script: impl FnMut(&Event, &mut Ledger) -> Reaction + Send + 'static,
) -> (Proxy, RestartLog) {
    let terms = Terms {
        grant: Grant::unlimited().into(),
        on_failure: FailurePolicy::Restart,
        sleep_after: Some(IDLE),
        ..Terms::default()
    };
    under(terms, "drowsy", method, script)
}

fn asleep(proxy: Proxy) -> Proxy {
    Proxy {
        part: None,
        ..proxy
    }
}

fn forward(_: &Event, _: &mut Ledger) -> Reaction {
    Reaction::Decided(Decision::Forward)
}

/// A script that saves the number of messages that it has seen.
fn counts() -> impl FnMut(&Event, &mut Ledger) -> Reaction + Send {
    let mut seen = 0;
    move |_, ledger| {
        seen += 1;
        ledger.save(seen.to_string()).unwrap();
        Reaction::Decided(Decision::Forward)
    }
}

#[test]
fn a_proxy_has_no_instance_before_the_first_message_for_it() {
    let (proxy, starts) = drowsy("session/prompt", forward);
    let mut router = Router::new(vec![asleep(proxy)], None);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"n","method":"session/new"}"#,
    );
    agent(&mut router, &update("s", "passes"));
    assert!(starts.lock().unwrap().is_empty());
    assert_eq!(router.next_timer(), None);
    client(&mut router, PROMPT);
    assert_eq!(*starts.lock().unwrap(), [(1, None)]);
    client(&mut router, &PROMPT.replace(r#""p""#, r#""q""#));
    assert_eq!(starts.lock().unwrap().len(), 1, "it is awake");
    assert_eq!(received(&mut router, Peer::Agent).len(), 3);
}

#[test]
fn an_idle_proxy_sleeps_and_wakes_up_with_its_saved_state() {
    let (proxy, starts) = drowsy("*", counts());
    let mut router = Router::new(vec![asleep(proxy)], None);
    client(&mut router, PROMPT);
    agent(&mut router, &update("s", "one"));
    agent(&mut router, END);
    let due = router.next_timer().expect("it may fall asleep");
    router.advance(due);
    assert_eq!(router.next_timer(), None, "it sleeps");
    received(&mut router, Peer::Client);
    agent(&mut router, &update("s", "two"));
    assert_eq!(received(&mut router, Peer::Client), [update("s", "two")]);
    // Numbers continue: none is used twice.
    assert_eq!(
        *starts.lock().unwrap(),
        [(1, None), (3, Some("3".to_owned()))]
    );
}

#[test]
fn a_message_postpones_sleep() {
    let (proxy, starts) = drowsy("*", forward);
    let mut router = Router::new(vec![asleep(proxy)], None);
    let begun = Instant::now();
    router.advance(begun);
    agent(&mut router, &update("s", "one"));
    router.advance(begun + IDLE / 2);
    agent(&mut router, &update("s", "two"));
    router.advance(begun + IDLE);
    assert_eq!(router.next_timer(), Some(begun + IDLE / 2 + IDLE));
    agent(&mut router, &update("s", "three"));
    assert_eq!(starts.lock().unwrap().len(), 1);
}

/// A source that sometimes reports too many instances.
struct Crowd {
    source: Box<dyn Source>,
    is_crowded: Arc<AtomicBool>,
}

impl Source for Crowd {
    fn start(&self, first: MessageId, saved: Option<String>) -> Starting {
        self.source.start(first, saved)
    }

    fn is_crowded(&self) -> bool {
        self.is_crowded.load(Ordering::Relaxed)
    }
}

#[test]
fn a_proxy_that_wakes_up_among_too_many_sleeps_soon() {
    let (mut proxy, starts) = drowsy("*", forward);
    let is_crowded = Arc::new(AtomicBool::new(false));
    proxy.source = Box::new(Crowd {
        source: proxy.source,
        is_crowded: is_crowded.clone(),
    });
    let mut router = Router::new(vec![asleep(proxy)], None);
    let begun = Instant::now();
    router.advance(begun);
    agent(&mut router, &update("s", "one"));
    is_crowded.store(true, Ordering::Relaxed);
    agent(&mut router, &update("s", "two"));
    assert_eq!(router.next_timer(), Some(begun + IDLE));
    router.advance(begun + IDLE);
    assert_eq!(router.next_timer(), None, "it sleeps");
    agent(&mut router, &update("s", "three"));
    let soon = begun + IDLE + Duration::from_secs(1);
    assert_eq!(router.next_timer(), Some(soon));
    router.advance(soon);
    assert_eq!(router.next_timer(), None, "it sleeps again");
    assert_eq!(starts.lock().unwrap().len(), 2);
}

#[test]
fn no_proxy_sleeps_while_anything_is_open() {
    let (proxy, starts) = drowsy("session/prompt", forward);
    let (holds, _) = drowsy("held", |event, _| match event {
        Event::Message(_) => Reaction::Decided(Decision::Hold),
        _ => Reaction::Told,
    });
    let mut router = Router::new(vec![asleep(proxy), asleep(holds)], None);
    let begun = Instant::now();
    router.advance(begun);
    client(&mut router, PROMPT);
    for hours in 1..4 {
        router.advance(begun + Duration::from_hours(hours));
        assert!(router.next_timer().is_some(), "the turn goes on");
    }
    agent(&mut router, END);
    let hour = begun + Duration::from_hours(5);
    router.advance(hour);
    assert_eq!(router.next_timer(), None);
    client(&mut router, PROMPT);
    assert_eq!(starts.lock().unwrap().len(), 2);
    agent(&mut router, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    agent(&mut router, r#"{"jsonrpc":"2.0","method":"held"}"#);
    router.advance(hour + 2 * IDLE);
    let held = &router.core.hops[1];
    assert_eq!(held.held().len(), 1, "it holds what it was given");
    assert!(held.is_idle());
}

#[test]
fn a_proxy_that_breaks_while_awake_is_restarted_and_may_sleep() {
    let mut seen = 0;
    let (proxy, starts) = drowsy("*", move |_, _| {
        seen += 1;
        match seen {
            1 => Reaction::Broke("trap"),
            _ => Reaction::Decided(Decision::Forward),
        }
    });
    let mut router = Router::new(vec![asleep(proxy)], None);
    client(&mut router, PROMPT);
    agent(&mut router, &update("s", "waits"));
    while let Some(due) = router.next_timer() {
        router.advance(due);
        router.pump(1000);
    }
    let received = received(&mut router, Peer::Client);
    assert_eq!(received.last(), Some(&update("s", "waits")));
    assert_eq!(starts.lock().unwrap().len(), 2);
    agent(&mut router, &update("s", "again"));
    assert_eq!(starts.lock().unwrap().len(), 3, "it had fallen asleep");
}

#[test]
fn a_proxy_that_does_not_wake_up_breaks_by_its_policy() {
    let terms = Terms {
        grant: Grant::unlimited().into(),
        on_failure: FailurePolicy::Refuse,
        sleep_after: Some(IDLE),
        ..Terms::default()
    };
    let (proxy, _) = under(terms, "drowsy", "*", forward);
    let sleeper = Proxy {
        source: Box::new(super::NoRestart),
        ..asleep(proxy)
    };
    let mut router = Router::new(vec![sleeper], None);
    client(&mut router, PROMPT);
    let received = received(&mut router, Peer::Client).concat();
    assert!(
        received.contains(
            "the proxy `drowsy` failed on session/prompt: it broke before: there is only one"
        ),
        "{received}"
    );
}
