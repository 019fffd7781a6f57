//! A proxy that breaks: the state of the new instance, and the fate of the messages.

use std::cell::RefCell;
use std::collections::BTreeMap;

use acp_chain_proxy::testing::{Host, SentKind};
use acp_chain_proxy::{
    Action, Configure, Edit, Error, FailurePolicy, Json, Notification, Peer, Proxy, Request,
    Response, Result, Subscription, save,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Numbers the requests of each method, from a configured number on.
struct Counter {
    from: u32,
    seen: RefCell<State>,
}

#[derive(Default, Deserialize, Serialize)]
struct State {
    requests: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
struct Config {
    from: u32,
}

impl Configure for Counter {
    type Config = Config;

    fn new(config: Config) -> std::result::Result<Self, String> {
        Ok(Self {
            from: config.from,
            seen: RefCell::default(),
        })
    }
}

impl Proxy for Counter {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests("count/*"),
        Subscription::requests("wait"),
        Subscription::notifications("wait"),
    ];

    fn restore(&mut self, saved: Json) -> Result<()> {
        self.seen = saved.parse()?;
        Ok(())
    }

    async fn on_request(&self, request: Request) -> Result {
        if request.head.method == "wait" {
            Peer::Agent.request("answer me", ()).await?;
            return Ok(Action::Forward);
        }
        let mut seen = self.seen.borrow_mut();
        let count = seen.requests.entry(request.head.method).or_default();
        *count += 1;
        let number = json!(self.from + *count);
        save(&*seen)?;
        Ok(Action::Edit(vec![Edit::set("/n", number)]))
    }

    async fn on_notification(&self, _: Notification) -> Result {
        Ok(Action::Hold)
    }
}

const CONFIG: fn() -> Value = || json!({ "from": 10 });

fn count(host: &mut Host, method: &str) -> Value {
    host.request(Peer::Client, method, json!({}));
    host.sent().remove(0).at("/n")
}

#[test]
fn a_new_instance_has_its_configuration_and_the_last_saved_state() {
    let mut host = Host::start::<Counter>(CONFIG()).expect("right");
    assert_eq!(host.saved(), None);
    for (method, number) in [("count/a", 11), ("count/b", 11), ("count/a", 12)] {
        assert_eq!(count(&mut host, method), number);
    }
    let saved = json!({ "requests": { "count/a": 2, "count/b": 1 } });
    assert_eq!(host.saved(), Some(saved));
    assert_eq!(host.saved(), None, "that was looked at");

    for number in [13, 14] {
        host.restart().expect("starts again");
        assert_eq!(count(&mut host, "count/a"), number);
    }
}

#[test]
fn a_proxy_can_be_started_from_any_state() {
    let saved = r#"{"requests":{"count/a":5}}"#;
    let mut host = Host::start_from::<Counter>(CONFIG(), saved).expect("right");
    assert_eq!(count(&mut host, "count/a"), 16);
}

#[test]
fn an_unreadable_state_prevents_the_start_and_is_explained() {
    for (saved, why) in [
        ("{}", "missing field `requests`"),
        (
            r#"{"requests":5}"#,
            "invalid type: integer `5`, expected a map",
        ),
        ("v1:a=5", "expected value at line 1 column 1"),
    ] {
        let error = Host::start_from::<Counter>(CONFIG(), saved).expect_err("not a state");
        let says = "this version cannot restore the state that an earlier instance saved: ";
        let reason = error.strip_prefix(says);
        assert!(reason.is_some_and(|reason| reason.contains(why)), "{error}");
    }
}

#[test]
fn held_messages_are_refused_and_own_requests_cancelled() {
    let mut host = Host::start::<Counter>(CONFIG()).expect("right");
    let held = host.request(Peer::Client, "wait", ());
    host.notify(Peer::Client, "wait", ());
    let asked = host.sent().remove(0);
    host.restart().expect("starts again");
    let sent = host.sent();
    assert_eq!((sent[0].id, sent[0].what), (held, SentKind::Response));
    assert_eq!(
        sent[0].body,
        Err(Error::new(Error::INTERNAL, "the proxy broke"))
    );
    assert_eq!((sent[1].id, sent[1].what), (asked.id, SentKind::Cancel));
    assert_eq!(sent.len(), 2, "the notification is dropped");
    assert!(host.held().is_empty());
}

/// Saves a state, and does not implement `restore`.
#[derive(Default)]
struct WithoutRestore;

impl Proxy for WithoutRestore {
    const SUBSCRIPTIONS: &[Subscription] = &[Subscription::requests("*")];

    async fn on_request(&self, request: Request) -> Result {
        save(&request.params)?;
        Ok(Action::Forward)
    }
}

#[test]
fn saving_without_restore_is_an_error() {
    let mut host = Host::start::<WithoutRestore>(json!({})).expect("right");
    host.restart().expect("nothing is saved");
    host.request(Peer::Client, "save", "this");
    let error = host.restart().expect_err("something is saved");
    assert!(error.contains("it has no `restore`"), "{error}");
}

#[test]
fn a_state_that_is_too_large_is_not_saved_and_the_last_one_stays() {
    let mut host = Host::start::<WithoutRestore>(json!({})).expect("right");
    host.request(Peer::Client, "save", "this");
    assert_eq!(host.saved(), Some(json!("this")));
    host.request(Peer::Client, "save", "x".repeat(1 << 20));
    let Err(error) = host.sent().remove(1).body else {
        panic!("an error")
    };
    assert!(error.message.contains("saves too much"), "{error}");
    assert_eq!(host.saved(), None);
}

/// Fails, at once or after it has waited.
#[derive(Default)]
struct Bypassing;

impl Proxy for Bypassing {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests("*"),
        Subscription::notifications("*"),
        Subscription::responses("*"),
    ];
    const ON_FAILURE: FailurePolicy = FailurePolicy::Bypass;

    async fn on_request(&self, request: Request) -> Result {
        if request.head.method == "wait" {
            let _ = Peer::Agent.request("answer me", ()).await;
        }
        Err("too bad".into())
    }

    async fn on_notification(&self, _: Notification) -> Result {
        Err("too bad".into())
    }

    async fn on_response(&self, _: Response) -> Result {
        Err("too bad".into())
    }
}

#[test]
fn with_bypass_a_message_goes_on_when_its_handler_fails() {
    let mut host = Host::start::<Bypassing>(json!({})).expect("right");
    let id = host.request(Peer::Client, "ask", json!(1));
    host.answer(id, json!(2));
    host.notify(Peer::Agent, "tell", json!(3));
    let bodies: Vec<_> = host.sent().iter().map(|sent| sent.at("")).collect();
    assert_eq!(bodies, [1, 2, 3]);

    let held = host.request(Peer::Client, "wait", json!(4));
    let asked = host.sent().remove(0);
    host.answer(asked.id, ());
    let sent = host.sent().remove(0);
    assert_eq!(
        (sent.id, sent.to, sent.at("")),
        (held, Peer::Agent, json!(4))
    );
}
