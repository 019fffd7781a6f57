//! The proxies of a project that the user trusts decide about tool runs, though they run in a process of their own.

use std::fs;

use acp_chain_tests::chain::error_of;
use acp_chain_tests::host;
use serde_json::json;

use super::world::{CLAUDE, World};
use super::{bash, is_told_of_hooks, notices, reason, steps};

/// What `permissions` needs to deny commands.
pub(super) const GUARD: &str = "[[proxy]]\nid = 'permissions'\npath = 'tools/permissions.wasm'\n\
                     powers = ['permissions.read', 'permissions.answer', 'tool-runs.read', 'tool-runs.refuse']\n\
                     [[proxy.config.rules]]\ndecision = 'deny'\ncommand = 'touch refused'\n";

/// The first lines of a project whose sessions do not begin without hooks.
const REQUIRED: &str = "[agent]\nhooks = 'required'\n";

/// Makes the folder of the sessions a project with this manifest.
pub(super) fn project(world: &World, manifest: &str) {
    for folder in [".git", "tools"] {
        fs::create_dir_all(world.path("project").join(folder)).unwrap();
    }
    let guard = world.path("project/tools/permissions.wasm");
    fs::copy(host::component("permissions"), guard).unwrap();
    fs::write(world.path("project/acp-chain.toml"), manifest).unwrap();
}

/// The error of a session in the project, which must not begin.
async fn refusal(world: &World, options: &[&str]) -> String {
    let mut client = world.launch(options);
    client.initialize().await;
    let answer = world
        .ask_for_session(&mut client, "session/new", json!({}))
        .await;
    client.finish().await.unwrap();
    error_of(&answer)
}

#[tokio::test]
async fn the_guard_of_a_project_refuses_a_tool_run_once_the_user_trusts_the_project() {
    for is_trusted in [false, true] {
        let world = World::claude();
        project(&world, &format!("{REQUIRED}{GUARD}"));
        if is_trusted {
            world.trust().await;
        }
        let mut client = world.launch([""; 0]);
        client.initialize().await;
        world.set_up(&mut client, "session/new", json!({})).await;
        let prompt = steps(&[bash("touch refused"), bash("touch allowed")]);
        let answer = client.turn(&prompt).await;
        assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
        assert!(world.has("allowed"));
        assert_eq!(world.has("refused"), !is_trusted);
        // Without it, no proxy needs the hooks.
        assert_eq!(world.noted("started") != [json!({})], is_trusted);
    }
}

#[tokio::test]
async fn a_session_of_a_project_that_requires_hooks_does_not_begin_without_them() {
    let mut unknown = World::claude();
    unknown.agent = vec![env!("CARGO_BIN_EXE_wild-agent").to_owned()];
    for (world, options, why) in [
        (unknown, &[][..], "wild-agent"),
        (World::with(CLAUDE, "9.9.9"), &[][..], "9.9.9"),
        (World::claude(), &["--hooks", "off"][..], "switched off"),
    ] {
        project(&world, &format!("{REQUIRED}{GUARD}"));
        world.trust().await;
        let error = refusal(&world, options).await;
        assert!(
            error.contains("hooks") && error.contains("required") && error.contains(why),
            "{error}"
        );
    }
}

#[tokio::test]
async fn without_hooks_the_guard_of_a_project_says_why_it_sees_less() {
    let world = World::claude();
    project(&world, GUARD);
    world.trust().await;
    let mut client = world.launch(["--hooks", "off"]);
    client.initialize().await;
    world.set_up(&mut client, "session/new", json!({})).await;
    client.turn(&steps(&[bash("touch refused")])).await;
    assert!(world.has("refused"));
    assert!(is_told_of_hooks(&client), "{:?}", client.chunks());
    let told = notices(&client).concat();
    assert!(
        told.contains("`permissions`") && told.contains("switched off"),
        "{told}"
    );
}

#[tokio::test]
async fn who_trusts_a_project_while_the_program_runs_is_told_to_restart_it() {
    let world = World::claude();
    project(&world, &format!("{REQUIRED}{GUARD}"));
    let mut client = world.launch([""; 0]);
    client.initialize().await;
    world.trust().await;
    let answer = world
        .ask_for_session(&mut client, "session/new", json!({}))
        .await;
    let error = error_of(&answer);
    assert!(error.contains("restart acp-chain"), "{error}");
    client.finish().await.unwrap();
}
