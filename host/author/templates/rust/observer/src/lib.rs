//! Counts the tool calls of a turn, and shows the number at its end.

use std::cell::RefCell;
use std::collections::HashMap;

use acp_chain_proxy::{
    Action, FailurePolicy, Notification, Peer, Proxy, Response, Result, Subscription, Version,
    export,
};

#[derive(Default)]
struct Observer {
    /// The tool calls of each session since its last turn.
    calls: RefCell<HashMap<String, u32>>,
}

impl Proxy for Observer {
    const SUBSCRIPTIONS: &[Subscription] = &[
        Subscription::notifications("session/update")
            .from(Peer::Agent)
            .without_body(),
        Subscription::responses("session/prompt")
            .from(Peer::Agent)
            .without_body(),
    ];

    const ON_FAILURE: FailurePolicy = FailurePolicy::Bypass;

    async fn on_notification(&self, update: Notification) -> Result {
        let kind: Option<String> = update.head.read("/update/sessionUpdate");
        if let Some(session) = update.head.session
            && kind.as_deref() == Some("tool_call")
        {
            *self.calls.borrow_mut().entry(session).or_default() += 1;
        }
        Ok(Action::Forward)
    }

    async fn on_response(&self, turn: Response) -> Result {
        let session = turn.head.session.unwrap_or_default();
        let count = self.calls.borrow_mut().remove(&session);
        if let Some(count) = count {
            let calls = if count == 1 { "call" } else { "calls" };
            Version::V1.tell(&session, &format!("{count} tool {calls} in this turn."))?;
        }
        Ok(Action::Forward)
    }
}

export!(Observer);

#[cfg(test)]
mod tests {
    use acp_chain_proxy::testing::Host;
    use serde_json::json;

    use super::*;

    #[test]
    fn tool_calls_are_counted_until_the_turn_ends() {
        let mut host = Host::start::<Observer>(json!({})).unwrap();
        host.powers(&["tool-calls.read", "turns.read", "answers.send"]);
        let prompt = json!({ "sessionId": "s", "prompt": [] });
        let turn = host.request(Peer::Client, "session/prompt", prompt);
        let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "1", "title": "Look" });
        let update = json!({ "sessionId": "s", "update": call });
        host.notify(Peer::Agent, "session/update", &update);
        host.notify(Peer::Agent, "session/update", &update);
        host.sent();
        host.answer(turn, json!({ "stopReason": "end_turn" }));
        let said = host.sent()[0].at("/update/content/text");
        assert!(
            said.as_str().unwrap().contains("2 tool calls in this turn"),
            "{said}"
        );
    }
}
