//! Bad input from callers and tools: each gets the matching error.

use acp_chain_tests::client::prompt;
use serde_json::json;

use super::agent::{SESSION, alone, connect, error, id, native, result, session, with_tools};

async fn listed(config: &str) -> (i64, String) {
    let (mut chain, _, connection) = with_tools(config).await;
    let answer = connection.request(&mut chain.agent, "tools/list", "{}");
    error(&answer.await)
}

#[tokio::test]
async fn a_tool_that_is_wrong_is_left_out_and_the_user_is_told_which() {
    for (config, words) in [
        (
            r#"{"bad-schema":{"type":"object","properties":7}}"#,
            "bad-schema",
        ),
        (r#"{"bad-schema":{"type":"array"}}"#, "bad-schema"),
        (r#"{"bad-schema":"what"}"#, "bad-schema"),
        (r#"{"duplicate":true}"#, "echo"),
        (r#"{"bad-tool":"7"}"#, "is not an object"),
    ] {
        let (mut chain, _, connection) = with_tools(config).await;
        let agent = &mut chain.agent;
        let listed = result(&connection.request(agent, "tools/list", "{}").await);
        let tools = listed["tools"].as_array().unwrap();
        let named = |name: &str| tools.iter().filter(|tool| tool["name"] == name).count();
        assert_eq!(
            (named("echo"), named("add"), named("bad-schema")),
            (1, 1, 0)
        );
        // The user is notified in the next turn.
        chain.client.ask("session/prompt", &prompt(SESSION, "go"));
        let told = chain.client.receive().await.unwrap().line;
        assert!(told.contains("tools-0") && told.contains(words), "{told}");
    }
}

#[tokio::test]
async fn a_list_that_is_none_is_an_error_that_names_the_proxy() {
    for (config, words) in [
        (r#"{"list-error":"nothing to list"}"#, "nothing to list"),
        (r#"{"bad-tool":"{"}"#, "tools-0"),
    ] {
        let (code, text) = listed(config).await;
        assert_eq!(code, -32603, "{config}: {text}");
        assert!(
            text.contains(words) && text.contains("tools-0"),
            "{config}: {text}"
        );
    }
}

#[tokio::test]
async fn a_call_that_makes_no_sense_is_an_error_of_the_callers() {
    let mut chain = native(&[("tools", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let agent = &mut chain.agent;
    let old = connect(agent, &server).await;
    old.initialize(agent, "2025-06-18").await;
    let new = connect(agent, &server).await;
    new.initialize(agent, "2025-11-25").await;
    let unknown = error(&new.call(agent, "nothing", "{}").await);
    assert_eq!(unknown.0, -32602);
    assert!(unknown.1.contains("nothing"));
    // Since 2025-11-25, the error goes to the model, so that it can correct the call.
    let wrong = error(&old.call(agent, "add", r#"{"a":"x"}"#).await);
    assert_eq!(wrong.0, -32602);
    let wrong = result(&new.call(agent, "add", r#"{"a":"x"}"#).await);
    assert_eq!(wrong["isError"], true);
    assert_eq!(error(&new.call(agent, "add", "[1]").await).0, -32602);
    assert_eq!(
        error(&new.request(agent, "tools/what", "{}").await).0,
        -32601
    );
    let params = json!({ "cursor": "beyond" }).to_string();
    assert_eq!(
        error(&new.request(agent, "tools/list", &params).await).0,
        -32602
    );
}

#[tokio::test]
async fn a_tool_that_makes_no_sense_is_an_error_that_names_it() {
    let (mut chain, _, connection) = with_tools("{}").await;
    for tool in ["bad-result", "bad-output", "not-json"] {
        let (code, text) = error(&connection.call(&mut chain.agent, tool, "{}").await);
        assert_eq!(code, -32603, "{tool}: {text}");
        assert!(text.contains("tools-0"), "{tool}: {text}");
    }
}

#[tokio::test]
async fn messages_for_nobody_are_answered() {
    let mut chain = native(&[("tools", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let agent = &mut chain.agent;
    for (method, params, code) in [
        ("mcp/connect", r#"{"acpId":"what"}"#, -33001),
        ("mcp/connect", "{}", -32602),
        (
            "mcp/message",
            r#"{"connectionId":"acp-chain-99","method":"ping"}"#,
            -32602,
        ),
        (
            "mcp/message",
            r#"{"connectionId":7,"method":"ping"}"#,
            -32602,
        ),
        ("mcp/message", "null", -32602),
        ("mcp/disconnect", r#"{"connectionId":"x"}"#, -32602),
    ] {
        let answer = agent.request(method, params).await;
        assert_eq!(error(&answer).0, code, "{method} {params}");
    }
    let connection = connect(agent, &server).await;
    let nameless = json!({ "connectionId": connection.0 }).to_string();
    assert_eq!(
        error(&agent.request("mcp/message", &nameless).await).0,
        -32602
    );
    // Of two open requests with one id the second is refused.
    let slow = json!({ "name": "slow", "arguments": {} });
    agent.ask("mcp/message", &alone(&server, "same", "tools/call", &slow));
    let second = alone(&server, "same", "tools/list", &json!({}));
    let second = agent.request("mcp/message", &second);
    assert_eq!(error(&second.await).0, -32602);
    // The client has no servers.
    let answer = chain.client.request(
        "mcp/message",
        r#"{"connectionId":"acp-chain-1","method":"x"}"#,
    );
    assert_eq!(error(&answer.await).0, -32602);
}
