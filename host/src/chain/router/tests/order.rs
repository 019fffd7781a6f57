//! What must not overtake what.

use tokio::sync::oneshot;

use super::{PROMPT, Says, agent, client, heard, scripted, slow, update};
use crate::chain::router::Router;
use crate::channel::{Decision, Event, Peer};

#[test]
fn a_response_waits_for_the_notifications_that_a_proxy_holds() {
    let mut first = None;
    let holds = scripted("holds", "session/update", move |event, ledger| {
        let Event::Message(delivery) = event else {
            panic!("{event:?}")
        };
        match first.take() {
            // The second update settles the first, and goes on itself.
            Some(held) => {
                ledger
                    .settle(held, Decision::Replace(r#"{"t":"settled"}"#.into()))
                    .unwrap();
                Says::Decided(Decision::Forward)
            }
            None => {
                first = Some(delivery.id);
                Says::Decided(Decision::Hold)
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
        heard(&mut router, Peer::Client).is_empty(),
        "the session's line stands still"
    );
    agent(
        &mut router,
        r#"{"jsonrpc":"2.0","id":2,"result":"other session"}"#,
    );
    assert_eq!(
        heard(&mut router, Peer::Client),
        [r#"{"jsonrpc":"2.0","id":"q","result":"other session"}"#]
    );
    agent(&mut router, &update("s", "later"));
    assert_eq!(
        heard(&mut router, Peer::Client),
        [
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"t":"settled"}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":"p","result":"waits"}"#.to_owned(),
            r#"{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s","after":1}}"#.to_owned(),
            update("s", "later"),
        ]
    );
}

/// The client knows the session as `a`, the agent as `b`.
#[tokio::test]
async fn an_answer_travels_in_the_line_of_the_session_that_its_request_had_there() {
    let renames = scripted("renames", "*", |event, _| {
        let Event::Message(delivery) = event else {
            panic!("{event:?}")
        };
        let (from, to) = match delivery.sender {
            Peer::Client => (r#""a""#, r#""b""#),
            Peer::Agent => (r#""b""#, r#""a""#),
        };
        let body = delivery.message.body().replace(from, to);
        Says::Decided(Decision::Replace(body))
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
    assert!(heard(&mut router, Peer::Client).is_empty());
    go.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    let answer = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#.to_owned();
    assert_eq!(
        heard(&mut router, Peer::Client),
        [update("a", "first"), answer]
    );
}

#[tokio::test]
async fn a_busy_proxy_keeps_only_what_it_may_concern() {
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
    assert_eq!(heard(&mut router, Peer::Agent), [note("t")]);
    assert_eq!(
        heard(&mut router, Peer::Client),
        [update("s", "the other way")]
    );
    go.send(()).unwrap();
    let finished = router.split().2.await;
    router.finished(finished);
    router.pump(1000);
    assert_eq!(
        heard(&mut router, Peer::Agent),
        [PROMPT.replace(r#""p""#, "1"), note("s")]
    );
}
