//! A proxy may do what its powers cover; anything else is denied.

use acp_chain_proxy::testing::{Host, SentKind, SentMessage};
use acp_chain_proxy::{
    Action, Edit, Error, Level, MessageId, Notification, Peer, Proxy, Request, Response, Result,
    Subscription, log,
};
use serde_json::{Value, json};

/// Takes the action that the message names.
#[derive(Default)]
struct ScriptedProxy;

impl Proxy for ScriptedProxy {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests("*"),
        Subscription::notifications("*"),
        Subscription::responses("*"),
    ];

    async fn on_request(&self, request: Request) -> Result {
        match request.head.method.as_str() {
            "ask" => Ok(Action::Respond(Peer::Agent.request("what", ()).await?)),
            "tell" => {
                Peer::Agent.notify("news", ())?;
                Ok(Action::Forward)
            }
            _ => Ok(act(request.params.at("/do"))),
        }
    }

    async fn on_notification(&self, notification: Notification) -> Result {
        Ok(act(notification.params.at("/do")))
    }

    async fn on_response(&self, response: Response) -> Result {
        Ok(act(response.outcome?.at("/do")))
    }
}

fn act(what: Option<String>) -> Action {
    match what.as_deref() {
        Some("edit") => Action::Edit(vec![Edit::set("/do", "done")]),
        Some("move") => Action::Edit(vec![Edit::set("/sessionId", "other")]),
        Some("replace") => Action::Replace(json!({}).into()),
        Some("respond") => Action::Respond(json!({}).into()),
        Some("reject") => Action::Reject(Error::new(1, "no")),
        Some("discard") => Action::Discard,
        Some("hold") => Action::Hold,
        _ => Action::Forward,
    }
}

/// A host that grants the proxy these actions on the method `a`.
fn host(actions: &[&str]) -> Host {
    let mut host = Host::start::<ScriptedProxy>(json!({})).expect("takes no configuration");
    host.grant(&[], &[("a", actions)]);
    host
}

fn order(what: &str) -> Value {
    json!({ "do": what })
}

/// The text of the denial, in an answer or in its place.
fn denied(sent: &SentMessage) -> &str {
    match &sent.body {
        Err(error) if error.code == Error::INTERNAL => &error.message,
        _ => panic!("this was allowed: {sent:?}"),
    }
}

#[test]
fn a_request_is_changed_or_answered_by_a_power_of_its_own() {
    for (what, needed, other) in [
        ("edit", "change", "answer"),
        ("replace", "change", "answer"),
        ("respond", "answer", "change"),
    ] {
        let mut host = host(&["read", needed]);
        host.request(Peer::Client, "a", order(what));
        let sent = host.sent();
        let allowed = |sent: &SentMessage| !matches!(&sent.body, Err(error) if error.code != 1);
        assert!(sent.iter().all(allowed), "{what}: {sent:?}");

        host.grant(&[], &[("a", &["read", other])]);
        host.request(Peer::Client, "a", order(what));
        let sent = host.sent().remove(0);
        let lacks = format!("to {needed} \"a\"");
        assert!(denied(&sent).contains(&lacks), "{what}: {sent:?}");
    }
}

#[test]
fn a_request_is_held_or_rejected_with_the_power_to_decide() {
    for action in ["change", "answer", "refuse"] {
        let mut host = host(&["read", action]);
        host.request(Peer::Client, "a", order("hold"));
        assert!(host.sent().is_empty());
        host.request(Peer::Client, "a", order("reject"));
        assert!(matches!(&host.sent()[0].body, Err(error) if error.code == 1));
    }
}

#[test]
fn notifications_and_responses_are_decided_about_by_powers_too() {
    for (actions, what, left) in [
        (&["read", "change"][..], "discard", None),
        (&["read", "change"], "edit", Some(json!("done"))),
        (&["read", "refuse"], "discard", None),
        (&["read", "refuse"], "edit", None),
        (&["read"], "edit", Some(json!("edit"))),
    ] {
        let mut host = host(actions);
        host.notify(Peer::Agent, "a", order(what));
        let sent = host.sent().pop().map(|sent| sent.at("/do"));
        assert_eq!(sent, left, "{actions:?} {what}");
    }
    let mut host = host(&["read", "refuse"]);
    let id = host.request(Peer::Client, "a", ());
    host.answer(id, order("reject"));
    assert!(matches!(&host.sent()[1].body, Err(error) if error.code == 1));
}

#[test]
fn without_the_power_to_decide_a_failure_leaves_the_message_unchanged() {
    let mut host = host(&["read"]);
    for what in ["edit", "hold", "respond"] {
        host.request(Peer::Client, "a", order(what));
        let sent = host.sent().remove(0);
        assert_eq!((sent.to, sent.at("/do")), (Peer::Agent, json!(what)));
    }
}

#[test]
fn what_no_power_covers_passes_by() {
    let mut host = host(&["read", "change"]);
    for (method, left) in [("a", "done"), ("b", "edit"), ("session/prompt", "edit")] {
        host.request(Peer::Client, method, order("edit"));
        assert_eq!(host.sent()[0].at("/do"), left, "{method}");
    }
}

/// Logs the messages that it sees, and adds a block to prompts.
#[derive(Default)]
struct Observer;

impl Proxy for Observer {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::requests("*"),
        Subscription::notifications("*"),
    ];

    async fn on_request(&self, request: Request) -> Result {
        let token = request.head.read::<Value>("/mcpServers/0/env/0/value");
        log(Level::Info, format_args!("{} {token:?}", request.params));
        Ok(match request.head.method.as_str() {
            "session/prompt" => Action::Edit(vec![Edit::set("/prompt/-", json!("more"))]),
            _ => Action::Forward,
        })
    }

    async fn on_notification(&self, notification: Notification) -> Result {
        log(Level::Info, &notification.params);
        Ok(Action::Forward)
    }
}

fn sees(powers: &[&str]) -> Host {
    let mut host = Host::start::<Observer>(json!({})).expect("takes no configuration");
    host.powers(powers);
    host
}

#[test]
fn the_power_to_change_does_not_need_the_power_to_read() {
    let mut host = sees(&["prompts.change"]);
    host.request(
        Peer::Client,
        "session/prompt",
        json!({ "prompt": ["mine"] }),
    );
    assert_eq!(host.sent()[0].at("/prompt"), json!(["mine", "more"]));
    assert_eq!(host.log()[0].1, "null None");
}

#[test]
fn tokens_are_hidden_without_the_power_to_see_them() {
    let env = json!([{ "name": "TOKEN", "value": "s3cret" }]);
    let setup = json!({ "cwd": "/p", "mcpServers": [{ "name": "m", "command": "c", "args": ["--key", "k"], "env": env }] });
    let mut host = sees(&["session-setup.read"]);
    host.request(Peer::Client, "session/new", &setup);
    let seen = host.log().remove(0).1;
    assert!(
        seen.contains(r#""cwd":"/p""#) && seen.contains("[hidden]"),
        "{seen}"
    );
    assert!(
        !seen.contains("s3cret") && !seen.contains("--key"),
        "{seen}"
    );
    assert_eq!(host.sent()[0].at(""), setup, "what goes on is whole");
    host.powers(&["session-setup.read", "session-setup.secrets"]);
    host.request(Peer::Client, "session/new", &setup);
    assert!(host.log()[0].1.contains("s3cret"));
}

#[test]
fn updates_are_distinguished_by_their_kinds() {
    let mut host = sees(&["tool-calls.read"]);
    for (kind, seen) in [("tool_call", 1), ("agent_message_chunk", 0), ("plan", 0)] {
        let update = json!({ "sessionId": "s", "update": { "sessionUpdate": kind } });
        host.notify(Peer::Agent, "session/update", update);
        assert_eq!(host.log().len(), seen, "{kind}");
    }
}

#[test]
fn a_changed_message_stays_in_its_session_unless_the_proxy_may_send_it() {
    let moved = json!({ "sessionId": "s", "do": "move" });
    let mut host = host(&["read", "change"]);
    host.request(Peer::Client, "a", &moved);
    assert!(denied(&host.sent()[0]).contains("another session"));
    host.grant(&[], &[("a", &["read", "change", "send"])]);
    host.request(Peer::Client, "a", &moved);
    assert_eq!(host.sent()[0].at("/sessionId"), "other");
}

#[test]
fn the_proxys_own_messages_need_a_power() {
    let mut host = host(&[]);
    host.grant(
        &[],
        &[("ask", &["read", "answer"]), ("tell", &["read", "answer"])],
    );
    for (method, lacks) in [("ask", "to send \"what\""), ("tell", "to send \"news\"")] {
        host.request(Peer::Client, method, ());
        assert!(denied(&host.sent()[0]).contains(lacks), "{method}");
    }
    let (level, line) = host.log().remove(0);
    assert_eq!(level, Level::Warn);
    assert!(line.starts_with("what was not sent: "), "{line}");
    let all = [
        ("ask", &["read", "answer"][..]),
        ("tell", &["read"]),
        ("what", &["send"]),
        ("news", &["send"]),
    ];
    host.grant(&[], &all);
    host.request(Peer::Client, "ask", ());
    let asked = host.sent().remove(0);
    host.answer(asked.id, json!("this"));
    assert_eq!(host.sent()[0].at(""), "this");
    host.request(Peer::Client, "tell", ());
    assert_eq!(host.sent()[0].method, "news");
}

/// A proxy that holds a request which it may not answer, and waits for an answer.
fn waiting() -> (Host, MessageId, SentMessage) {
    let mut host = host(&[]);
    host.grant(&[], &[("ask", &["read", "refuse"]), ("what", &["send"])]);
    let held = host.request(Peer::Client, "ask", ());
    let asked = host.sent().remove(0);
    (host, held, asked)
}

#[test]
fn a_proxy_that_may_hold_a_request_may_settle_it_when_it_is_cancelled() {
    let (mut host, held, asked) = waiting();
    host.cancel(held);
    let sent = host.sent();
    assert_eq!((sent[0].id, sent[0].what), (asked.id, SentKind::Cancel));
    assert_eq!(sent[1].body, Err(Error::cancelled()));
    assert!(host.held().is_empty());
}
