//! An agent that does not run the hooks gets no further: not to its first turn, or not beyond the first tool that it
//! runs without them.

use acp_chain_tests::chain::error_of;
use serde_json::json;

use super::world::{CLAUDE, World};
use super::{REQUIRED, bash, denies, is_told_of_hooks, notices, reason, steps, with};

#[tokio::test]
async fn a_run_without_hooks_ends_the_turn_and_is_the_last() {
    for (world, member) in [
        (World::claude(), "skips"),
        (World::claude(), "claims"),
        (World::opencode(), "skips"),
    ] {
        let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
        let unseen = with(bash("touch unseen"), member, true);
        let answer = client.turn(&steps(&[unseen, json!("wait")])).await;
        assert_ne!(reason(&answer), "end_turn", "{member}: {}", answer.line);
        assert!(is_told_of_hooks(&client), "{:?}", client.chunks());
        let refused = error_of(&client.turn(&steps(&[bash("touch later")])).await);
        assert!(refused.contains("hooks"), "{refused}");
        client.finish().await.unwrap();
        assert_eq!(world.noted("cancelled"), ["s"], "{member}");
        assert_eq!(world.noted("prompt").len(), 1, "{member}");
    }
}

#[tokio::test]
async fn no_prompt_reaches_an_agent_whose_hooks_are_not_in_force() {
    for (mut world, flag) in [
        (World::claude(), "--deaf"),
        (World::opencode(), "--deaf"),
        (World::opencode(), "--deletes"),
        (World::opencode(), "--edits"),
    ] {
        world.agent.push(flag.to_owned());
        let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
        // It waits for a sign of life until the client stops it.
        let prompt = client.prompt(&steps(&[bash("touch allowed")]));
        let session = r#"{"sessionId":"s"}"#;
        client.wire.notify("session/cancel", session);
        let answer = client.wire.response(&prompt).await;
        assert_ne!(reason(&answer), "end_turn", "{flag}: {}", answer.line);
        client.finish().await.unwrap();
        assert_eq!(world.noted("prompt").len(), 0, "{flag}");
    }
}

#[tokio::test]
async fn a_version_that_was_not_tried_is_told_of_once_and_goes_on() {
    let world = World::with(CLAUDE, "9.9.9");
    let mut client = world.begin(&[], &denies("touch refused")).await;
    let prompt = steps(&[with(bash("touch unseen"), "skips", true)]);
    let mut told = Vec::new();
    for _ in 0..2 {
        let answer = client.turn(&prompt).await;
        assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
        told.push(notices(&client).len());
    }
    assert!(is_told_of_hooks(&client), "{:?}", client.chunks());
    assert_eq!(told[0], told[1], "{:?}", client.chunks());
}

#[tokio::test]
async fn a_history_that_is_replayed_is_no_run() {
    let world = World::claude();
    let mut client = world.start(REQUIRED, &denies("touch refused"));
    client.initialize().await;
    let session = json!({ "sessionId": "s" });
    world.set_up(&mut client, "session/load", session).await;
    let prompt = steps(&[bash("touch allowed"), bash("touch refused")]);
    let answer = client.turn(&prompt).await;
    assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
    assert!(world.has("allowed") && !world.has("refused"));
    assert!(!is_told_of_hooks(&client), "{:?}", client.chunks());
}

#[tokio::test]
async fn without_the_files_that_its_hooks_need_it_runs_nothing_more() {
    let world = World::claude();
    let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
    let remove = bash(r#"rm -r "$(dirname "$ACP_CHAIN_HOOK_SOCKET")""#);
    client.turn(&steps(&[remove, bash("touch next")])).await;
    client.turn(&steps(&[bash("touch later")])).await;
    assert!(!world.has("next") && !world.has("later"));
}
