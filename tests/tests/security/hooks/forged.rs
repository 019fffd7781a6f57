//! Reports that are not the agent's, and a host that has ended: nothing runs that would not have run.

use std::fs;

use serde_json::{Value, json};

use super::world::{Hook, World};
use super::{REQUIRED, bash, denies, proxy, reason, steps};

/// A report of Claude's, before the first tool call of its first turn.
fn report(session: &str, command: &str) -> Value {
    json!({
        "session_id": session,
        "hook_event_name": "PreToolUse",
        "tool_use_id": "call-1",
        "tool_name": "Bash",
        "tool_input": { "command": command },
    })
}

/// Writes what a forged report needs into the project: the hook's command, the report of this command, and scripts that
/// run the former with the latter.
fn plant(world: &World, command: &str) {
    let file = |name: &str, text: &str| fs::write(world.path("project").join(name), text).unwrap();
    file("own", &world.hook("PreToolUse").command);
    file("report", &report("s", command).to_string());
    file("forge", "sh -c \"$(cat own)\" <report >told 2>why; :\n");
    file(
        "take-place",
        "exec sh -c \"$(cat own)\" <report >told 2>why\n",
    );
}

/// What a forged report was answered, and why it was not.
fn told(world: &World) -> (String, String) {
    let text = |name: &str| fs::read_to_string(world.path("project").join(name)).unwrap();
    (text("told"), text("why"))
}

#[tokio::test]
async fn a_report_is_refused_from_a_process_that_the_agent_has_not_started() {
    for mode in ["required", "best-effort"] {
        let world = World::claude();
        let options = ["--hooks", mode];
        let mut client = world.begin(&options, &denies("touch refused")).await;
        let hook = world.hook("PreToolUse");
        let stranger = Hook {
            token: "x".repeat(hook.token.len()),
            ..hook.clone()
        };
        for hook in [stranger, hook] {
            assert!(hook.refuses(&report("s", "touch allowed")).await);
        }
        // The agent's own hooks go on.
        let prompt = steps(&[bash("touch refused"), bash("touch allowed")]);
        let answer = client.turn(&prompt).await;
        assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
        assert!(!world.has("refused") && world.has("allowed"));
        client.finish().await.unwrap();
        let log = world.log();
        assert!(log.contains("none that the agent has started"), "{log}");
    }
}

#[tokio::test]
async fn a_report_is_refused_from_a_command_that_a_tool_runs() {
    for command in ["sh forge; :", "sh forge", "sh own <report >told 2>why"] {
        let world = World::claude();
        let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
        plant(&world, "touch allowed");
        let prompt = steps(&[bash(command), bash("touch after")]);
        let answer = client.turn(&prompt).await;
        assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
        let (told, why) = told(&world);
        assert!(told.is_empty(), "{command}: {told}");
        assert!(why.contains("no decision, refused"), "{command}: {why}");
        assert!(world.has("after"));
    }
}

#[tokio::test]
async fn a_command_that_takes_the_place_of_a_hook_learns_what_is_decided_and_changes_nothing() {
    let world = World::claude();
    let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
    plant(&world, "touch refused");
    let prompt = steps(&[bash("exec sh take-place"), bash("touch refused")]);
    let answer = client.turn(&prompt).await;
    assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
    let (told, why) = told(&world);
    assert!(told.contains("deny"), "{told}{why}");
    assert!(!world.has("refused"));
}

#[tokio::test]
async fn a_plugin_reports_and_no_other_program_that_a_tool_runs() {
    // As the plugin does, but in a process of its own.
    const FORGES: &str = r#"
        const { ACP_CHAIN_HOOK_SOCKET: socket, ACP_CHAIN_HOOK_TOKEN: token } = process.env
        const host = require("node:net").connect(socket)
        const body = JSON.stringify({ session: "s", call: "call-9", tool: "bash", input: { command: "true" } })
        host.on("error", () => {}).on("close", () => process.exit())
        host.on("data", (answer) => require("node:fs").appendFileSync("told", answer))
        host.write(`${token} ${process.argv[2]} before_tool ${body.length}\n${body}`)
    "#;
    for (world, name) in [(World::opencode(), "opencode"), (World::cline(), "cline")] {
        let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
        fs::write(world.path("project/forge.js"), FORGES).unwrap();
        let forge = bash(&format!("node forge.js {name}; touch forged"));
        let prompt = steps(&[forge, bash("touch refused"), bash("touch allowed")]);
        let answer = client.turn(&prompt).await;
        assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
        assert!(world.has("forged") && !world.has("told"), "{name}");
        assert!(world.has("allowed") && !world.has("refused"));
    }
}

#[tokio::test]
async fn two_hosts_of_a_user_decide_each_for_its_own_agent() {
    let one = World::claude();
    let mut other = World::claude();
    other.run.clone_from(&one.run);
    let mut first = one.begin(REQUIRED, &denies("touch a")).await;
    let mut second = other.begin(REQUIRED, &denies("touch b")).await;
    let prompt = steps(&[bash("touch a"), bash("touch b")]);
    tokio::join!(first.turn(&prompt), second.turn(&prompt));
    assert!(!one.has("a") && one.has("b"));
    assert!(other.has("a") && !other.has("b"));
    let crossed = Hook {
        socket: other.hook("PreToolUse").socket,
        ..one.hook("PreToolUse")
    };
    assert!(crossed.refuses(&report("s", "touch c")).await);
}

#[tokio::test]
async fn a_host_that_is_killed_refuses_what_it_has_not_decided_and_leaves_nothing() {
    let tell = "{ tell = { to = 'client', method = 'test/held', params = {} } }";
    let config =
        format!("[proxy.config.requests]\n'_acp-chain/hook/before_tool' = [{tell}, 'hold']\n");
    let world = World::claude();
    let mut client = world.begin(REQUIRED, &proxy("does", &config)).await;
    let hook = world.hook("PreToolUse");
    client.prompt(&steps(&[bash("touch held")]));
    while client.wire.receive().await.unwrap().method.as_deref() != Some("test/held") {}
    client.kill().await.unwrap();
    world.is_left_clean().await;
    assert!(!world.has("held"));
    assert!(hook.refuses(&report("s", "true")).await);
}
