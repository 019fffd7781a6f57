//! The routing of messages to streams.

use serde_json::json;

use super::served::ServerProcess;

#[tokio::test]
async fn sessions_have_streams_of_their_own_and_bodies_are_as_the_agent_wrote_them() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let [one, two] = [
        connection.session(&mut all, 1).await,
        connection.session(&mut all, 2).await,
    ];
    let mut first = connection.hears(Some(&one)).await;
    // Messages of a session wait until its stream is open.
    connection.prompts(&two, 3, "stream 3 two").await;
    connection.prompts(&one, 4, "stream 2 one").await;
    assert_eq!(first.turn(4).await, ["one 0", "one 1"]);
    let mut second = connection.hears(Some(&two)).await;
    assert_eq!(second.turn(3).await, ["two 0", "two 1", "two 2"]);
    // The agent's request arrives on the session's stream, and the client's answer reaches the agent.
    connection
        .prompts(&one, 5, "permission edit look /tmp")
        .await;
    let asked = first.next().await.unwrap();
    assert_eq!(asked["method"], "session/request_permission");
    let option = asked["params"]["options"][0]["optionId"].clone();
    connection
        .says(&json!({
            "jsonrpc": "2.0", "id": asked["id"],
            "result": {"outcome": {"outcome": "selected", "optionId": option}},
        }))
        .await;
    assert!(first.turn(5).await[0].starts_with("selected"));
    let raw =
        r#"raw {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"ONE","n":1e400}}"#;
    let raw = raw.replace("ONE", &one);
    connection.prompts(&one, 6, &raw).await;
    first.next().await;
    assert_eq!(first.said, raw.strip_prefix("raw ").unwrap());
    first.turn(6).await;
    // A message with line breaks between tokens reaches the agent as one line.
    let pretty = serde_json::to_string_pretty(&super::served::prompt(&two, 7, "echo there"));
    let posted = connection
        .asks(reqwest::Method::POST)
        .header("content-type", "application/json; charset=utf-8")
        .body(pretty.unwrap());
    assert_eq!(posted.send().await.unwrap().status(), 202);
    assert_eq!(second.turn(7).await, ["there"]);
}

#[tokio::test]
async fn a_large_message_goes_through_both_ways() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    let large = "x".repeat(3 << 20);
    connection
        .prompts(&session, 2, &format!("echo {large}"))
        .await;
    assert_eq!(stream.turn(2).await, [large]);
}

#[tokio::test]
async fn a_session_of_somebody_else_or_of_nobody_is_not_streamed() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    let mut streams = Vec::new();
    // A client may open the stream of a session that it is about to load.
    for name in 0..16 {
        let name = name.to_string();
        streams.push(connection.hears(Some(&name)).await);
    }
    assert_eq!(connection.opens(Some("more"), None).await.status(), 404);
    drop(streams.pop());
    // The server may notice later that the stream is closed.
    while connection.opens(Some("more"), None).await.status() != 200 {
        tokio::task::yield_now().await;
    }
}
