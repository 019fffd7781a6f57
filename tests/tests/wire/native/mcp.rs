//! MCP over ACP with native proxies on the way.

use acp_chain::chain::{ChildIo, Launch, Member, Native, Program};
use acp_chain::channel::{Failure, FailurePolicy};
use acp_chain::native::{CommandLine, Supervisor};
use acp_chain_tests::host::{self, InProcess, played};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::web;
use serde_json::{Value, json};

use crate::native::PROXY;

/// A native proxy that forwards everything.
fn passing(id: &str) -> Member {
    let name = id.to_owned();
    let command = CommandLine {
        program: PROXY.into(),
        args: Vec::new(),
        env: Vec::new(),
    };
    let supervisor = Supervisor::start(&host::program()).unwrap();
    let program = supervisor.allow(vec![command], 0).unwrap().remove(0);
    let mut launch: Launch = Box::new(move || {
        let started = ChildIo::start(&program, Some(&name));
        started.map_err(|error| Failure::new(error.to_string()))
    });
    let io = launch().unwrap();
    Native {
        name: id.to_owned(),
        dialect: None,
        on_failure: FailurePolicy::Refuse,
        sees_tool_runs: false,
        program: Some(Program { io, launch }),
    }
    .into()
}

/// Begins a chain in front of an agent with this result of `initialize`.
async fn begin(chain: &mut InProcess, result: &str) {
    let id = chain.client.ask("initialize", r#"{"protocolVersion":1}"#);
    let asked = chain.agent.receive().await.unwrap();
    for line in asked.result(result) {
        chain.agent.send(line);
    }
    chain.client.response(&id).await;
}

const OVER_ACP: &str =
    r#"{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"acp":true}}}"#;
const OVER_HTTP: &str = r#"{"protocolVersion":2,"capabilities":{"session":{"mcp":{"http":{}}}}}"#;

/// Sets up a session. Returns the MCP servers that the agent receives.
async fn session(chain: &mut InProcess, servers: &str) -> Vec<Value> {
    let params = format!(r#"{{"cwd":"/","mcpServers":{servers}}}"#);
    let id = chain.client.ask("session/new", &params);
    let asked = chain.agent.receive().await.unwrap();
    for line in asked.result(r#"{"sessionId":"s"}"#) {
        chain.agent.send(line);
    }
    chain.client.response(&id).await;
    let params: Value = serde_json::from_str(&asked.params.unwrap()).unwrap();
    params["mcpServers"].as_array().unwrap().clone()
}

fn result(answer: &acp_chain_tests::envelope::Message) -> Value {
    let result = answer.result.as_deref();
    serde_json::from_str(result.unwrap_or_else(|| panic!("no result: {}", answer.line))).unwrap()
}

const INTRODUCTION: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;

#[tokio::test]
async fn an_agent_calls_the_tools_of_a_component_through_native_proxies() {
    let tools = host::proxy("tools", "tools", "{}").await;
    let members = vec![passing("a"), tools.into(), passing("b"), passing("c")];
    let mut chain = InProcess::of(members, &Transcript::new());
    begin(&mut chain, OVER_ACP).await;
    let servers = session(&mut chain, "[]").await;
    let server = servers[0]["id"].as_str().unwrap();
    let agent = &mut chain.agent;
    let connected = agent
        .request("mcp/connect", &json!({ "acpId": server }).to_string())
        .await;
    let connection = result(&connected)["connectionId"].clone();
    let ask = |method: &str, params: Value| {
        json!({ "connectionId": connection, "method": method, "params": params }).to_string()
    };
    let params = serde_json::from_str(INTRODUCTION).unwrap();
    let answer = agent
        .request("mcp/message", &ask("initialize", params))
        .await;
    assert_eq!(result(&answer)["protocolVersion"], "2025-11-25");
    let answer = agent
        .request("mcp/message", &ask("tools/list", json!({})))
        .await;
    assert!(!result(&answer)["tools"].as_array().unwrap().is_empty());
    // In the other dialect, with requests that stand alone.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "a", "version": "1" },
    });
    let alone = json!({
        "serverId": server, "requestId": "r", "method": "tools/list", "params": { "_meta": meta },
    });
    let answer = agent.request("mcp/message", &alone.to_string()).await;
    assert!(
        !result(&answer)["result"]["tools"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn an_agent_over_a_bridge_calls_the_tools_of_a_component_through_a_native_proxy() {
    let tools = host::proxy("tools", "tools", "{}").await;
    let members = vec![tools.into(), passing("n")];
    let mut chain = InProcess::of(members, &Transcript::new());
    begin(&mut chain, OVER_HTTP).await;
    let servers = session(&mut chain, "[]").await;
    let client = web::client();
    let url = servers[0]["url"].as_str().unwrap();
    let header = &servers[0]["headers"][0];
    let post = |body: Value| {
        client
            .post(url)
            .header(
                header["name"].as_str().unwrap(),
                header["value"].as_str().unwrap(),
            )
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body.to_string())
    };
    let params: Value = serde_json::from_str(INTRODUCTION).unwrap();
    let begun =
        post(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
    let begun = begun.send().await.unwrap();
    let session = begun.headers()["mcp-session-id"].clone();
    assert!(begun.text().await.unwrap().contains("2025-11-25"));
    let listed = post(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }))
        .header("mcp-session-id", session)
        .send();
    let listed = listed.await.unwrap().text().await.unwrap();
    assert!(listed.contains(r#""tools":["#), "{listed}");
}

#[tokio::test]
async fn the_clients_server_is_reached_past_native_proxies() {
    let members = vec![passing("a"), passing("b")];
    let mut chain = InProcess::of(members, &Transcript::new());
    begin(&mut chain, OVER_ACP).await;
    let servers = session(
        &mut chain,
        r#"[{"type":"acp","name":"theirs","id":"own-id"}]"#,
    )
    .await;
    let server = servers[0]["id"].as_str().unwrap();
    let ask = chain
        .agent
        .ask("mcp/connect", &json!({ "acpId": server }).to_string());
    let asked = chain.client.receive().await.unwrap();
    assert_eq!(asked.method.as_deref(), Some("mcp/connect"));
    assert!(
        asked
            .params
            .as_deref()
            .unwrap()
            .contains(r#""acpId":"own-id""#)
    );
    for line in asked.result(r#"{"connectionId":"c"}"#) {
        chain.client.send(line);
    }
    let connection = result(&chain.agent.response(&ask).await)["connectionId"].clone();
    // Notifications of the server reach the agent.
    chain.client.notify(
        "mcp/message",
        r#"{"connectionId":"c","method":"notifications/tools/list_changed"}"#,
    );
    let told = chain.agent.receive().await.unwrap();
    let params: Value = serde_json::from_str(told.params.as_deref().unwrap()).unwrap();
    assert_eq!(params["connectionId"], connection);
    assert_eq!(params["method"], "notifications/tools/list_changed");
    // So do requests of the server.
    let id = chain.client.ask(
        "mcp/message",
        r#"{"connectionId":"c","method":"roots/list"}"#,
    );
    let asked = chain.agent.receive().await.unwrap();
    for line in asked.result(r#"{"roots":[]}"#) {
        chain.agent.send(line);
    }
    let answer = chain.client.response(&id).await;
    assert_eq!(answer.result.as_deref(), Some(r#"{"roots":[]}"#));
}

#[tokio::test]
async fn a_native_proxy_provides_a_server_of_its_own() {
    let transcript = Transcript::new();
    let (native, mut proxy) = played("proxy", &transcript);
    let mut chain = InProcess::of(vec![native.into(), passing("n")], &transcript);
    let begin = chain.client.ask("initialize", "{}");
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":"i","method":"proxy/successor","params":{"method":"initialize","params":{}}}"#);
    let asked = chain.agent.receive().await.unwrap();
    for line in asked.result(OVER_ACP) {
        chain.agent.send(line);
    }
    proxy.line().await;
    proxy.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    chain.client.response(&begin).await;

    let new = chain
        .client
        .ask("session/new", r#"{"cwd":"/","mcpServers":[]}"#);
    let asked = proxy.receive().await.unwrap();
    proxy.send(r#"{"jsonrpc":"2.0","id":"n","method":"proxy/successor","params":{"method":"session/new","params":{"cwd":"/","mcpServers":[{"type":"acp","name":"own","id":"own-1"}]}}}"#);
    let declared = chain.agent.receive().await.unwrap();
    let params: Value = serde_json::from_str(declared.params.as_deref().unwrap()).unwrap();
    let server = params["mcpServers"][0]["id"].clone();
    assert_ne!(server, "own-1");
    for line in declared.result(r#"{"sessionId":"s"}"#) {
        chain.agent.send(line);
    }
    proxy.response(r#""n""#).await;
    for line in asked.result(r#"{"sessionId":"s"}"#) {
        proxy.send(line);
    }
    chain.client.response(&new).await;

    let connect = chain
        .agent
        .ask("mcp/connect", &json!({ "acpId": server }).to_string());
    let asked = proxy.receive().await.unwrap();
    assert_eq!(asked.method.as_deref(), Some("proxy/successor"));
    let params: Value = serde_json::from_str(asked.params.as_deref().unwrap()).unwrap();
    assert_eq!(params["method"], "mcp/connect");
    assert_eq!(params["params"]["acpId"], "own-1");
    for line in asked.result(r#"{"connectionId":"mine"}"#) {
        proxy.send(line);
    }
    let connection = result(&chain.agent.response(&connect).await)["connectionId"].clone();
    assert_ne!(connection, "mine");
    proxy.send(r#"{"jsonrpc":"2.0","id":"r","method":"proxy/successor","params":{"method":"mcp/message","params":{"connectionId":"mine","method":"roots/list"}}}"#);
    let asked = chain.agent.receive().await.unwrap();
    let params: Value = serde_json::from_str(asked.params.as_deref().unwrap()).unwrap();
    assert_eq!(params["connectionId"], connection);
    for line in asked.result(r#"{"roots":[]}"#) {
        chain.agent.send(line);
    }
    let answer = proxy.response(r#""r""#).await;
    assert_eq!(answer.result.as_deref(), Some(r#"{"roots":[]}"#));
}
