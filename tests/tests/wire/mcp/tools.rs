//! Tools of a component, for agents that speak MCP over ACP themselves.

use std::collections::BTreeSet;

use acp_chain::sandbox::{Component, Engine};
use acp_chain_tests::host::component;
use serde_json::{Value, json};

use super::agent::{
    SESSION, alone, ask_alone, connect, error, id, native, result, session, text, with_tools,
};

const TOOLS: &[(&str, &str)] = &[("tools", "{}")];

#[test]
fn a_component_that_imports_the_channel_alone_has_tools() {
    let engine = Engine::new(None).unwrap();
    let component = Component::load(&engine, &component("tools")).unwrap();
    // In any order: a linker merges the worlds of a proxy as it finds them.
    let imports = BTreeSet::from_iter(component.imports(&engine));
    let expected = [
        "acp-chain:proxy/types@0.1.2",
        "acp-chain:proxy/channel@0.1.2",
        // Only types.
        "acp-chain:proxy/calls@0.1.2",
    ];
    assert_eq!(imports, expected.map(str::to_owned).into());
    assert_eq!(component.offers().to_string(), "tools");
}

#[tokio::test]
async fn an_agent_that_connects_lists_and_calls_them() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut chain = native(&[("tools", r#"{"instructions":"be brief"}"#)]).await;
        let servers = session(&mut chain, SESSION, "[]").await;
        assert_eq!(servers.len(), 1);
        assert_eq!(servers[0]["name"], "tools-0");
        let agent = &mut chain.agent;
        let connection = connect(agent, &id(&servers[0])).await;
        let hello = connection.initialize(agent, version).await;
        assert_eq!(hello["protocolVersion"], version);
        assert_eq!(hello["serverInfo"]["name"], "tools-0");
        assert_eq!(hello["instructions"], "be brief");
        assert_eq!(hello["capabilities"]["tools"]["listChanged"], true);
        let listed = result(&connection.request(agent, "tools/list", "{}").await);
        let names = listed["tools"].as_array().unwrap().iter();
        let names: Vec<_> = names.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names[..2], ["echo", "add"]);
        let answer = connection
            .call(agent, "echo", r#"{"text":"1e400 \u00e9"}"#)
            .await;
        assert_eq!(text(&answer), "1e400 é");
        let answer = connection.call(agent, "add", r#"{"a":2,"b":3}"#).await;
        assert_eq!(result(&answer)["structuredContent"], json!({ "sum": 5.0 }));
        let answer = connection.call(agent, "session", "{}").await;
        assert_eq!(text(&answer), SESSION);
        let answer = connection.call(agent, "fail", "{}").await;
        assert_eq!(result(&answer)["isError"], true);
        let answer = connection.call(agent, "protocol-error", "{}").await;
        assert_eq!(error(&answer), (-32602, "not like this".to_owned()));
        let bye = json!({ "connectionId": connection.0 }).to_string();
        assert_eq!(
            result(&agent.request("mcp/disconnect", &bye).await),
            json!({})
        );
        let late = connection.request(agent, "ping", "{}").await;
        assert_eq!(error(&late).0, -32602);
    }
}

#[tokio::test]
async fn an_agent_whose_requests_stand_alone_lists_and_calls_them() {
    let mut chain = native(TOOLS).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let agent = &mut chain.agent;
    let found = ask_alone(agent, &server, "server/discover", &json!({})).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = ask_alone(agent, &server, "tools/list", &json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "echo");
    assert_eq!(listed["result"]["resultType"], "complete");
    let call = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    let called = ask_alone(agent, &server, "tools/call", &call).await;
    assert_eq!(called["result"]["structuredContent"]["sum"], 3.0);
    let call = json!({ "name": "protocol-error", "arguments": {} });
    let called = ask_alone(agent, &server, "tools/call", &call).await;
    assert_eq!(called["error"]["code"], -32602);
    let unknown = alone("acp-chain-999", "r", "tools/list", &json!({}));
    let answer = agent.request("mcp/message", &unknown).await;
    assert_eq!(error(&answer).0, -33001);
}

#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let (mut chain, _, connection) = with_tools(r#"{"many":250}"#).await;
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let asked = params.to_string();
        let answer = connection.request(&mut chain.agent, "tools/list", &asked);
        let page = result(&answer.await);
        let tools = page["tools"].as_array().unwrap();
        names.extend(
            tools
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned()),
        );
        match &page["nextCursor"] {
            Value::Null => break,
            cursor => params = json!({ "cursor": cursor }),
        }
    }
    assert_eq!(names.last().map(String::as_str), Some("many-249"));
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
}

#[tokio::test]
async fn a_tool_waits_for_the_client() {
    let (mut chain, _, connection) = with_tools("{}").await;
    let slow = r#"{"name":"slow","arguments":{}}"#;
    let slow = chain
        .agent
        .ask("mcp/message", &connection.wrap("tools/call", slow));
    let gate = chain.client.receive().await.unwrap();
    assert_eq!(gate.method.as_deref(), Some("_test/gate"));
    // Meanwhile, other calls are answered.
    let echo = connection.call(&mut chain.agent, "echo", r#"{"text":"meanwhile"}"#);
    assert_eq!(text(&echo.await), "meanwhile");
    for line in gate.result(r#"{"open":true}"#) {
        chain.client.send(line);
    }
    let answer = chain.agent.response(&slow).await;
    assert!(answer.result.is_some(), "{}", answer.line);
}

#[tokio::test]
async fn a_call_that_is_withdrawn_is_told_to_the_tool_and_answered() {
    let (mut chain, _, connection) = with_tools("{}").await;
    let slow = r#"{"name":"slow","arguments":{}}"#;
    let slow = chain
        .agent
        .ask("mcp/message", &connection.wrap("tools/call", slow));
    let gate = chain.client.receive().await.unwrap();
    chain
        .agent
        .notify("$/cancel_request", &format!(r#"{{"requestId":{slow}}}"#));
    assert_eq!(error(&chain.agent.response(&slow).await).0, -32800);
    // The tool cancels its own request.
    let cancel = chain.client.receive().await.unwrap();
    assert_eq!(cancel.method.as_deref(), Some("$/cancel_request"));
    assert!(cancel.params.unwrap().contains(&gate.id.unwrap()));
}

#[tokio::test]
async fn progress_comes_before_the_result_to_whoever_asked_for_it() {
    let (mut chain, server, connection) = with_tools("{}").await;
    let call = r#"{"name":"progress","arguments":{},"_meta":{"progressToken":7}}"#;
    let call = chain
        .agent
        .ask("mcp/message", &connection.wrap("tools/call", call));
    for progress in [1, 2, 3] {
        let told = chain.agent.receive().await.unwrap();
        let params: Value = serde_json::from_str(&told.params.unwrap()).unwrap();
        assert_eq!(params["connectionId"], json!(connection.0));
        assert_eq!(params["method"], "notifications/progress");
        assert_eq!(params["params"]["progressToken"], 7);
        assert_eq!(
            params["params"]["progress"].as_f64(),
            Some(f64::from(progress))
        );
    }
    let answer = chain.agent.receive().await.unwrap();
    assert!(answer.answers(&call), "{}", answer.line);
    // The same without a token, and then as a request that stands alone.
    let quiet = connection.call(&mut chain.agent, "progress", "{}").await;
    assert!(quiet.result.is_some());
    let call = json!({ "name": "progress", "arguments": {}, "_meta": { "progressToken": "t" } });
    let call = alone(&server, "mine", "tools/call", &call);
    chain.agent.ask("mcp/message", &call);
    let told = chain.agent.receive().await.unwrap();
    let params: Value = serde_json::from_str(&told.params.unwrap()).unwrap();
    assert_eq!(params["requestId"], "mine");
    assert_eq!(params["serverId"], json!(server));
    assert_eq!(params["params"]["progressToken"], "t");
}

#[tokio::test]
async fn everybody_who_listed_the_tools_is_told_when_they_change() {
    let mut chain = native(TOOLS).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let other = id(&session(&mut chain, "session-2", "[]").await[0]);
    let one = connect(&mut chain.agent, &server).await;
    one.initialize(&mut chain.agent, "2025-06-18").await;
    let two = connect(&mut chain.agent, &other).await;
    two.initialize(&mut chain.agent, "2025-11-25").await;
    one.call(&mut chain.agent, "change", "{}").await;
    let mut told = Vec::new();
    while told.len() < 2 {
        let message = chain.agent.receive().await.unwrap();
        let params: Value = serde_json::from_str(&message.params.unwrap()).unwrap();
        assert_eq!(params["method"], "notifications/tools/list_changed");
        told.push(params["connectionId"].as_str().unwrap().to_owned());
    }
    told.sort();
    let mut both = [one.0.clone(), two.0.clone()];
    both.sort();
    assert_eq!(told, both);
    assert_eq!(
        text(&two.call(&mut chain.agent, "extra", "{}").await),
        "extra"
    );
}
