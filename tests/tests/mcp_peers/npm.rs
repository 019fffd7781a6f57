//! The npm SDK's caller of MCP over ACP, and its provider: both know the stateless dialect alone.

use acp_chain_tests::client::chunks;
use acp_chain_tests::host::run;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::watched;
use serde_json::{Value, json};
use tokio::process::Command;

use super::turns::{Turns, agent, files, script, tools};

const AGENT: &[&str] = &["npm-mcp-agent"];

/// What came of a request to a server.
fn outcome(said: &str) -> Value {
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

/// The SDK drops what it reads together with the outcome: here the outcome comes later.
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
    let given_up = wire.receive().await.unwrap();
    assert_eq!(given_up.method.as_deref(), Some("$/cancel_request"));
    assert!(given_up.params.unwrap().contains(&gate.id.unwrap()));
    let ended = wire.response(&id).await;
    assert_eq!(
        ended.result.as_deref(),
        Some(r#"{"stopReason":"cancelled"}"#)
    );
    let said = turns.chain.client.chunks().concat();
    assert!(said.starts_with("failed: -32800"), "{said}");
}

/// What an agent without proxies says to prompts of the SDK's client, which has the server
/// `workshop`.
async fn workshop(words: &[&str], prompts: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let chain = run::<String>(None, agent(words));
    let client = agent(&["npm-mcp-client"]);
    let mut client = Command::new(&client[0]);
    client
        .arg(script(folder.path(), &chain))
        .args(prompts)
        .envs(
            chain
                .as_std()
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(folder.path())
        .kill_on_drop(true);
    let output = watched(&Transcript::new(), "the client", client.output())
        .await
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{stderr}");
    let turns = printed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let said: Vec<_> = turns
        .map(|turn| {
            assert_eq!(turn["stopReason"], "end_turn");
            turn["text"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(said.len(), prompts.len());
    said
}

#[tokio::test]
async fn an_agent_that_knows_stdio_alone_uses_a_clients_server_whose_requests_stand_alone() {
    let said = workshop(
        &["elizacp", "--deterministic", "acp"],
        &[
            "List tools from workshop",
            r#"Use tool workshop::greet with {"name":"Ada"}"#,
            "Use tool workshop::steps with {}",
            "Use tool workshop::refuse with {}",
            "Use tool workshop::break with {}",
            "Use tool workshop::name with {}",
        ],
    )
    .await;
    assert!(
        said[0].contains("  - greet: Greets somebody."),
        "{}",
        said[0]
    );
    assert!(
        said[1].starts_with("OK: ") && said[1].contains("Hello, Ada"),
        "{}",
        said[1]
    );
    assert!(said[2].contains("three steps"), "{}", said[2]);
    assert!(said[3].contains("not like this"), "{}", said[3]);
    assert!(
        said[4].starts_with("ERROR: ") && said[4].contains("it broke"),
        "{}",
        said[4]
    );
    // It cannot be asked anything.
    assert!(said[5].starts_with("ERROR: "), "{}", said[5]);
    assert!(said[5].contains("elicitation/create"), "{}", said[5]);
}

#[tokio::test]
async fn an_agent_and_a_clients_server_of_one_sdk_understand_each_other() {
    let said = workshop(
        &["npm-mcp-agent"],
        &[
            "List tools from workshop",
            r#"Use tool workshop::greet with {"name":"Ada"}"#,
            "Use tool workshop::refuse with {}",
            "Use tool workshop::break with {}",
            "Use tool workshop::name with {}",
        ],
    )
    .await;
    assert_eq!(outcome(&said[0])["result"]["tools"][0]["name"], "greet");
    let greeting = &outcome(&said[1])["result"]["structuredContent"]["greeting"];
    assert_eq!(greeting, "Hello, Ada");
    let refused = json!({ "code": -32602, "message": "not like this" });
    assert_eq!(outcome(&said[2])["error"], refused);
    assert!(said[3].starts_with("failed: -33002"), "{}", said[3]);
    let asked = &outcome(&said[4])["result"];
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(
        asked["inputRequests"]["name"]["method"],
        "elicitation/create"
    );
}
