//! Streamable HTTP without sessions (MCP 2026-07-28), on exact texts.

use acp_chain::bridge::Arrival;
use acp_chain::rpc::Message;
use reqwest::{Method, RequestBuilder};

use super::server::{BridgeServer, Web, error_code, event, events, sent, status};

const VERSION: &str = "2026-07-28";

/// The client capabilities in a request, after the version.
const CAN: &str = r#","io.modelcontextprotocol/clientCapabilities":{}"#;

fn request(web: &Web, method: &str, name: &str) -> RequestBuilder {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":{{"name":"{name}","_meta":{{"progressToken":5,"io.modelcontextprotocol/protocolVersion":"{VERSION}","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let request = web.post(body).header("mcp-protocol-version", VERSION);
    let request = request.header("mcp-method", method);
    match method {
        "tools/call" => request.header("mcp-name", name),
        _ => request,
    }
}

#[tokio::test]
async fn a_request_is_a_link_of_its_own() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    for link in 1..=2 {
        let answer = sent(request(&web, "tools/call", "progress")).await;
        assert!(answer.headers().get("mcp-session-id").is_none());
        let events = events(answer).await;
        assert_eq!(events.len(), 2);
        assert!(events[0].contains(r#""method":"notifications/progress""#));
        assert!(events[1].starts_with(r#"{"jsonrpc":"2.0","id":"x","result":"#));
        assert_eq!(served.opened().await, link);
        assert_eq!(served.said("tools/call").await.0, link);
        assert!(matches!(served.next().await, Arrival::Closed { link: closed } if closed == link));
    }
}

#[tokio::test]
async fn a_client_that_breaks_off_cancels() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    // Before the first event, and in the middle of a stream.
    let pending = tokio::spawn(request(&web, "tools/call", "wait").send());
    let link = served.opened().await;
    served.said("tools/call").await;
    pending.abort();
    assert_eq!(served.closed().await, link);

    let pending = tokio::spawn(request(&web, "tools/call", "wait").send());
    let link = served.opened().await;
    served.said("tools/call").await;
    let params = r#"{"progressToken":5,"progress":1}"#;
    served.notify(link, "notifications/progress", params).await;
    let mut stream = pending.await.unwrap().unwrap();
    assert!(event(&mut stream).await.is_some());
    drop(stream);
    assert_eq!(served.closed().await, link);
}

#[tokio::test]
async fn errors_have_the_status_that_is_theirs() {
    let served = BridgeServer::legacy();
    let web = served.web().await;
    let unknown = sent(request(&web, "server/discover", "")).await;
    assert_eq!(unknown.status(), 404);
    assert_eq!(error_code(unknown).await, -32601);
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let meta = |version: &str, more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}"{more}}}}}}}"#
        )
    };
    for (version, method, body, code) in [
        (
            Some(VERSION),
            Some("tools/call"),
            meta(VERSION, CAN),
            -32020,
        ),
        (Some(VERSION), None, meta(VERSION, CAN), -32020),
        (None, Some("tools/list"), meta(VERSION, CAN), -32020),
        (
            Some("2031-01-01"),
            Some("tools/list"),
            meta(VERSION, CAN),
            -32020,
        ),
        (
            Some("2025-11-25"),
            Some("tools/list"),
            meta(VERSION, CAN),
            -32020,
        ),
        (
            Some(VERSION),
            Some("tools/list"),
            meta("2025-11-25", CAN),
            -32020,
        ),
        (Some(VERSION), Some("tools/list"), meta(VERSION, ""), -32602),
        (
            Some(VERSION),
            Some("tools/list"),
            meta(VERSION, CAN).replace(":1,", ":null,"),
            -32600,
        ),
    ] {
        let mut said = web.post(body.clone());
        if let Some(version) = version {
            said = said.header("mcp-protocol-version", version);
        }
        if let Some(method) = method {
            said = said.header("mcp-method", method);
        }
        let answer = sent(said).await;
        assert_eq!(answer.status(), 400, "{version:?} {method:?} {body}");
        assert_eq!(
            error_code(answer).await,
            code,
            "{version:?} {method:?} {body}"
        );
    }
    // None of these requests reached the server.
    assert_eq!(status(request(&web, "tools/list", "")).await, 200);
    assert_eq!(served.opened().await, 1);
}

#[tokio::test]
async fn initialize_is_no_method_and_begins_no_session() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let refused = sent(request(&web, "initialize", "")).await;
    assert_eq!(refused.status(), 404);
    assert!(refused.headers().get("mcp-session-id").is_none());
    assert_eq!(error_code(refused).await, -32601);
    // `initialize` never reached the server.
    assert_eq!(status(request(&web, "tools/list", "")).await, 200);
    served.opened().await;
    served.said("tools/list").await;
}

#[tokio::test]
async fn open_requests_are_no_clients() {
    const CALLS: usize = 1000;
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..CALLS {
        calls.spawn(request(&web, "tools/call", "wait").send());
    }
    let mut links = Vec::new();
    while links.len() < CALLS {
        if let Arrival::Message { link, .. } = served.next().await {
            links.push(link);
        }
    }
    // There is still room for clients.
    let session = web.begin().await;
    assert_eq!(status(web.listen(&session)).await, 200);
    served
        .bridge(move |bridge| {
            for link in links {
                bridge.send(link, &Message::result("{}"), Some("\"x\""));
            }
        })
        .await;
    while let Some(answer) = calls.join_next().await {
        assert_eq!(answer.unwrap().unwrap().status(), 200);
    }
}

#[tokio::test]
async fn a_notification_alone_is_taken_in() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let body = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let told = web.post(body).header("mcp-protocol-version", VERSION);
    assert_eq!(status(told).await, 202);
    let link = served.opened().await;
    assert_eq!(served.said("notifications/x").await.0, link);
    assert_eq!(served.closed().await, link);
}

#[tokio::test]
async fn there_is_nothing_to_get_or_delete() {
    let served = BridgeServer::start();
    let web = served.web().await;
    for method in [Method::GET, Method::DELETE] {
        let request = web.request(method).header("accept", "text/event-stream");
        let refused = sent(request.header("mcp-protocol-version", VERSION)).await;
        assert_eq!(refused.status(), 405);
        assert_eq!(refused.headers()["allow"], "POST");
    }
}

#[tokio::test]
async fn who_takes_only_json_gets_only_the_answer() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let (client, asked) = request(&web, "tools/call", "progress").build_split();
    let mut asked = asked.unwrap();
    let json = "application/json".parse().unwrap();
    asked.headers_mut().insert("accept", json);
    let answer = client.execute(asked).await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/json");
    let text = answer.text().await.unwrap();
    assert!(
        text.starts_with(r#"{"jsonrpc":"2.0","id":"x","result":"#) && !text.contains("progress")
    );
}
