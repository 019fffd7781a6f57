//! Requests of a tool to its caller in the middle of a call.

use serde_json::{Value, json};

use super::agent::{SESSION, ask_alone};
use super::agent::{alone, connect, error, id, native, result, session, text, with_tools};

const TOOLS: &[(&str, &str)] = &[("tools", "{}")];

/// Checks the elicitation that the tool requests.
fn is_the_question(request: &Value) {
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["message"], "Which?");
}

#[tokio::test]
async fn a_tool_sees_what_its_caller_said_and_can() {
    let (mut chain, server, connection) = with_tools("{}").await;
    let call = r#"{"name":"meta","arguments":{},"_meta":{"mine":1e400}}"#;
    let answer = connection.request(&mut chain.agent, "tools/call", call);
    assert_eq!(
        text(&answer.await),
        concat!(
            r#"{"mine":1e400,"io.modelcontextprotocol/clientCapabilities":"#,
            r#"{"elicitation":{},"roots":{},"sampling":{}}}"#
        )
    );
    let call = json!({ "name": "meta", "arguments": {}, "_meta": { "mine": true } });
    let called = ask_alone(&mut chain.agent, &server, "tools/call", &call).await;
    let meta = called["result"]["content"][0]["text"].as_str().unwrap();
    let meta: Value = serde_json::from_str(meta).unwrap();
    assert_eq!(meta["mine"], true);
    let can = &meta["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(*can, json!({ "elicitation": {} }));
}

#[tokio::test]
async fn a_caller_with_a_connection_is_asked_on_it() {
    let (mut chain, _, connection) = with_tools("{}").await;
    let call = r#"{"name":"elicit","arguments":{}}"#;
    let call = connection.wrap("tools/call", call);
    let call = chain.agent.ask("mcp/message", &call);
    let asked = chain.agent.receive().await.unwrap();
    let said: Value = serde_json::from_str(asked.params.as_deref().unwrap()).unwrap();
    assert_eq!(said["connectionId"], json!(connection.0));
    is_the_question(&said);
    for line in asked.result(r#"{"action":"accept","content":{"x":1e400}}"#) {
        chain.agent.send(line);
    }
    let answer = chain.agent.response(&call).await;
    assert_eq!(
        text(&answer),
        r#"{"action":"accept","content":{"x":1e400}}"#
    );
}

#[tokio::test]
async fn a_caller_that_gives_up_is_no_longer_asked() {
    let (mut chain, _, connection) = with_tools("{}").await;
    let call = r#"{"name":"elicit","arguments":{}}"#;
    let call = connection.wrap("tools/call", call);
    let call = chain.agent.ask("mcp/message", &call);
    let asked = chain.agent.receive().await.unwrap();
    let cancel = format!(r#"{{"requestId":{call}}}"#);
    chain.agent.notify("$/cancel_request", &cancel);
    assert_eq!(error(&chain.agent.response(&call).await).0, -32800);
    let cancel = chain.agent.receive().await.unwrap();
    assert_eq!(cancel.method.as_deref(), Some("$/cancel_request"));
    assert!(cancel.params.unwrap().contains(&asked.id.unwrap()));
}

#[tokio::test]
async fn a_caller_whose_requests_stand_alone_comes_again() {
    let mut chain = native(TOOLS).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let agent = &mut chain.agent;
    let mut call = json!({ "name": "elicit", "arguments": {} });
    let required = ask_alone(agent, &server, "tools/call", &call).await;
    assert_eq!(required["result"]["resultType"], "input_required");
    let (name, asked) = required["result"]["inputRequests"]
        .as_object()
        .and_then(|asked| asked.iter().next())
        .unwrap();
    is_the_question(asked);
    call["requestState"] = required["result"]["requestState"].clone();
    call["inputResponses"] = json!({ name: { "action": "decline" } });
    let called = ask_alone(agent, &server, "tools/call", &call).await;
    assert_eq!(
        called["result"]["content"][0]["text"],
        r#"{"action":"decline"}"#
    );
    // The state is good for one retry.
    let again = ask_alone(agent, &server, "tools/call", &call).await;
    assert_eq!(again["error"]["code"], -32602);
}

#[tokio::test]
async fn a_caller_that_cannot_answer_is_not_asked() {
    let mut chain = native(TOOLS).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let connection = connect(&mut chain.agent, &server).await;
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}"#;
    connection
        .request(&mut chain.agent, "initialize", hello)
        .await;
    let answer = connection.call(&mut chain.agent, "elicit", "{}").await;
    assert!(text(&answer).contains("did not say that it has the capability `elicitation`"));
}

#[tokio::test]
async fn another_caller_cannot_go_on_with_a_call_on_a_connection() {
    let (mut chain, server, connection) = with_tools("{}").await;
    let agent = &mut chain.agent;
    let alone = alone(
        &server,
        "x",
        "tools/call",
        &json!({ "name": "elicit", "arguments": {} }),
    );
    let params: Value = serde_json::from_str(&alone).unwrap();
    let params = params["params"].to_string();
    let required = result(&connection.request(agent, "tools/call", &params).await);
    let mut call = json!({ "name": "elicit", "arguments": {}, "inputResponses": {} });
    call["requestState"] = required["requestState"].clone();
    let stolen = ask_alone(agent, &server, "tools/call", &call).await;
    assert_eq!(stolen["error"]["code"], -32602);
}
