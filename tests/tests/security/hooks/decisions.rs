//! What the proxies decide about a tool run is what the agent does.

use std::fs;

use serde_json::{Value, json};

use super::world::World;
use super::{REQUIRED, bash, denies, notices, proxy, reason, steps, with};

/// A secret, in a file of the project.
const KEY: &str = "AKIAIOSFODNN7EXAMPLQ";

/// Agents whose hooks are programs, and plugins.
fn worlds() -> [World; 3] {
    [World::claude(), World::opencode(), World::cline()]
}

/// Writes a file with the secret into the project.
fn plant(world: &World) {
    let text = format!("the key is {KEY}, and the rest is none\n");
    fs::write(world.path("project/key"), text).unwrap();
}

#[tokio::test]
async fn a_tool_that_is_refused_does_not_run_and_others_do() {
    for world in worlds() {
        let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
        let prompt = steps(&[bash("touch refused"), bash("touch allowed")]);
        let answer = client.turn(&prompt).await;
        assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
        assert!(!world.has("refused") && world.has("allowed"));
        let told = world.noted("model");
        assert!(
            told[0].as_str().is_some_and(|why| !why.is_empty()),
            "{told:?}"
        );
    }
}

#[tokio::test]
async fn a_tool_runs_with_the_input_of_a_proxy() {
    let edit = "{ edit = { pointer = '/toolCall/rawInput/command', value = 'touch changed' } }";
    let config = format!("[proxy.config.requests]\n'_acp-chain/hook/before_tool' = [{edit}]\n");
    for world in worlds() {
        let mut client = world.begin(REQUIRED, &proxy("does", &config)).await;
        client.turn(&steps(&[bash("touch original")])).await;
        assert!(world.has("changed") && !world.has("original"));
    }
}

#[tokio::test]
async fn another_hook_that_changes_an_input_is_told_of_once() {
    let rival = json!({ "hookSpecificOutput": { "updatedInput": { "command": "touch rival" } } });
    let hook = json!({ "type": "command", "command": format!("echo '{rival}'") });
    let settings = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] } });
    let session = json!({ "_meta": { "claudeCode": { "options": { "settings": settings } } } });
    let world = World::claude();
    let mut client = world.start(REQUIRED, &denies("touch refused"));
    client.initialize().await;
    world.set_up(&mut client, "session/new", session).await;
    for command in ["touch original", "touch another"] {
        client.turn(&steps(&[bash(command)])).await;
    }
    assert!(world.has("rival") && !world.has("original"));
    let told = notices(&client);
    let of_others = told.iter().filter(|text| text.contains("another input"));
    assert_eq!(of_others.count(), 1, "{told:?}");
}

#[tokio::test]
async fn a_secret_in_a_result_does_not_reach_the_model() {
    for world in worlds() {
        plant(&world);
        let mut client = world.begin(REQUIRED, &proxy("redact", "")).await;
        client.turn(&steps(&[bash("cat key")])).await;
        let model = world.model();
        assert!(
            model.contains("the rest is none") && !model.contains(KEY),
            "{model}"
        );
    }
}

#[tokio::test]
async fn nor_does_one_in_a_file_that_it_reads() {
    let world = World::claude();
    plant(&world);
    let mut client = world.begin(REQUIRED, &proxy("redact", "")).await;
    let read = json!({ "tool": "Read", "input": { "file_path": world.path("project/key") } });
    client.turn(&steps(&[read])).await;
    let model = world.model();
    assert!(
        model.contains("the rest is none") && !model.contains(KEY),
        "{model}"
    );
}

#[tokio::test]
async fn nor_does_one_in_the_output_of_a_command_that_fails_unless_the_user_is_told() {
    // The hooks of Claude cannot change what its model gets of a failure.
    for (world, can_change) in [(World::claude(), false), (World::opencode(), true)] {
        plant(&world);
        let mut client = world.begin(REQUIRED, &proxy("redact", "")).await;
        client.turn(&steps(&[bash("cat key; exit 3")])).await;
        let (model, told) = (world.model(), notices(&client));
        let is_told = !can_change && !told.is_empty();
        assert!(
            model != "[]" && (is_told || !model.contains(KEY)),
            "{model}"
        );
    }
}

#[tokio::test]
async fn each_of_many_runs_at_once_gets_its_own_decision() {
    const COUNT: usize = 60;
    let name = |number: usize| match number % 3 {
        0 => format!("refused-{number}"),
        _ => format!("allowed-{number}"),
    };
    let world = World::claude();
    let mut client = world.begin(REQUIRED, &denies("touch refused*")).await;
    let runs = (0..COUNT).map(|number| bash(&format!("touch {}", name(number))));
    let at_once = Value::from(runs.collect::<Vec<_>>());
    let answer = client.turn(&steps(&[at_once])).await;
    assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
    for number in 0..COUNT {
        assert_eq!(world.has(&name(number)), number % 3 != 0, "{number}");
    }
}

#[tokio::test]
async fn a_huge_input_passes_or_is_refused_with_a_reason() {
    let world = World::claude();
    let mut client = world.begin(REQUIRED, &denies("touch refused")).await;
    let huge = with(bash("touch huge"), "filler", 16 << 20);
    client.turn(&steps(&[huge])).await;
    let (model, told) = (world.model(), notices(&client));
    assert!(
        world.has("huge") || model.contains("acp-chain") || !told.is_empty(),
        "{model}"
    );
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
}
