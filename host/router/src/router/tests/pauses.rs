//! Proxies that are called again after a while.

use std::time::Duration;

use tokio::time::Instant;

use super::{PROMPT, Reaction, client, received, scripted, under};
use crate::router::Router;
use crate::{Proxy, Terms};
use acp_chain_channel::limits::{PAUSES, REST};
use acp_chain_channel::{Decision, Event, FailurePolicy, Grant, Ledger, MessageId, Peer};

/// A proxy that holds each prompt for a second, or until it receives `hurry`.
fn sleeps() -> impl FnMut(&Event, &mut Ledger) -> Reaction {
    let mut held: Vec<(MessageId, MessageId)> = Vec::new();
    move |event, ledger| match event {
        Event::Message(delivery) if &*delivery.method == "session/prompt" => {
            let pause = ledger.wake_after(1000).unwrap();
            held.push((pause, delivery.id));
            Reaction::Decided(Decision::Hold)
        }
        Event::Message(delivery) if &*delivery.method == "hurry" => {
            ledger.cancel(held[0].0).unwrap();
            Reaction::Decided(Decision::Forward)
        }
        Event::Answer(delivery) if &*delivery.method == "wake-after" => {
            let (pause, prompt) = held.remove(0);
            assert_eq!((delivery.id, delivery.message.body()), (pause, "null"));
            ledger.settle(prompt, Decision::Forward).unwrap();
            Reaction::Told
        }
        Event::Message(delivery) if &*delivery.method == "die" => Reaction::Broke("trap"),
        _ => Reaction::Decided(Decision::Forward),
    }
}

fn prompts(router: &mut Router) -> usize {
    let lines = received(router, Peer::Agent);
    let prompts = lines.iter().filter(|line| line.contains("session/prompt"));
    prompts.count()
}

/// A router with this proxy, and a clock for it.
fn router(proxy: Proxy) -> (Router, Instant) {
    let mut router = Router::new(vec![proxy], None);
    let now = Instant::now();
    router.advance(now);
    (router, now)
}

fn pass(router: &mut Router, until: Instant) {
    router.advance(until);
    router.pump(1000);
}

#[test]
fn a_proxy_is_called_again_when_its_pause_is_over() {
    let (mut router, start) = router(scripted("sleeps", "*", sleeps()));
    client(&mut router, PROMPT);
    pass(&mut router, start + Duration::from_millis(999));
    assert_eq!(prompts(&mut router), 0);
    pass(&mut router, start + Duration::from_secs(1));
    assert_eq!(prompts(&mut router), 1);
    pass(&mut router, start + Duration::from_hours(1));
    assert_eq!(prompts(&mut router), 0);
}

#[test]
fn a_pause_that_is_cancelled_is_over() {
    let (mut router, start) = router(scripted("sleeps", "*", sleeps()));
    client(&mut router, PROMPT);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"hurry"}"#);
    pass(&mut router, start);
    assert_eq!(prompts(&mut router), 1);
}

#[test]
fn pauses_end_with_the_instance_that_requested_them() {
    let terms = Terms {
        grant: Grant::unlimited().into(),
        on_failure: FailurePolicy::Restart,
        ..Terms::default()
    };
    let (proxy, starts) = under(terms, "sleeps", "*", sleeps());
    let (mut router, start) = router(proxy);
    client(&mut router, PROMPT);
    client(&mut router, r#"{"jsonrpc":"2.0","method":"die"}"#);
    pass(&mut router, start + Duration::from_secs(10));
    assert_eq!(starts.lock().unwrap().len(), 1);
    assert_eq!((prompts(&mut router), router.next_timer()), (0, None));
}

#[test]
fn a_proxy_that_computes_long_rests_for_longer() {
    let mut has_computed = false;
    let proxy = scripted("computes", "*", move |event, ledger| match event {
        Event::Answer(_) => {
            assert!(!has_computed, "it is called while it is to rest");
            has_computed = true;
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(20) {}
            Reaction::Told
        }
        _ => {
            for _ in 0..8 {
                ledger.wake_after(0).unwrap();
            }
            Reaction::Decided(Decision::Forward)
        }
    });
    let (mut router, start) = router(proxy);
    client(&mut router, PROMPT);
    pass(&mut router, start + Duration::from_millis(10));
    let next = router.next_timer().expect("it is called again");
    assert!(next >= start + Duration::from_millis(20) * REST);
}

#[test]
fn pauses_have_their_bounds() {
    let proxy = scripted("asks", "*", |event, ledger| {
        if let Event::Message(_) = event {
            let too_long = ledger.wake_after(u32::MAX).unwrap_err().to_string();
            assert_eq!(too_long, "a pause takes 1h at most");
            let pauses = std::iter::from_fn(|| ledger.wake_after(3_600_000).ok());
            assert_eq!(pauses.count(), PAUSES);
            let full = ledger.wake_after(10).unwrap_err();
            assert_eq!(full.to_string(), "too much is outstanding");
        }
        Reaction::Decided(Decision::Forward)
    });
    let (mut router, _) = router(proxy);
    client(&mut router, PROMPT);
    assert_eq!(prompts(&mut router), 1);
}

#[test]
fn a_pause_does_not_keep_a_proxy_awake() {
    let terms = Terms {
        grant: Grant::unlimited().into(),
        sleep_after: Some(Duration::from_mins(1)),
        ..Terms::default()
    };
    let (proxy, starts) = under(terms, "waits", "ping", |_, ledger| {
        ledger.wake_after(3_600_000).unwrap();
        Reaction::Decided(Decision::Forward)
    });
    let (mut router, start) = router(proxy);
    let ping = r#"{"jsonrpc":"2.0","method":"ping"}"#;
    client(&mut router, ping);
    pass(&mut router, start + Duration::from_mins(2));
    assert_eq!(router.next_timer(), None);
    client(&mut router, ping);
    assert_eq!(starts.lock().unwrap().len(), 1);
}
