//! Clients of MCP 2026-07-28 over HTTP, whose requests stand alone, and a server of the client that needs a
//! connection.

use acp_chain_tests::declared::address;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::InProcess;
use acp_chain_tests::web;
use acp_chain_tests::wire::in_time;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::agent::{SESSION, session};

const HTTP: &str = r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}"#;

/// A server in the dialect of the RFD.
const CONNECTED: &str = r#"[{"type":"acp","name":"theirs","id":"own-id"}]"#;

/// A call of a tool, by an agent's client.
fn call(declared: &Value) -> RequestBuilder {
    let (url, bearer) = address(declared);
    let client = web::client();
    let body = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "t",
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    client
        .post(url)
        .header("authorization", bearer)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "t")
        .body(body.to_string())
}

async fn heard(chain: &mut InProcess) -> (Message, Value) {
    let message = chain.client.receive().await.expect("a message");
    let params = message.params.as_deref().unwrap_or("null");
    let params = serde_json::from_str(params).expect("JSON");
    (message, params)
}

fn answer(chain: &mut InProcess, message: &Message, result: &str) {
    chain.client.send_all(message.result(result));
}

/// Answers `mcp/connect` and the first request to the provider on the connection.
async fn connect(chain: &mut InProcess) {
    let (message, params) = heard(chain).await;
    assert_eq!(message.method.as_deref(), Some("mcp/connect"));
    assert_eq!(params["acpId"], "own-id");
    answer(chain, &message, r#"{"connectionId":"theirs"}"#);
    let (message, params) = heard(chain).await;
    assert_eq!(params["method"], "server/discover");
    let discovered = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    answer(chain, &message, discovered);
}

#[tokio::test]
async fn a_thousand_calls_at_once_are_said_on_one_connection_which_ends_with_the_session() {
    const CALLS: usize = 1000;
    let mut chain = InProcess::initialized_with(&[("pass", "{}")], HTTP).await;
    let declared = session(&mut chain, SESSION, CONNECTED).await;
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        calls.spawn(call(&declared[0]).send());
    }
    connect(&mut chain).await;
    let mut asked = Vec::new();
    for _ in 0..CALLS {
        let (message, params) = heard(&mut chain).await;
        assert_eq!(params["connectionId"], "theirs", "{}", message.line);
        assert_eq!(params["method"], "tools/call");
        asked.push(message);
    }
    for message in asked {
        answer(
            &mut chain,
            &message,
            r#"{"content":[],"resultType":"complete"}"#,
        );
    }
    while let Some(answered) = in_time("an answer", calls.join_next()).await {
        let answered = answered.unwrap().unwrap();
        assert_eq!(answered.status(), 200);
        assert!(answered.text().await.unwrap().contains("complete"));
    }
    let params = json!({ "sessionId": SESSION }).to_string();
    let close = chain.client.ask("session/close", &params);
    let closing = chain.agent.receive().await.unwrap();
    chain.agent.send_all(closing.result("{}"));
    let (message, params) = heard(&mut chain).await;
    assert_eq!(message.method.as_deref(), Some("mcp/disconnect"));
    assert_eq!(params["connectionId"], "theirs");
    answer(&mut chain, &message, "{}");
    chain.client.response(&close).await;
}

#[tokio::test]
async fn a_client_hears_from_a_legacy_server_itself_that_it_is_one() {
    let mut chain = InProcess::initialized_with(&[], HTTP).await;
    let declared = session(&mut chain, SESSION, CONNECTED).await;
    let called = tokio::spawn(call(&declared[0]).send());
    let (message, _) = heard(&mut chain).await;
    answer(&mut chain, &message, r#"{"connectionId":"theirs"}"#);
    let (message, params) = heard(&mut chain).await;
    assert_eq!(params["method"], "server/discover");
    let unknown = r#"{"code":-32601,"message":"what is that","data":{"x":1}}"#;
    chain.client.send_all(message.error(unknown));
    let (message, _) = heard(&mut chain).await;
    assert_eq!(message.method.as_deref(), Some("mcp/disconnect"));
    let answered = in_time("an answer", called).await.unwrap().unwrap();
    assert_eq!(answered.status(), 404);
    let answered = answered.text().await.unwrap();
    assert_eq!(
        answered,
        format!(r#"{{"jsonrpc":"2.0","id":1,"error":{unknown}}}"#)
    );
}
