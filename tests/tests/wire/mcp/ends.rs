//! Calls that are cut short: nothing hangs, and nothing stays open.

use serde_json::json;

use super::agent::{Connection, SESSION, connect, error, id, native, session, text};
use acp_chain_tests::host::InProcess;

async fn connection(chain: &mut InProcess, server: &str) -> Connection {
    let connection = connect(&mut chain.agent, server).await;
    connection.initialize(&mut chain.agent, "2025-11-25").await;
    connection
}

fn call(chain: &mut InProcess, connection: &Connection, tool: &str) -> String {
    let call = json!({ "name": tool, "arguments": {} }).to_string();
    let wrapped = connection.wrap("tools/call", &call);
    chain.agent.ask("mcp/message", &wrapped)
}

#[tokio::test]
async fn a_tool_that_breaks_fails_its_calls_and_works_again_after_a_restart() {
    let mut chain = native(&[("tools", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let connection = connection(&mut chain, &server).await;
    let held = call(&mut chain, &connection, "hold-forever");
    let broke = call(&mut chain, &connection, "trap");
    for id in [broke, held] {
        let (code, words) = error(&chain.agent.response(&id).await);
        assert_eq!(code, -32603);
        assert!(words.contains("tools-0"), "{words}");
    }
}

#[tokio::test]
async fn a_session_that_is_closed_takes_its_servers_with_it() {
    let mut chain = native(&[("tools", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let other = id(&session(&mut chain, "session-2", "[]").await[0]);
    let gone = connection(&mut chain, &server).await;
    let stays = connection(&mut chain, &other).await;
    let held = call(&mut chain, &gone, "hold-forever");
    let close = chain.client.ask(
        "session/close",
        &json!({ "sessionId": SESSION }).to_string(),
    );
    let asked = chain.agent.receive().await.unwrap();
    for line in asked.result("{}") {
        chain.agent.send(line);
    }
    chain.client.response(&close).await;
    assert_eq!(error(&chain.agent.response(&held).await).0, -33001);
    let late = gone.call(&mut chain.agent, "echo", r#"{"text":"x"}"#).await;
    assert_eq!(error(&late).0, -32602);
    let answer = stays
        .call(&mut chain.agent, "echo", r#"{"text":"x"}"#)
        .await;
    assert_eq!(text(&answer), "x");
    let params = json!({ "acpId": server }).to_string();
    let answer = chain.agent.request("mcp/connect", &params).await;
    assert_eq!(error(&answer).0, -33001);
}

#[tokio::test]
async fn a_session_that_the_agent_refuses_has_no_servers() {
    let mut chain = native(&[("tools", "{}")]).await;
    let ask = chain
        .client
        .ask("session/new", r#"{"cwd":"/","mcpServers":[]}"#);
    let asked = chain.agent.receive().await.unwrap();
    let params: serde_json::Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
    let server = id(&params["mcpServers"][0]);
    // The agent may connect before it answers.
    let early = connect(&mut chain.agent, &server).await;
    early.initialize(&mut chain.agent, "2025-11-25").await;
    assert_eq!(
        text(&early.call(&mut chain.agent, "session", "{}").await),
        "none"
    );
    for line in asked.error(r#"{"code":-1,"message":"no"}"#) {
        chain.agent.send(line);
    }
    chain.client.response(&ask).await;
    let answer = early.call(&mut chain.agent, "session", "{}").await;
    assert_eq!(error(&answer).0, -32602);
}

/// The host answers; the tool never receives the call.
#[tokio::test]
async fn a_call_that_is_withdrawn_before_it_began_is_not_made() {
    let mut chain = native(&[("tools", "{}")]).await;
    let server = id(&session(&mut chain, SESSION, "[]").await[0]);
    let connection = connection(&mut chain, &server).await;
    let list = chain
        .agent
        .ask("mcp/message", &connection.wrap("tools/list", "{}"));
    let slow = call(&mut chain, &connection, "slow");
    let cancel = json!({ "requestId": slow.parse::<u64>().unwrap() }).to_string();
    chain.agent.notify("$/cancel_request", &cancel);
    assert_eq!(error(&chain.agent.response(&slow).await).0, -32800);
    chain.agent.response(&list).await;
    let echo = connection.call(&mut chain.agent, "echo", r#"{"text":"x"}"#);
    assert_eq!(text(&echo.await), "x");
}
