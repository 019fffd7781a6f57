//! Stored values: what a proxy loads and stores, who shares the values, and when that fails.

use std::collections::BTreeMap;
use std::time::Duration;

use acp_chain_proxy::testing::{Host, SentMessage};
use acp_chain_proxy::values::{self, Keeper, Outcome};
use acp_chain_proxy::{Action, Peer, Proxy, Request, Result, Subscription, sleep, spawn};
use serde_json::{Value, json};

/// What the proxy does with its messages, which no power covers.
const BY_NAME: &[(&str, &[&str])] = &[("_test/*", &["read", "answer", "refuse"])];

/// Does what the method says with the value under the key `key`, or the key in the parameters.
#[derive(Default)]
struct Storing;

fn shown(value: values::Value) -> Value {
    json!([value.value, value.version, value.since.is_some()])
}

async fn store(of: Keeper<'_>, version: u64, value: Option<&str>) -> Result<Value> {
    Ok(match values::store(of, "key", version, value).await? {
        Outcome::Stored(version) => json!(version),
        Outcome::Conflict(found) => json!({ "conflict": shown(found) }),
    })
}

fn next(value: Option<&str>) -> String {
    let last: u32 = value.map_or(0, |value| value.parse().expect("a number"));
    (last + 1).to_string()
}

impl Proxy for Storing {
    const SUBSCRIPTIONS: &[Subscription] = &[Subscription::requests("_test/*")];

    async fn on_request(&self, request: Request) -> Result {
        let params = request.params;
        let of = match &request.head.session {
            Some(session) => Keeper::Project(session),
            None => Keeper::User,
        };
        let response = match request.head.method.as_str() {
            "_test/load" => shown(values::load(of, "key").await?),
            "_test/load-key" => shown(values::load(of, &params.parse::<String>()?).await?),
            "_test/store" => {
                let (version, value): (u64, Option<String>) = params.parse()?;
                store(of, version, value.as_deref()).await?
            }
            "_test/store-late" => {
                let found = values::load(of, "key").await?;
                Peer::Agent.request("wait", ()).await?;
                store(of, found.version, Some("late")).await?
            }
            "_test/count" => shown(values::update(of, "key", |value| Some(next(value))).await?),
            "_test/keep" => {
                shown(values::update(of, "key", |value| value.map(str::to_owned)).await?)
            }
            "_test/remove" => shown(values::update(of, "key", |_| None).await?),
            "_test/count-later" => {
                spawn(async {
                    let _ = sleep(Duration::from_secs(1)).await;
                    let _ = values::update(Keeper::User, "key", |value| Some(next(value))).await;
                });
                return Ok(Action::Forward);
            }
            _ => return Err("unknown method".into()),
        };
        Ok(Action::Respond(response.into()))
    }
}

fn host() -> Host {
    Host::start::<Storing>(json!({})).expect("takes no configuration")
}

fn ask(host: &mut Host, method: &str, params: Value) -> SentMessage {
    host.request(Peer::Client, method, params);
    assert!(host.held().is_empty(), "values come at once");
    host.sent().remove(0)
}

fn result(host: &mut Host, method: &str, params: Value) -> Value {
    ask(host, method, params).at("")
}

fn error(host: &mut Host, method: &str, params: Value) -> String {
    let body = ask(host, method, params).body;
    body.expect_err("an error").message
}

#[test]
fn a_value_is_stored_over_the_version_that_was_loaded() {
    let mut host = host();
    assert_eq!(
        result(&mut host, "_test/load", json!(null)),
        json!([null, 0, false])
    );
    assert_eq!(result(&mut host, "_test/store", json!([0, "a"])), 1);
    assert_eq!(
        result(&mut host, "_test/load", json!(null)),
        json!(["a", 1, true])
    );
    let conflict = json!({ "conflict": ["a", 1, true] });
    assert_eq!(result(&mut host, "_test/store", json!([0, "b"])), conflict);
    assert_eq!(result(&mut host, "_test/store", json!([1, "b"])), 2);

    // A version does not come back.
    assert_eq!(result(&mut host, "_test/store", json!([2, null])), 0);
    assert_eq!(
        result(&mut host, "_test/load", json!(null)),
        json!([null, 0, true])
    );
    assert_eq!(result(&mut host, "_test/store", json!([0, "c"])), 3);
}

#[test]
fn a_value_that_another_connection_has_stored_is_a_conflict() {
    let mut host = host();
    host.request(Peer::Client, "_test/store-late", ());
    let waits = host.sent().remove(0);
    host.put_value(Keeper::User, "key", Some("early"));
    host.answer(waits.id, ());
    let conflict = json!({ "conflict": ["early", 1, true] });
    assert_eq!(host.sent().remove(0).at(""), conflict);
    host.put_value(Keeper::User, "key", None);
    assert_eq!(
        result(&mut host, "_test/load", json!(null)),
        json!([null, 0, true])
    );
}

#[test]
fn an_update_changes_a_value_or_removes_it() {
    let mut host = host();
    assert_eq!(
        result(&mut host, "_test/keep", json!(null)),
        json!([null, 0, false])
    );
    assert_eq!(
        result(&mut host, "_test/count", json!(null)),
        json!(["1", 1, false])
    );
    assert_eq!(
        result(&mut host, "_test/count", json!(null)),
        json!(["2", 2, true])
    );
    let same = "an unchanged value is not stored";
    assert_eq!(
        result(&mut host, "_test/keep", json!(null)),
        json!(["2", 2, true]),
        "{same}"
    );
    assert_eq!(
        result(&mut host, "_test/remove", json!(null)),
        json!([null, 0, true])
    );
    assert!(host.values(Keeper::User).is_empty());
}

#[test]
fn values_outlast_a_restart_and_the_connection() {
    let mut host = host();
    host.grant(&["values.keep"], BY_NAME);
    result(&mut host, "_test/count", json!(null));
    host.restart().expect("starts again");
    result(&mut host, "_test/count", json!(null));
    host.reconnect().expect("starts again");
    assert_eq!(
        result(&mut host, "_test/count", json!(null)),
        json!(["3", 3, true])
    );
    let stored = BTreeMap::from([("key".to_owned(), "3".to_owned())]);
    assert_eq!(host.values(Keeper::User), stored);
}

#[test]
fn the_values_of_a_project_are_its_own() {
    let mut host = host();
    for (session, expected) in [("a", "1"), ("b", "1"), ("a", "2")] {
        result(&mut host, "_test/count", json!({ "sessionId": session }));
        assert_eq!(host.values(Keeper::Project(session))["key"], expected);
    }
    assert!(host.values(Keeper::User).is_empty());
}

#[test]
fn what_waits_for_no_message_may_store_too() {
    let mut host = host();
    host.request(Peer::Client, "_test/count-later", ());
    assert!(host.values(Keeper::User).is_empty());
    host.elapse(Duration::from_secs(1));
    assert_eq!(host.values(Keeper::User)["key"], "1");
}

#[test]
fn without_the_power_nothing_is_loaded_or_stored() {
    let mut host = host();
    host.grant(&[], BY_NAME);
    for (method, params) in [
        ("_test/load", json!(null)),
        ("_test/store", json!([0, "a"])),
    ] {
        let failure = error(&mut host, method, params);
        assert!(
            failure.contains("was not sent: not allowed: it lacks the power `values.keep`"),
            "{failure}"
        );
    }
}

#[test]
fn keys_and_values_have_their_longest() {
    let mut host = host();
    let (key, value) = ("k".repeat(256), "v".repeat(64 * 1024));
    let loaded = result(&mut host, "_test/load-key", json!(key));
    assert_eq!(loaded, json!([null, 0, false]));
    let failure = error(&mut host, "_test/load-key", json!(key + "k"));
    let why =
        "load-value was not sent: the host rejects it: the key of a stored value may have 256 B";
    assert!(failure.contains(why), "{failure}");

    assert_eq!(result(&mut host, "_test/store", json!([0, value])), 1);
    let longer = format!("{value}v");
    let failure = error(&mut host, "_test/store", json!([1, longer]));
    let why = "store-value was not sent: this proxy has too much outstanding, or saves too much";
    assert!(failure.contains(why), "{failure}");
    assert_eq!(host.values(Keeper::User)["key"], value);
}

#[test]
fn a_request_that_fails_is_an_error_and_changes_nothing() {
    let mut host = host();
    host.put_value(Keeper::User, "key", Some("kept"));
    host.refuse_values("the disk is full");
    for method in ["_test/load", "_test/count"] {
        let failure = error(&mut host, method, json!(null));
        assert_eq!(failure, "the disk is full (-32603)");
    }
    host.accept_values();
    assert_eq!(
        result(&mut host, "_test/load", json!(null)),
        json!(["kept", 1, true])
    );
}
