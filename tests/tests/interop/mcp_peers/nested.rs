//! Tools of chains within chains.

use std::path::Path;

use acp_chain_tests::chain::{MANIFEST, ManifestFolder};
use acp_chain_tests::host::{grants_native, run};
use serde_json::json;
use tokio::process::Command;

use super::turns::{Turns, agent, tools};

/// A chain of three levels, each with a proxy that has tools, in front of an agent.
fn three_levels(nest: &ManifestFolder) -> String {
    let inner = tools("middle", "tools") + &nest.chain("innermost", &tools("deep", "words-c"));
    nest.chain("inner", &inner) + &tools("near", "todo")
}

fn in_front_of(words: &[&str]) -> impl FnOnce(&Path) -> Command {
    move |folder| {
        let mut command = run(Some(&folder.join(MANIFEST)), agent(words));
        command.env("XDG_CONFIG_HOME", grants_native(folder));
        command
    }
}

async fn every_level_is_reached(agent: &[&str]) {
    let nest = ManifestFolder::new();
    let everything = super::turns::agent(&["mcp-server-everything"]);
    let own = json!([{ "name": "own", "command": everything[0], "args": [], "env": [] }]);
    let mut turns = Turns::launch(&three_levels(&nest), in_front_of(agent), &own).await;
    for (call, answer) in [
        (
            r#"Use tool deep::count with {"text":"one two  three"}"#,
            "3",
        ),
        (
            r#"Use tool middle::echo with {"text":"so be it"}"#,
            "so be it",
        ),
        (
            r#"Use tool near::add with {"tasks":[{"text":"dig"}]}"#,
            "dig",
        ),
    ] {
        let said = turns.turn(call).await;
        assert!(said.contains(answer), "{call}: {said}");
    }
    assert_eq!(turns.plan()[0]["content"], "dig");
}

#[tokio::test]
async fn an_agent_with_stdio_alone_calls_the_tools_of_every_level() {
    every_level_is_reached(&["elizacp", "--deterministic", "acp"]).await;
}

#[tokio::test]
async fn an_agent_with_mcp_over_acp_calls_the_tools_of_every_level() {
    every_level_is_reached(&["npm-mcp-agent"]).await;
}
