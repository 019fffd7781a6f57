//! The client shows once that a proxy has no effect.

use acp_chain_tests::client::{chunks, prompt};
use acp_chain_tests::host::{component, peer};
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};

use crate::project::world::World;

/// The text that the client shows in each of these turns, in one session of a chain.
async fn turns(manifest: &str, said: &[&str]) -> Vec<String> {
    let world = World::new();
    world.manifest(manifest);
    let mut command = tokio::process::Command::from(world.command("run"));
    let agent = peer("bin").join("npm-agent");
    command
        .args(["--manifest", "acp-chain.toml", "--"])
        .arg(agent);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    let params = r#"{"protocolVersion":1}"#;
    client.wire.request("initialize", params).await;
    let params = json!({ "cwd": world.root, "mcpServers": [] });
    let answer = client
        .wire
        .request("session/new", &params.to_string())
        .await;
    let result: Value = serde_json::from_str(&answer.result.unwrap()).unwrap();
    let session = result["sessionId"].as_str().unwrap();
    let mut shown = Vec::new();
    for said in said {
        let before = client.wire.transcript().received("client").len();
        client
            .wire
            .request("session/prompt", &prompt(session, said))
            .await;
        let lines = client.wire.transcript().received("client");
        shown.push(chunks(&lines[before..]).concat());
    }
    client.finish().await.unwrap();
    shown
}

fn entry(id: &str, component_name: &str, more: &str) -> String {
    let path = component(component_name);
    format!(
        "[[proxy]]\nid = \"{id}\"\npath = '{}'\n{more}",
        path.display()
    )
}

#[tokio::test]
async fn tools_to_which_the_agent_has_not_connected_are_told_of_once_with_a_known_cause() {
    let shown = turns(
        &entry("words", "words-c", "powers = [\"tools\"]\n"),
        &["one", "two"],
    )
    .await;
    let told = "the agent has not connected to the tools of the proxy `words`";
    assert!(
        shown[0].contains(told) && shown[0].contains("trustedFolders.json"),
        "{shown:?}"
    );
    assert!(!shown[1].contains(told), "{shown:?}");
}

#[tokio::test]
async fn a_guard_that_cannot_guard_and_may_be_bypassed_is_told_of_with_the_first_prompt() {
    let more = "powers = [\"prompts.read\"]\non-failure = \"bypass\"\n";
    let shown = turns(&entry("redact", "redact", more), &["one", "two"]).await;
    let told = "cannot guard without `prompts.change`";
    assert!(shown[0].contains(told), "{shown:?}");
    assert!(!shown[1].contains(told), "{shown:?}");
}
