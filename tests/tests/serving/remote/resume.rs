//! Broken networks: no message is lost or sent twice.

use acp_chain_tests::wire::in_time;
use reqwest::Method;
use serde_json::json;

use super::served::{ServerProcess, Stream, posted, prompt};

#[tokio::test]
async fn a_stream_goes_on_behind_the_last_event_that_came() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    connection.prompts(&session, 2, "stream 200 text").await;
    let mut texts = Vec::new();
    // The stream breaks repeatedly, with unread messages on the way.
    for _ in 0..20 {
        for _ in 0..7 {
            let said = stream.next().await.unwrap();
            texts.extend(super::served::text(&said));
        }
        let answer = connection.opens(Some(&session), Some(&stream.last)).await;
        let last = stream.last.clone();
        stream = Stream::of(answer);
        stream.last = last;
    }
    texts.extend(stream.turn(2).await);
    let expected: Vec<_> = (0..200).map(|number| format!("text {number}")).collect();
    assert_eq!(texts, expected);
    // A stream that broke before its first event is resumed, too.
    connection.prompts(&session, 3, "echo again").await;
    let last = stream.last.clone();
    drop(stream);
    let mut stream = Stream::of(connection.opens(Some(&session), Some(&last)).await);
    assert_eq!(stream.turn(3).await, ["again"]);
    // An event that never existed, or is no longer kept, is rejected.
    for wrong in ["100000", "0"] {
        let answer = connection.opens(Some(&session), Some(wrong)).await;
        assert_eq!(answer.status(), 409, "{wrong}");
    }
}

#[tokio::test]
async fn a_question_waits_for_a_client_whose_network_is_gone() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    connection
        .prompts(&session, 2, "permission edit look /tmp")
        .await;
    let asked = stream.next().await.unwrap();
    let last = (all.last.clone(), stream.last.clone());
    drop((all, stream));
    let mut stream = Stream::of(connection.opens(Some(&session), Some(&last.1)).await);
    let _all = Stream::of(connection.opens(None, Some(&last.0)).await);
    connection
        .says(&json!({
            "jsonrpc": "2.0", "id": asked["id"],
            "result": {"outcome": {"outcome": "cancelled"}},
        }))
        .await;
    assert_eq!(stream.turn(2).await, ["cancelled"]);
}

#[tokio::test]
async fn a_message_that_is_sent_once_more_is_taken_once() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    for key in ["\"1\"", "\"1\"", "\"2\"", "\"1\""] {
        let asks = connection.asks(Method::POST).header("idempotency-key", key);
        let id = if key == "\"1\"" { 10 } else { 11 };
        let answer = posted(asks, &prompt(&session, id, "echo once")).await;
        assert_eq!(answer.status(), 202);
    }
    assert_eq!(stream.turn(10).await, ["once"]);
    assert_eq!(stream.turn(11).await, ["once"]);
}

#[tokio::test]
async fn a_connection_of_which_nothing_is_heard_ends_and_its_agent_with_it() {
    let served = ServerProcess::of(&["--resume-seconds", "0"]).await;
    let connection = served.connect().await;
    let gone = async {
        loop {
            let answer = connection.opens(None, None).await;
            if answer.status() == 404 {
                return;
            }
        }
    };
    in_time("the end of the connection", gone).await;
}
