//! Reports that are not the agent's, and a host that has ended: nothing runs that would not have run.

use serde_json::{Value, json};

use super::world::{Hook, World, is_refusal};
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

#[tokio::test]
async fn a_forged_report_shows_what_is_decided_and_changes_nothing() {
    let world = World::claude();
    let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
    let hook = world.hook("PreToolUse");
    let stranger = Hook {
        token: "x".repeat(hook.token.len()),
        ..hook.clone()
    };
    assert!(stranger.refuses(&report("s", "touch allowed")).await);
    assert!(hook.refuses(&report("s", "touch refused")).await);
    assert!(hook.refuses(&report("of-nobody", "touch refused")).await);
    // Whatever is decided about this call says nothing about another one.
    hook.report(&report("s", "touch allowed")).await;
    let answer = client.turn(&steps(&[bash("touch refused")])).await;
    assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
    assert!(!world.has("refused") && !world.has("allowed"));
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
    let waiting = hook.clone();
    let held = tokio::spawn(async move { waiting.report(&report("s", "true")).await });
    while client.wire.receive().await.unwrap().method.as_deref() != Some("test/held") {}
    client.kill().await.unwrap();
    assert!(is_refusal(&held.await.unwrap()));
    world.is_left_clean().await;
    assert!(hook.refuses(&report("s", "true")).await);
}
