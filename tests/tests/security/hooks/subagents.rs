//! Sessions with turns at the same time, and their subagents: the proxies of its own session decide about each call.

use acp_chain_tests::client::prompt;
use acp_chain_tests::process::Process;
use serde_json::{Value, json};

use super::projects::{GUARD, project};
use super::world::World;
use super::{REQUIRED, bash, denies, proxy, reason, steps, with};

/// What a subagent does.
fn task(step: Value) -> Value {
    json!({ "task": [step] })
}

/// Begins the session `s` in the project, and `s1` in another folder.
async fn begin(world: &World, client: &mut Process) {
    client.initialize().await;
    let other = json!({ "cwd": world.path("other") });
    for params in [json!({}), other] {
        world.set_up(client, "session/new", params).await;
    }
}

/// Takes a turn of one session, while the other one has a turn in which nothing happens.
async fn turn_beside(client: &mut Process, other: &str, session: &str, prompted: &[Value]) {
    let waits = prompt(other, &steps(&[json!("wait")]));
    let waiting = client.wire.ask("session/prompt", &waits);
    let params = prompt(session, &steps(prompted));
    let answer = client.wire.request("session/prompt", &params).await;
    assert_eq!(reason(&answer), "end_turn", "{}", answer.line);
    let stop = json!({ "sessionId": other }).to_string();
    client.wire.notify("session/cancel", &stop);
    client.wire.response(&waiting).await;
}

#[tokio::test]
async fn the_guard_of_a_project_decides_in_its_sessions_alone_while_several_have_turns() {
    for world in [World::claude(), World::opencode(), World::cline()] {
        project(&world, GUARD);
        world.trust().await;
        let mut client = world.launch(REQUIRED);
        begin(&world, &mut client).await;
        let run = bash("touch refused");
        let runs = [run.clone(), task(run), bash("touch allowed")];
        turn_beside(&mut client, "s1", "s", &runs).await;
        assert!(!world.has("refused") && world.has("allowed"));
        turn_beside(&mut client, "s", "s1", &runs).await;
        assert!(!world.has("refused"));
        assert!(world.path("other/refused").exists());
    }
}

#[tokio::test]
async fn a_call_of_a_subagent_names_it_and_belongs_to_the_session_that_started_it() {
    let edits = "{ unless = { pointer = '/sessionId', is = 's' } }, \
                 { edit = { pointer = '/toolCall/rawInput/command', value = 'touch changed' } }";
    for (world, subagent) in [
        (World::opencode(), "child-of-s"),
        (World::cline(), "second"),
    ] {
        let names = format!("{{ unless = {{ pointer = '/subagent', is = '{subagent}' }} }}");
        let config = format!(
            "[proxy.config.requests]\n'_acp-chain/hook/before_tool' = [{names}, {edits}]\n"
        );
        let mut client = world.start(REQUIRED, &proxy("does", &config));
        begin(&world, &mut client).await;
        let runs = [bash("touch own"), task(bash("touch original"))];
        turn_beside(&mut client, "s1", "s", &runs).await;
        assert!(world.has("own") && world.has("changed") && !world.has("original"));
        turn_beside(&mut client, "s", "s1", &runs).await;
        assert!(world.path("other/original").exists());
        assert!(!world.path("other/changed").exists());
    }
}

#[tokio::test]
async fn a_call_of_a_subagent_is_refused_if_it_could_belong_to_several_sessions_with_turns() {
    let world = World::opencode();
    let mut client = world.start(REQUIRED, &denies("touch refused"));
    begin(&world, &mut client).await;
    let lost = |command| with(task(bash(command)), "lost", true);
    turn_beside(&mut client, "s1", "s", &[lost("touch several")]).await;
    client.turn(&steps(&[lost("touch single")])).await;
    assert!(!world.has("several") && world.has("single"));
}

#[tokio::test]
async fn a_subagent_goes_on_with_no_session_of_another_about_which_other_proxies_decide() {
    let world = World::opencode();
    project(&world, GUARD);
    world.trust().await;
    let mut client = world.launch(REQUIRED);
    begin(&world, &mut client).await;
    let resumes = |session: &str, command: &str| with(task(bash(command)), "resumes", session);
    turn_beside(&mut client, "s", "s1", &[task(bash("true"))]).await;
    for session in ["s1", "child-of-s1", "of-nobody", "child-of-s"] {
        let command = format!("touch {session}");
        let runs = [
            resumes(session, "touch refused"),
            resumes(session, &command),
        ];
        turn_beside(&mut client, "s1", "s", &runs).await;
        assert!(!world.has("refused") && world.has(session), "{session}");
    }
}
