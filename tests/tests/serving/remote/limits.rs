//! The limits of a user, across all connections.

use std::fs;

use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use reqwest::Method;
use serde_json::json;

use super::served::{AGENT, ServerProcess, Stream, initialize, posted, prompt};

/// A server with these `[serve.limits]`, and a token of ann's and one of bob's.
pub async fn serve(folder: &std::path::Path, limits: &str) -> (ServerProcess, [String; 2]) {
    let tokens = folder.join("tokens");
    let mut secrets = Vec::new();
    for name in ["ann", "bob"] {
        secrets.push(host::token(&tokens, name, &[]).await);
    }
    fs::create_dir(folder.join("acp-chain")).unwrap();
    let tokens = tokens.to_str().unwrap();
    let settings = format!("[serve]\ntokens = {tokens:?}\n[serve.limits]\n{limits}\n");
    fs::write(folder.join("acp-chain/config.toml"), settings).unwrap();
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0", "--", AGENT]);
    command.env("XDG_CONFIG_HOME", folder);
    let served = ServerProcess::by(&mut command).await;
    (served, secrets.try_into().unwrap())
}

/// A new connection and its stream.
async fn begin(served: &ServerProcess, token: &str) -> (String, Stream) {
    let asks = served.asks(Method::POST).bearer_auth(token);
    let begun = posted(asks, &initialize()).await;
    let id = begun.headers()["acp-connection-id"].to_str().unwrap();
    let id = id.to_owned();
    let asks = served.asks(Method::GET).bearer_auth(token);
    let asks = asks.header("acp-connection-id", &id);
    let asks = asks.header("accept", "text/event-stream");
    let stream = Stream::of(in_time("a stream", asks.send()).await.unwrap());
    (id, stream)
}

#[tokio::test]
async fn a_user_has_so_many_sessions_of_all_connections_and_others_have_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let (served, [ann, bob]) = serve(folder.path(), "sessions-per-user = 2").await;
    let new = async |(token, id): (&str, &str), stream: &mut Stream| {
        let message = json!({
            "jsonrpc": "2.0", "id": 7, "method": "session/new", "params": {"cwd": "/", "mcpServers": []},
        });
        let asks = served.asks(Method::POST).bearer_auth(token);
        let asks = asks.header("acp-connection-id", id);
        assert_eq!(posted(asks, &message).await.status(), 202);
        let answer = stream.next().await.unwrap();
        assert_eq!(answer["id"], 7);
        answer
    };
    let (first, mut of_first) = begin(&served, &ann).await;
    let (second, mut of_second) = begin(&served, &ann).await;
    let (other, mut of_other) = begin(&served, &bob).await;
    assert!(new((&ann, &first), &mut of_first).await["result"].is_object());
    assert!(new((&ann, &second), &mut of_second).await["result"].is_object());
    let refused = new((&ann, &second), &mut of_second).await;
    let told = refused["error"]["message"].as_str().unwrap();
    assert!(
        told.contains("your limit of open sessions is reached"),
        "{told}"
    );
    assert!(new((&bob, &other), &mut of_other).await["result"].is_object());
    // The sessions of a connection no longer count when it has ended.
    let asks = served.asks(Method::DELETE).bearer_auth(&ann);
    asks.header("acp-connection-id", &first)
        .send()
        .await
        .unwrap();
    while of_first.next().await.is_some() {}
    assert!(new((&ann, &second), &mut of_second).await["result"].is_object());
}

#[tokio::test]
async fn who_sends_much_is_read_slowly_and_nobody_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let limits = "bytes-per-second-per-user = \"64 KiB\"";
    let (served, [ann, bob]) = serve(folder.path(), limits).await;
    let (of_ann, _ann_hears) = begin(&served, &ann).await;
    let (of_bob, _bob_hears) = begin(&served, &bob).await;
    let long = |length| prompt("nobody", 1, &format!("echo {}", "x".repeat(length)));
    let asks = |token: &str, id: &str| {
        let asks = served.asks(Method::POST).bearer_auth(token);
        asks.header("acp-connection-id", id)
    };
    // A message above the rate is delayed, not lost.
    let answer = posted(asks(&ann, &of_ann), &long(96 << 10)).await;
    assert_eq!(answer.status(), 202);
    // This would take a minute. Bob is answered while Ann waits.
    let much = long(4 << 20);
    let slow = posted(asks(&ann, &of_ann), &much);
    let little = long(1);
    tokio::select! {
        _ = slow => panic!("the message was not delayed"),
        answer = posted(asks(&bob, &of_bob), &little) => assert_eq!(answer.status(), 202),
    }
}

#[tokio::test]
async fn who_has_no_connection_yet_is_read_as_slowly() {
    let folder = tempfile::tempdir().unwrap();
    let limits = "bytes-per-second-per-user = \"8 KiB\"";
    let (served, [ann, bob]) = serve(folder.path(), limits).await;
    let long = |length| {
        let params = json!({"protocolVersion": 1, "_meta": {"long": "x".repeat(length)}});
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    };
    let asks = |token: &str| served.asks(Method::POST).bearer_auth(token);
    // This would take half a minute. Bob is answered while Ann waits.
    let much = long(200 << 10);
    let slow = posted(asks(&ann), &much);
    let little = long(1);
    tokio::select! {
        _ = slow => panic!("the message was not delayed"),
        answer = posted(asks(&bob), &little) => assert_eq!(answer.status(), 200),
    }
}
