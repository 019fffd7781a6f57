//! The order of messages.

use bytes::Bytes;
use tokio::sync::oneshot;

use super::{PROMPT, Reaction, agent, client, received, scripted, slow, slow_over, update};
use crate::router::Router;
use acp_chain_channel::{Decision, Event, Peer};
use acp_chain_rpc::Message;

#[test]
fn a_response_waits_for_the_notifications_that_a_proxy_holds() {
    let mut first = None;
    let holds = scripted("holds", "session/update", move |event, ledger| {
        let Event::Message(delivery) = event else {
            panic!("{event:?}")
        };
        match first.take() {
            // The second update settles the first, and passes.
            Some(held) => {
                ledger
                    .settle(held, Decision::Replace(r#"{"t":"settled"}"#.into()))
                    .unwrap();
                Reaction::Decided(Decision::Forward)
            }
            None => {
                first = Some(delivery.id);
                Reaction::Decided(Decision::Hold)
            }
        }
    });
    let mut router = Router::new(vec![holds], None);
    client(&mut router, PROMPT);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"q","method":"m","params":{"sessionId":"t"}}"#,
    );
    agent(&mut router, &update("s", "held"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":"waits"}"#);
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s","after":1}}"#,
    );
    assert!(
        received(&mut router, Peer::Client).is_empty(),
        "the session's line stands still"
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":"other session"}"#,
    );
    assert_eq!(
        received(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":"q","result":"other session"}"#]
    );
    agent(&mut router, &update("s", "later"));
    assert_eq!(
        received(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"t":"settled"}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":"p","result":"waits"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s","after":1}}"#.to_owned(),
            update("s", "later"),
        ]
    );
}

/// The session is `a` for the client, and `b` for the agent.
#[tokio::test]
async fn an_answer_takes_the_queue_of_the_session_that_its_request_had_on_the_hop() {
    let renames = scripted("renames", "*", |event, _| {
        let Event::Message(delivery) = event else {
            panic!("{event:?}")
        };
        let (from, to) = match delivery.sender {
            Peer::Client => (r#""a""#, r#""b""#),
            Peer::Agent => (r#""b""#, r#""a""#),
        };
        let body = delivery.message.body().replace(from, to);
        Reaction::Decided(Decision::Replace(body))
    });
    let (go, wait) = oneshot::channel();
    let slow = slow("session/update", wait);
    let mut router = Router::new(vec![renames, slow], None);
    client(
        &mut router,
        r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"a"}}"#,
    );
    agent(&mut router, &update("b", "first"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(received(&mut router, Peer::Client).is_empty());
    go.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    let answer = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#.to_owned();
    assert_eq!(
        received(&mut router, Peer::Client),
        [update("a", "first"), answer]
    );
}

#[tokio::test]
async fn a_busy_proxy_delays_only_the_queue_of_its_message() {
    let (go, wait) = oneshot::channel();
    let slow = slow("session/prompt", wait);
    let mut router = Router::new(vec![slow], None);
    client(&mut router, PROMPT);
    let note = |session: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"sessionId":"{session}"}}}}"#)
    };
    client(&mut router, &note("s"));
    client(&mut router, &note("t"));
    agent(&mut router, &update("s", "the other way"));
    assert_eq!(received(&mut router, Peer::Agent), [note("t")]);
    assert_eq!(
        received(&mut router, Peer::Client),
        [update("s", "the other way")]
    );
    go.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    assert_eq!(
        received(&mut router, Peer::Agent),
        [PROMPT.replace(r#""p""#, "1"), note("s")]
    );
}

#[tokio::test]
async fn messages_that_wait_for_a_busy_proxy_delay_no_other_session() {
    let ((first, wait), (_second, wait_more)) = (oneshot::channel(), oneshot::channel());
    let slow = slow_over("session/prompt", [wait, wait_more]);
    let mut router = Router::new(vec![slow], None);
    let note = r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s"}}"#;
    client(&mut router, PROMPT);
    client(
        &mut router,
        &PROMPT
            .replace(r#""p""#, r#""q""#)
            .replace(r#""s""#, r#""t""#),
    );
    client(&mut router, note);
    assert!(received(&mut router, Peer::Agent).is_empty());
    first.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    assert_eq!(
        received(&mut router, Peer::Agent),
        [PROMPT.replace(r#""p""#, "1"), note.to_owned()]
    );
}

#[tokio::test]
async fn messages_without_a_session_delay_only_others_without_one() {
    let (_busy, wait) = oneshot::channel();
    let slow = slow("ask", wait);
    let mut router = Router::new(vec![slow], None);
    let ask = |id| format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ask"}}"#);
    let note = r#"{"jsonrpc":"2.0","method":"note"}"#;
    client(&mut router, &ask("first"));
    client(&mut router, &ask("second"));
    client(&mut router, note);
    client(&mut router, PROMPT);
    assert_eq!(
        received(&mut router, Peer::Agent),
        [PROMPT.replace(r#""p""#, "3")],
        "the session does not wait, and what names none does"
    );
    agent(&mut router, &update("s", "the other way"));
    agent(&mut router, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    let answer = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#.to_owned();
    assert_eq!(
        received(&mut router, Peer::Client),
        [update("s", "the other way"), answer]
    );
}

/// Not every client waits for the answer before it goes on.
#[tokio::test]
async fn nothing_overtakes_the_message_that_begins_the_connection() {
    let (go, wait) = oneshot::channel();
    let slow = slow("initialize", wait);
    let mut router = Router::new(vec![slow], None);
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    for line in [initialize, PROMPT] {
        let message = Message::parse(Bytes::from_static(line.as_bytes()));
        router.receive(Peer::Client, message.unwrap());
    }
    assert!(received(&mut router, Peer::Agent).is_empty(), "they wait");
    router.pump(1000);
    assert!(
        received(&mut router, Peer::Agent).is_empty(),
        "one is in hand"
    );
    go.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    assert_eq!(
        received(&mut router, Peer::Agent),
        [
            initialize.replace(":0,", ":1,"),
            PROMPT.replace(r#""p""#, "2")
        ]
    );
}
