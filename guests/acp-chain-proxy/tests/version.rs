//! The version is that on which client and agent have agreed, and the user is told things in its form.

use std::cell::Cell;

use acp_chain_proxy::testing::Host;
use acp_chain_proxy::{Action, Peer, Proxy, Response, Result, Subscription, Version};
use serde_json::{Value, json};

#[derive(Default)]
struct Teller {
    version: Cell<Version>,
}

impl Proxy for Teller {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Version::SUBSCRIPTION,
        Subscription::responses("session/prompt"),
    ];

    async fn on_response(&self, response: Response) -> Result {
        match Version::agreed(&response) {
            Some(version) => self.version.set(version),
            None => self.version.get().tell("s", "it rains")?,
        }
        Ok(Action::Forward)
    }
}

/// What the user is told in a turn after this answer to `initialize`.
fn told(answer: Value) -> Value {
    let mut host = Host::start::<Teller>(json!({})).expect("no configuration");
    host.powers(&["capabilities.read", "turns.read", "answers.send"]);
    let params = json!({ "protocolVersion": 2 });
    let id = host.request(Peer::Client, "initialize", params);
    host.answer(id, answer);
    let id = host.request(Peer::Client, "session/prompt", json!({ "sessionId": "s" }));
    host.sent();
    host.answer(id, json!({}));
    host.sent()[0].at("/update")
}

#[test]
fn the_user_is_told_in_the_form_of_the_version() {
    let message = json!({
        "sessionUpdate": "agent_message_chunk",
        "content": { "type": "text", "text": "\n\n**proxy**: it rains\n\n" },
    });
    let notice = json!({
        "sessionUpdate": "notice", "severity": "warning", "title": "proxy: it rains",
    });
    for (answer, expected) in [
        (json!({ "protocolVersion": 1 }), &message),
        (json!({ "protocolVersion": 2 }), &notice),
        (json!({}), &message),
    ] {
        assert_eq!(&told(answer), expected);
    }
}
