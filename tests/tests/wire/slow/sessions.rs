//! Many sessions on one connection.

use std::collections::BTreeMap;

use acp_chain_tests::envelope::{Message, notification};
use acp_chain_tests::host::{InProcess, passing, proxy};
use acp_chain_tests::transcript::Transcript;
use serde_json::Value;

const SESSIONS: usize = 1000;

/// Messages of each session, each way, before its turn ends.
const MESSAGES: usize = 8;

/// A component that holds every third notification for a while.
const HOLDS: &str = r#"{"hold-every":3}"#;

/// The number of the last message that the far end received in each session.
#[derive(Default)]
struct LastNumbers(BTreeMap<String, usize>);

impl LastNumbers {
    /// Takes the next message of a session. The numbers of each session have no gap.
    fn take(&mut self, message: &Message) {
        let params = message.params.as_deref().unwrap_or_default();
        let params: Value = serde_json::from_str(params).expect("JSON");
        let session = params["sessionId"].as_str().expect("a session");
        let last = self.0.entry(session.to_owned()).or_default();
        assert_eq!(params["number"], *last, "{session}");
        *last += 1;
    }

    fn is_whole(&self, each: usize) {
        assert_eq!(self.0.len(), SESSIONS);
        assert!(self.0.values().all(|count| *count == each));
    }
}

fn params(session: usize, number: usize) -> String {
    format!(r#"{{"sessionId":"s-{session}","number":{number}}}"#)
}

#[tokio::test]
async fn a_thousand_sessions_are_each_in_order_and_lose_nothing() {
    let transcript = Transcript::new();
    let members = vec![
        passing("first", &transcript).into(),
        proxy("second", "pass", HOLDS).await.into(),
        passing("third", &transcript).into(),
        proxy("fourth", "pass", HOLDS).await.into(),
    ];
    let mut chain = InProcess::of(members, &transcript);
    let begin = chain.client.ask("initialize", "{}");
    let asked = chain.agent.receive().await.expect("initialize");
    chain.agent.send_all(asked.result("{}"));
    chain.client.response(&begin).await;

    let mut turns = BTreeMap::new();
    for number in 0..MESSAGES {
        for session in 0..SESSIONS {
            chain.client.notify("test/told", &params(session, number));
        }
    }
    for session in 0..SESSIONS {
        let id = chain
            .client
            .ask("session/prompt", &params(session, MESSAGES));
        turns.insert(id, session);
    }
    let (mut client, mut agent) = (chain.client, chain.agent);
    let agent = tokio::spawn(async move {
        let (mut seen, mut prompts) = (LastNumbers::default(), Vec::new());
        while prompts.len() < SESSIONS {
            let message = agent.receive().await.expect("a message");
            seen.take(&message);
            prompts.extend(Some(message).filter(Message::is_request));
        }
        seen.is_whole(MESSAGES + 1);
        for number in 0..MESSAGES {
            for session in 0..SESSIONS {
                agent.send(notification("session/update", &params(session, number)));
            }
        }
        // In reverse order.
        for prompt in prompts.iter().rev() {
            agent.send_all(prompt.result("{}"));
        }
        agent
    });
    let mut seen = LastNumbers::default();
    while !turns.is_empty() {
        let message = client.receive().await.expect("a message");
        match message.method {
            Some(_) => seen.take(&message),
            None => {
                let id = message.id.unwrap_or_default();
                let session = turns.remove(&id).expect("an open turn");
                assert_eq!(seen.0[&format!("s-{session}")], MESSAGES);
            }
        }
    }
    seen.is_whole(MESSAGES);
    drop(agent.await.expect("the agent"));
}
