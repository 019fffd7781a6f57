//! A server that is asked to stop.

use rustix::process::Signal;
use serde_json::json;

use super::served::{ServerProcess, initialize, posted, prompt};

#[tokio::test]
async fn turns_that_run_finish_and_nobody_comes_in_any_more() {
    let served = ServerProcess::start().await;
    let idle = served.connect().await;
    let mut nothing = idle.hears(None).await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    connection
        .prompts(&session, 2, "permission edit look /tmp")
        .await;
    let asked = stream.next().await.unwrap();
    served.signal(Signal::TERM);
    // A connection without a turn is closed.
    assert_eq!(nothing.next().await, None);
    assert_eq!(
        nothing.comment,
        "this server is about to stop; connect again"
    );
    assert_eq!(served.beside("/readyz").await, 503);
    assert_eq!(served.beside("/healthz").await, 200);
    let refused = posted(served.asks(reqwest::Method::POST), &initialize()).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "5");
    let asks = connection.asks(reqwest::Method::POST);
    let refused = posted(asks, &prompt(&session, 3, "echo more")).await;
    assert_eq!(refused.status(), 503);
    connection
        .says(&json!({
            "jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}},
        }))
        .await;
    assert_eq!(stream.turn(2).await, ["cancelled"]);
    assert_eq!(stream.next().await, None);
    let (idle, connection) = (idle.id.clone(), connection.id.clone());
    assert_ne!(idle, connection);
    assert!(served.ended().await.success());
}

#[tokio::test]
async fn what_is_open_when_the_time_is_over_is_answered() {
    let served = ServerProcess::of(&["--drain-seconds", "0"]).await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    connection.prompts(&session, 2, "echo begun\nnever").await;
    assert!(stream.next().await.is_some());
    served.signal(Signal::TERM);
    let said = stream.next().await.unwrap();
    assert_eq!(
        (&said["id"], &said["error"]["code"]),
        (&json!(2), &json!(-32800))
    );
    assert_eq!(stream.next().await, None);
    assert!(served.ended().await.success());
}
