//! Messages of a session leave in the order in which they came, and a response never overtakes a notification
//! that was sent before it, even when a proxy holds messages.

use std::collections::HashMap;

use acp_chain_tests::envelope::{self, Message};
use acp_chain_tests::host::InProcess;

/// Messages that the agent sends, in all.
const MESSAGES: u64 = 3 * PROMPTS;

/// The client's prompts. To each, the agent sends a notification, a request and the answer.
const PROMPTS: u64 = 33_334;

const SESSIONS: u64 = 10;

/// Client requests that are open at once.
const OPEN: u64 = 50;

const PASS: (&str, &str) = ("pass", "{}");
const NO_BODY: (&str, &str) = ("pass", r#"{"with-body":false}"#);

/// What the client has received: the numbers of each session must rise.
#[derive(Default)]
struct ReceivedCounts {
    last: HashMap<String, u64>,
    notifications: u64,
    requests: u64,
    responses: u64,
}

#[tokio::test]
async fn sessions_keep_their_order_past_a_proxy_that_holds() {
    let holds = ("pass", r#"{"hold-every":7}"#);
    let seen = converse(
        &[PASS, NO_BODY, holds, PASS, NO_BODY],
        |seen, session, number, _| {
            let last = seen.last.insert(session.to_owned(), number);
            assert!(
                last.is_none_or(|last| last < number),
                "{session}: {number} after {last:?}"
            );
        },
    )
    .await;
    assert_eq!(
        [seen.notifications, seen.requests, seen.responses],
        [PROMPTS; 3]
    );
}

/// This proxy lets notifications overtake each other, as it may; it sees no responses.
#[tokio::test]
async fn a_response_waits_for_what_was_sent_before_it() {
    let holds = ("pass", r#"{"hold-every":7,"late":3}"#);
    let seen = converse(
        &[PASS, holds, NO_BODY],
        |seen, session, number, is_response| {
            // The number kept is that of the last response.
            let last = seen.last.entry(session.to_owned()).or_default();
            assert!(
                *last < number,
                "{session}: {number} behind the response {last}"
            );
            if is_response {
                *last = number;
            }
        },
    )
    .await;
    assert_eq!(seen.notifications, PROMPTS);
}

/// The agent streams numbered notifications, requests and, to prompts, responses, on all
/// sessions at once; the client prompts and answers.
async fn converse(
    proxies: &[(&str, &str)],
    mut check: impl FnMut(&mut ReceivedCounts, &str, u64, bool) + Send + 'static,
) -> ReceivedCounts {
    let mut chain = InProcess::initialized(proxies).await;
    let mut agent = chain.agent;
    let streaming = tokio::spawn(async move {
        let mut number = 0;
        for _ in 0..PROMPTS {
            let prompt = loop {
                // The answers to the agent's own requests come between the prompts.
                let message = agent.receive().await.expect("a prompt");
                if message.is_request() {
                    break message;
                }
            };
            let params = prompt.params.clone().expect("params");
            let session = params
                .trim_start_matches(r#"{"sessionId":"#)
                .trim_end_matches('}');
            number = send_some(&mut agent, session, number);
            let result = format!(r#"{{"n":{number}}}"#);
            for answer in prompt.result(&result) {
                agent.send(answer);
            }
            // Otherwise a proxy that counts messages would keep the last ones.
            for _ in 0..3 {
                agent.notify("tick", "{}");
            }
        }
        agent
    });
    let mut sent = 0;
    let mut seen = ReceivedCounts::default();
    let mut sessions: HashMap<String, String> = HashMap::new();
    while seen.notifications + seen.requests + seen.responses < MESSAGES {
        while sent < PROMPTS && sent < seen.responses + OPEN {
            let session = format!(r#""s{}""#, sent % SESSIONS);
            let id = chain
                .client
                .ask("session/prompt", &format!(r#"{{"sessionId":{session}}}"#));
            sessions.insert(id, session);
            sent += 1;
        }
        let message = chain.client.receive().await.expect("a message");
        if message.method.as_deref() == Some("tick") {
            continue;
        }
        let (session, number) = read(&message, &mut sessions);
        match (&message.method, &message.id) {
            (Some(_), None) => seen.notifications += 1,
            (Some(_), Some(_)) => {
                seen.requests += 1;
                for answer in message.result("null") {
                    chain.client.send(answer);
                }
            }
            (None, _) => seen.responses += 1,
        }
        check(&mut seen, &session, number, message.method.is_none());
    }
    let agent = streaming.await.expect("the agent");
    drop(agent);
    seen
}

/// Sends a notification and a request of a session, numbered from here on; the answer to the prompt has the
/// third number.
fn send_some(agent: &mut acp_chain_tests::wire::Wire, session: &str, number: u64) -> u64 {
    agent.send(envelope::notification(
        "session/update",
        &format!(r#"{{"sessionId":{session},"n":{}}}"#, number + 1),
    ));
    agent.ask(
        "session/request_permission",
        &format!(r#"{{"sessionId":{session},"n":{}}}"#, number + 2),
    );
    number + 3
}

fn read(message: &Message, sessions: &mut HashMap<String, String>) -> (String, u64) {
    let body = message
        .params
        .as_ref()
        .or(message.result.as_ref())
        .expect("a body");
    let number = body
        .rsplit(r#""n":"#)
        .next()
        .expect("a number")
        .trim_end_matches('}');
    let number = number.parse().expect("a number");
    let session = match (&message.method, &message.id) {
        (None, Some(id)) => sessions.remove(id).expect("an open prompt"),
        _ => {
            let start = body.find('s').unwrap_or_default();
            let rest = &body[start..];
            rest.split(':')
                .nth(1)
                .and_then(|text| text.split(',').next())
                .expect("a session")
                .to_owned()
        }
    };
    (session, number)
}
