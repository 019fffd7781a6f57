//! A server in front of a remote agent.

use acp_chain_tests::{host, web};
use reqwest::Method;
use serde_json::Value;

use super::served::{ServerProcess, initialize, posted};

async fn gateway(url: &str) -> ServerProcess {
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0", "--connect", url]);
    ServerProcess::by(&mut command).await
}

#[tokio::test]
async fn one_process_reaches_the_agent_for_all_connections() {
    let behind = ServerProcess::start().await;
    let gateway = gateway(&behind.url).await;
    let mut connections = Vec::new();
    for _ in 0..10 {
        connections.push(gateway.connect().await);
    }
    for (number, connection) in connections.iter().enumerate() {
        let mut all = connection.hears(None).await;
        let session = connection.session(&mut all, 1).await;
        let mut stream = connection.hears(Some(&session)).await;
        let text = format!("echo {number}");
        connection.prompts(&session, 2, &text).await;
        assert_eq!(stream.turn(2).await, [number.to_string()]);
    }
    let words = gateway.children();
    let connects = words
        .iter()
        .filter(|words| words.contains(&"connect".to_owned()));
    assert_eq!(connects.count(), 1, "{words:?}");
    assert_eq!(words.len(), 2, "`connect` and the supervisor: {words:?}");
}

#[tokio::test]
async fn whoever_comes_when_the_agent_is_not_there_is_told() {
    let (_nobody, address) = web::nobody();
    let gateway = gateway(&format!("http://{address}/acp")).await;
    let answer = posted(gateway.asks(Method::POST), &initialize()).await;
    let said: Value = answer.json().await.unwrap();
    let message = said["error"]["message"].as_str().unwrap();
    let told = format!("http://{address}/acp: nothing listens there");
    assert!(message.contains(&told), "{message}");
    // The gateway is still ready.
    assert_eq!(gateway.beside("/readyz").await, 200);
}
