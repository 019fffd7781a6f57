//! The npm SDK's caller of MCP over ACP, which knows only the stateless dialect.

use acp_chain_tests::client::chunks;
use serde_json::{Value, json};

use super::turns::{Turns, files, tools};

const AGENT: &[&str] = &["npm-mcp-agent"];

/// The outcome of a request to a server.
pub fn outcome(said: &str) -> Value {
    let (_, outcome) = said
        .rsplit_once("outcome: ")
        .unwrap_or_else(|| panic!("{said}"));
    serde_json::from_str(outcome).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[tokio::test]
async fn an_agent_lists_and_calls_the_tools_of_proxies() {
    let mut turns = Turns::start(&tools("tools", "tools"), AGENT, &json!([])).await;
    let found = outcome(&turns.turn("Ask tools for server/discover with {}").await);
    assert_eq!(found["result"]["resultType"], "complete");
    let listed = outcome(&turns.turn("List tools from tools").await);
    assert_eq!(listed["result"]["tools"][0]["name"], "echo");
    let sum = turns
        .turn(r#"Use tool tools::add with {"a":2,"b":40}"#)
        .await;
    assert_eq!(outcome(&sum)["result"]["structuredContent"]["sum"], 42.0);
    let failed = outcome(&turns.turn("Use tool tools::fail with {}").await);
    assert_eq!(failed["result"]["isError"], true);
    let refused = outcome(&turns.turn("Use tool tools::protocol-error with {}").await);
    assert_eq!(
        refused["error"],
        json!({ "code": -32602, "message": "not like this" })
    );
    let wrong = outcome(&turns.turn(r#"Use tool tools::add with {"a":"x"}"#).await);
    assert_eq!(wrong["result"]["isError"], true);
    let unknown = outcome(&turns.turn("Ask tools for tools/what with {}").await);
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn an_agents_tasks_are_the_clients_plan() {
    let mut turns = Turns::start(&tools("todo", "todo"), AGENT, &json!([])).await;
    let add = r#"Use tool todo::add with {"tasks":[{"text":"dig"}]}"#;
    let added = outcome(&turns.turn(add).await);
    assert_eq!(added["result"]["structuredContent"]["open"], 1);
    assert_eq!(turns.plan()[0]["content"], "dig");
}

/// The SDK discards messages that it reads together with the outcome: here the outcome comes later.
#[tokio::test]
async fn an_agent_hears_of_progress_before_the_outcome() {
    let mut turns = Turns::start(&tools("map", "project-map"), AGENT, &json!([])).await;
    let id = turns.begin("Use tool map::outline with {}");
    let (mut last, mut told) = (None, Vec::new());
    let said = loop {
        let message = turns.chain.client.wire.receive().await.unwrap();
        if message.answers(&id) {
            break turns.chain.client.chunks().concat();
        }
        if message.is_request() && message.line.contains("deep.rs") {
            last = Some(message);
        } else if message.is_request() {
            turns.answer(&files(&message));
        } else {
            let chunk = chunks(&[message.line]).concat();
            told.extend(chunk.strip_prefix("told: ").map(str::to_owned));
        }
        if told.len() == 2
            && let Some(last) = last.take()
        {
            turns.answer(&files(&last));
        }
    };
    let outcome = outcome(&said);
    assert_eq!(outcome["result"]["resultType"], "complete");
    let told = told.iter().map(|told| serde_json::from_str(told).unwrap());
    let told: Vec<Value> = told.collect();
    assert_eq!(told[0]["method"], "notifications/progress");
    assert_eq!(told[0]["params"]["progressToken"], "p");
    let progress = |at: usize| told[at]["params"]["progress"].as_f64();
    assert!(progress(0) < progress(1), "{told:?}");
}

#[tokio::test]
async fn a_call_is_withdrawn_with_its_turn() {
    let mut turns = Turns::start(&tools("tools", "tools"), AGENT, &json!([])).await;
    let id = turns.begin("Use tool tools::slow with {}");
    let wire = &mut turns.chain.client.wire;
    let gate = wire.receive().await.unwrap();
    assert_eq!(gate.method.as_deref(), Some("_test/gate"));
    let params = json!({ "sessionId": turns.session }).to_string();
    wire.notify("session/cancel", &params);
    let ended = turns.given_up(&id).await;
    assert_eq!(
        ended.result.as_deref(),
        Some(r#"{"stopReason":"cancelled"}"#)
    );
    let said = turns.chain.client.chunks().concat();
    assert!(said.starts_with("failed: -32800"), "{said}");
}
