//! The npm SDK's provider of MCP over ACP, which knows only the stateless dialect: the server `workshop` of a
//! client over that SDK, and agents of every kind.

use std::path::Path;

use acp_chain_tests::host::{environment, run, script};
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::Wire;
use rmcp::ClientLifecycleMode;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, SubscriptionFilter};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::unix::pipe;
use tokio::process::Command;

use super::caller::{BOTH, Caller, ServerNotice, legacy, modern, text, watched};
use super::npm::outcome;
use super::turns::agent;

/// The SDK's client, with these prompts for an agent behind a chain without proxies.
fn client(folder: &Path, agent_command: Vec<String>, prompts: &[&str]) -> Command {
    let chain = run::<String>(None, agent_command);
    let client = agent(&["npm-mcp-client"]);
    let mut client = Command::new(&client[0]);
    client
        .arg(script(folder, "chain", &chain).unwrap())
        .args(prompts)
        .envs(environment(&chain))
        .current_dir(folder)
        .kill_on_drop(true);
    client
}

/// The texts of an agent after these prompts, and how its turns end.
async fn turns(words: &[&str], prompts: &[&str]) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let mut client = client(folder.path(), agent(words), prompts);
    let output = watched("the client", client.output()).await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{stderr}");
    let turns = printed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let turns = turns.map(|turn| {
        let text = |name: &str| turn[name].as_str().unwrap().to_owned();
        (text("text"), text("stopReason"))
    });
    let turns: Vec<_> = turns.collect();
    assert_eq!(turns.len(), prompts.len());
    turns
}

/// The same for turns that end well.
async fn workshop(words: &[&str], prompts: &[&str]) -> Vec<String> {
    let turns = turns(words, prompts).await;
    assert!(
        turns.iter().all(|(_, reason)| reason == "end_turn"),
        "{turns:?}"
    );
    turns.into_iter().map(|(said, _)| said).collect()
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
    // elizacp does not support elicitation.
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

#[tokio::test]
async fn a_call_is_withdrawn_from_its_provider_with_its_turn() {
    let prompts = [
        "Use tool workshop::wait with {}",
        "Use tool workshop::waited with {}",
    ];
    let turns = turns(&["npm-mcp-agent"], &prompts).await;
    let (said, reason) = &turns[0];
    assert!(said.starts_with("failed: -32800"), "{said}");
    assert_eq!(reason, "cancelled");
    let waited = outcome(&turns[1].0);
    assert_eq!(waited["result"]["content"][0]["text"], "1");
}

/// The SDK's client, and a chain whose agent is the test.
struct ClientRun {
    client: Process,
    agent: Wire,
    prompt: String,
    declared: Value,
    _folder: TempDir,
}

/// Plays an agent up to its first prompt.
async fn played(capabilities: &str) -> ClientRun {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (
        folder.path().join("from-agent"),
        folder.path().join("to-agent"),
    );
    let made = Command::new("mkfifo").args([&from, &to]).status().await;
    assert!(made.unwrap().success());
    let open = |path| {
        pipe::OpenOptions::new()
            .read_write(true)
            .open_receiver(path)
    };
    let reader = open(&to).unwrap();
    let writer = pipe::OpenOptions::new()
        .read_write(true)
        .open_sender(&from)
        .unwrap();
    let relay = r#"cat "$0" & exec cat > "$1""#;
    let relay = [
        "sh",
        "-c",
        relay,
        from.to_str().unwrap(),
        to.to_str().unwrap(),
    ];
    let relay = relay.map(str::to_owned).to_vec();
    let transcript = Transcript::new();
    let client = client(folder.path(), relay, &["go"]);
    let client = Process::start("output", &transcript, client).unwrap();
    let mut agent = Wire::new("agent", &transcript, reader, writer);
    let mut declared = Value::Null;
    loop {
        let asked = agent.receive().await.unwrap();
        let result = match asked.method.as_deref().unwrap() {
            "initialize" => capabilities,
            "session/new" => {
                let params: Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
                declared = params["mcpServers"][0].clone();
                r#"{"sessionId":"s"}"#
            }
            method => {
                assert_eq!(method, "session/prompt");
                assert!(asked.params.unwrap().contains("\"go\""));
                return ClientRun {
                    client,
                    agent,
                    prompt: asked.id.unwrap(),
                    declared,
                    _folder: folder,
                };
            }
        };
        for line in asked.result(result) {
            agent.send(line);
        }
    }
}

impl ClientRun {
    async fn connect(&self, mode: ClientLifecycleMode) -> Caller {
        Caller::connect(&self.declared, mode).await
    }

    /// Ends the turn; then the client disconnects, and everything ends with it.
    async fn finish(mut self) {
        let result = r#"{"stopReason":"end_turn"}"#;
        self.agent
            .send(acp_chain_tests::envelope::result(&self.prompt, result));
        let said = self.client.wire.line().await.unwrap();
        assert_eq!(said, r#"{"text":"","stopReason":"end_turn"}"#);
        let exit = self.client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
    }
}

#[tokio::test]
async fn clients_of_every_version_use_a_server_whose_requests_stand_alone() {
    for agent in BOTH {
        let played = played(agent).await;
        for mode in [legacy(), modern()] {
            let mut caller = played.connect(mode).await;
            let tools = watched("the tools", caller.client.list_all_tools())
                .await
                .unwrap();
            assert_eq!(tools[0].name, "greet");
            let greeting = caller.call("greet", json!({ "name": "Ada" })).await;
            let expected = json!({ "greeting": "Hello, Ada" });
            assert_eq!(greeting.structured_content, Some(expected));
            // The server asks for a name in the middle of the call.
            assert_eq!(text(&caller.call("name", json!({})).await), "It is Ada");
            assert_eq!(text(&caller.call("steps", json!({})).await), "three steps");
            for expected in [1.0, 2.0, 3.0] {
                assert_eq!(caller.progress().await, ServerNotice::Progress(expected));
            }
            match caller.try_call("refuse", json!({})).await {
                Err(ServiceError::McpError(error)) => {
                    assert_eq!((error.code.0, &*error.message), (-32602, "not like this"));
                }
                other => panic!("{other:?}"),
            }
        }
        played.finish().await;
    }
}

#[tokio::test]
async fn clients_of_every_version_withdraw_calls_and_hear_of_changes() {
    for agent in BOTH {
        let played = played(agent).await;
        let mut old = played.connect(legacy()).await;
        let mut new = played.connect(modern()).await;
        for caller in [&mut old, &mut new] {
            let wait = CallToolRequest::new(CallToolRequestParams::new("wait"));
            let request = ClientRequest::CallToolRequest(wait);
            let options = PeerRequestOptions::no_options();
            let sent = caller.client.send_cancellable_request(request, options);
            let pending = watched("the request", sent).await.unwrap();
            caller
                .hears("its start", |told| {
                    (told == ServerNotice::Progress(1.0)).then_some(())
                })
                .await;
            watched("the cancellation", pending.cancel(None))
                .await
                .unwrap();
        }
        let waited = async { while text(&old.call("waited", json!({})).await) != "2" {} };
        watched("the withdrawals", Box::pin(waited)).await;

        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let listening = watched("a subscription", new.client.listen(filter)).await;
        let mut listening = listening.unwrap();
        let told = async { while text(&new.call("change", json!({})).await) != "2 told" {} };
        watched("two listeners", Box::pin(told)).await;
        old.hears("the change", |told| {
            (told == ServerNotice::ToolsChanged).then_some(())
        })
        .await;
        let told = watched("the change", listening.next()).await.unwrap();
        let told: Value = serde_json::to_value(told).unwrap();
        assert_eq!(told["method"], "notifications/tools/list_changed");
        drop((old, new, listening));
        played.finish().await;
    }
}
