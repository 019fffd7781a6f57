//! The version is the one that client and agent negotiated, and notices to the user have its form.

use std::cell::Cell;

use acp_chain_proxy::testing::Host;
use acp_chain_proxy::{Action, Peer, Proxy, Response, Result, Subscription, Version};
use serde_json::{Value, json};

#[derive(Default)]
struct Notifier {
    version: Cell<Version>,
}

impl Proxy for Notifier {
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

/// The notice to the user in a turn after this answer to `initialize`.
fn notice_after(answer: Value) -> Value {
    let mut host = Host::start::<Notifier>(json!({})).expect("no configuration");
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
fn notices_have_the_form_of_the_version() {
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
        assert_eq!(&notice_after(answer), expected);
    }
}
