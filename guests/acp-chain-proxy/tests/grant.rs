//! What a proxy may do with which methods is its grant, and what it may not is denied.

use acp_chain_proxy::testing::{Grant, Host, Sent, What};
use acp_chain_proxy::{
    Action, Edit, Error, Level, MessageId, Notification, Peer, Proxy, Request, Response, Result,
    Subscription,
};
use serde_json::{Value, json};

/// Does with every message what the message says.
#[derive(Default)]
struct Obedient;

impl Proxy for Obedient {
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

const NOTHING: Grant = Grant {
    observe: &["*"],
    change: &[],
    answer: &[],
    originate: &[],
    tools: false,
};

const CHANGE: Grant = Grant {
    change: &["a"],
    ..NOTHING
};

const ANSWER: Grant = Grant {
    answer: &["a"],
    ..NOTHING
};

fn host(grant: Grant) -> Host {
    let mut host = Host::start::<Obedient>(json!({})).expect("takes no configuration");
    host.grant(grant);
    host
}

fn order(what: &str) -> Value {
    json!({ "do": what })
}

/// What is denied, by the answer or in place of it.
fn denied(sent: &Sent) -> &str {
    match &sent.body {
        Err(error) if error.code == Error::INTERNAL => &error.message,
        _ => panic!("this was allowed: {sent:?}"),
    }
}

#[test]
fn a_request_is_changed_or_answered_by_a_power_of_its_own() {
    for (what, power, needed, other) in [
        ("edit", "change", CHANGE, ANSWER),
        ("replace", "change", CHANGE, ANSWER),
        ("respond", "answer", ANSWER, CHANGE),
    ] {
        let mut host = host(needed);
        host.request(Peer::Client, "a", order(what));
        let sent = host.sent();
        let allowed = |sent: &Sent| !matches!(&sent.body, Err(error) if error.code != 1);
        assert!(sent.iter().all(allowed), "{what}: {sent:?}");

        host.grant(other);
        host.request(Peer::Client, "a", order(what));
        let lacks = format!("`{power}` lacks \"a\"");
        let sent = host.sent().remove(0);
        assert!(denied(&sent).contains(&lacks), "{what}: {sent:?}");
    }
}

#[test]
fn a_request_is_held_or_rejected_by_either_power() {
    for grant in [CHANGE, ANSWER] {
        let mut host = host(grant);
        host.request(Peer::Client, "a", order("hold"));
        assert!(host.sent().is_empty());
        host.request(Peer::Client, "a", order("reject"));
        assert!(matches!(&host.sent()[0].body, Err(error) if error.code == 1));
    }
}

#[test]
fn notifications_and_responses_take_the_power_to_change() {
    let mut host = host(NOTHING);
    // With the power to answer, so that the proxy has a say and its failure is a refusal.
    for (change, what, left) in [
        (&["a"][..], "discard", None),
        (&["a"], "edit", Some(json!("done"))),
        (&[], "discard", None),
        (&[], "edit", None),
    ] {
        host.grant(Grant {
            change,
            answer: &["a"],
            ..NOTHING
        });
        host.notify(Peer::Agent, "a", order(what));
        let sent = host.sent().pop().map(|sent| sent.at("/do"));
        assert_eq!(sent, left, "{change:?} {what}");
    }
    for (change, code) in [(&["a"][..], 1), (&[], Error::INTERNAL)] {
        host.grant(Grant {
            change,
            answer: &["a"],
            ..NOTHING
        });
        let id = host.request(Peer::Client, "a", ());
        host.answer(id, order("reject"));
        let Err(error) = host.sent().remove(1).body else {
            panic!("an error")
        };
        assert_eq!(error.code, code);
    }
}

#[test]
fn without_a_say_a_failure_leaves_the_message_as_it_was() {
    let mut host = host(NOTHING);
    for what in ["edit", "hold", "respond"] {
        host.request(Peer::Client, "a", order(what));
        let sent = host.sent().remove(0);
        assert_eq!((sent.to, sent.at("/do")), (Peer::Agent, json!(what)));
    }
}

#[test]
fn what_is_not_observed_passes_by() {
    let mut host = host(Grant {
        observe: &["seen/*", "!seen/not"],
        ..Grant::default()
    });
    for (method, left) in [("seen/a", "done"), ("seen/not", "edit"), ("a", "edit")] {
        host.request(Peer::Client, method, order("edit"));
        assert_eq!(host.sent()[0].at("/do"), left, "{method}");
    }
}

#[test]
fn by_default_the_decisions_of_the_user_stay_as_they_are() {
    let mut host = host(Grant::default());
    for (method, left) in [
        ("session/prompt", "done"),
        ("session/request_permission", "edit"),
        ("elicitation/create", "edit"),
    ] {
        host.request(Peer::Agent, method, order("edit"));
        assert_eq!(host.sent()[0].at("/do"), left, "{method}");
    }
}

#[test]
fn a_changed_message_stays_in_its_session_unless_the_proxy_may_send_such_ones() {
    let moved = json!({ "sessionId": "s", "do": "move" });
    let mut host = host(Grant::default());
    host.request(Peer::Client, "a", &moved);
    assert!(denied(&host.sent()[0]).contains("`originate` lacks \"a\""));
    host.grant(Grant {
        originate: &["a"],
        tools: false,
        ..Grant::default()
    });
    host.request(Peer::Client, "a", &moved);
    assert_eq!(host.sent()[0].at("/sessionId"), "other");
}

#[test]
fn what_the_proxy_says_itself_has_to_be_granted() {
    let mut host = host(Grant {
        answer: &["ask"],
        ..Grant::default()
    });
    for (method, lacks) in [("ask", "`originate` lacks \"what\""), ("tell", "\"news\"")] {
        host.request(Peer::Client, method, ());
        assert!(denied(&host.sent()[0]).contains(lacks), "{method}");
    }
    let (level, line) = host.log().remove(0);
    assert_eq!(level, Level::Warn);
    assert!(line.starts_with("what was not sent: "), "{line}");
    host.grant(Grant {
        answer: &["ask"],
        originate: &["what", "news"],
        tools: false,
        ..Grant::default()
    });
    host.request(Peer::Client, "ask", ());
    let asked = host.sent().remove(0);
    host.answer(asked.id, json!("this"));
    assert_eq!(host.sent()[0].at(""), "this");
    host.request(Peer::Client, "tell", ());
    assert_eq!(host.sent()[0].method, "news");
}

/// Waits for an answer, with a request that it may hold and may not answer.
fn waiting() -> (Host, MessageId, Sent) {
    let mut host = host(Grant {
        originate: &["what"],
        tools: false,
        ..Grant::default()
    });
    let held = host.request(Peer::Client, "ask", ());
    let asked = host.sent().remove(0);
    (host, held, asked)
}

#[test]
fn whoever_may_hold_a_request_may_settle_it_when_it_is_withdrawn() {
    let (mut host, held, asked) = waiting();
    host.cancel(held);
    let sent = host.sent();
    assert_eq!((sent[0].id, sent[0].what), (asked.id, What::Cancel));
    assert_eq!(sent[1].body, Err(Error::cancelled()));
    assert!(host.held().is_empty());
}
