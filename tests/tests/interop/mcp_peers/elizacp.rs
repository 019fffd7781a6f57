//! elizacp, an unmodified agent that reaches MCP servers only by stdio.

use std::fs;
use std::path::Path;

use acp_chain_tests::chain::MANIFEST;
use acp_chain_tests::host::run;
use serde_json::json;

use super::turns::{Turns, agent, files, tools};

const ELIZACP: &[&str] = &["elizacp", "--deterministic", "acp"];

/// Calls a tool of the proxy `tools`.
async fn calls_echo(turns: &mut Turns) {
    let said = turns
        .turn(r#"Use tool tools::echo with {"text":"so be it"}"#)
        .await;
    assert!(
        said.starts_with("OK: ") && said.contains("so be it"),
        "{said}"
    );
}

#[tokio::test]
async fn it_lists_and_calls_the_tools_of_proxies() {
    let mut turns = Turns::start(&tools("tools", "tools"), ELIZACP, &json!([])).await;
    let listed = turns.turn("List tools from tools").await;
    assert!(
        listed.contains("  - echo: Gives back the text."),
        "{listed}"
    );
    calls_echo(&mut turns).await;
    let said = turns
        .turn(r#"Use tool tools::add with {"a":2,"b":40}"#)
        .await;
    assert!(
        said.contains("structured_content: Some(Object") && said.contains("42"),
        "{said}"
    );
    let said = turns.turn("Use tool tools::session with {}").await;
    assert!(said.contains(&turns.session), "{said}");
    let said = turns.turn("Use tool tools::fail with {}").await;
    assert!(
        said.starts_with("OK: ") && said.contains("is_error: Some(true)"),
        "{said}"
    );
    let said = turns.turn("Use tool tools::protocol-error with {}").await;
    assert!(
        said.starts_with("ERROR: ") && said.contains("not like this"),
        "{said}"
    );
}

#[tokio::test]
async fn its_tasks_are_the_clients_plan() {
    let mut turns = Turns::start(&tools("todo", "todo"), ELIZACP, &json!([])).await;
    let listed = turns.turn("List tools from todo").await;
    assert!(listed.contains("  - add: Adds tasks"), "{listed}");
    let add = r#"Use tool todo::add with {"tasks":[{"text":"dig"},{"text":"build"}]}"#;
    let said = turns.turn(add).await;
    assert!(said.starts_with("OK: "), "{said}");
    let plan = turns.plan();
    assert_eq!(plan[0]["content"], "dig");
    assert_eq!(plan[1]["status"], "pending");
    // Each of its calls is a connection of its own, and the list persists.
    let update = r#"Use tool todo::update with {"changes":[{"id":2,"status":"completed"}]}"#;
    let said = turns.turn(update).await;
    assert!(said.contains("dig"), "{said}");
    assert_eq!(turns.plan()[1]["status"], "completed");
}

#[tokio::test]
async fn servers_of_one_name_are_told_apart() {
    let manifest = tools("tools", "tools") + &tools("tools-2", "words-c");
    let everything = agent(&["mcp-server-everything"]);
    let own = json!([{ "name": "tools", "command": everything[0], "args": [], "env": [] }]);
    let mut turns = Turns::start(&manifest, ELIZACP, &own).await;
    let own = turns
        .turn(r#"Use tool tools::echo with {"message":"mine"}"#)
        .await;
    assert!(own.contains("Echo: mine"), "{own}");
    let ours = turns
        .turn(r#"Use tool tools-2::echo with {"text":"yours"}"#)
        .await;
    assert!(ours.starts_with("OK: ") && ours.contains("yours"), "{ours}");
    let other = turns.turn("List tools from tools-2-2").await;
    assert!(other.contains("  - count: "), "{other}");
}

#[tokio::test]
async fn tools_in_every_language_count_alike() {
    let languages = ["javascript", "python", "c"];
    let manifest = languages.map(|language| tools(language, &format!("words-{language}")));
    let mut turns = Turns::start(&manifest.concat(), ELIZACP, &json!([])).await;
    for language in languages {
        let listed = turns.turn(&format!("List tools from {language}")).await;
        assert!(
            listed.contains("  - count: Counts the words"),
            "{language}: {listed}"
        );
        let call = format!(r#"Use tool {language}::count with {{"text":"one two  three"}}"#);
        let said = turns.turn(&call).await;
        assert!(said.contains(r#""words": Number(3)"#), "{language}: {said}");
        let wrong = format!(r#"Use tool {language}::count with {{"text":7}}"#);
        let said = turns.turn(&wrong).await;
        assert!(
            said.starts_with("ERROR: ") && said.contains("-32602"),
            "{language}: {said}"
        );
    }
}

#[tokio::test]
async fn a_call_waits_for_the_client_as_often_as_it_has_to() {
    let mut turns = Turns::start(&tools("map", "project-map"), ELIZACP, &json!([])).await;
    let said = turns
        .answering("Use tool map::outline with {}", files)
        .await;
    assert!(
        said.contains("shallow") && said.contains("Treasure"),
        "{said}"
    );
    let find = r#"Use tool map::find with {"pattern":"Treasure"}"#;
    let said = turns.answering(find, files).await;
    assert!(
        said.contains("/project/src/deep.rs") || said.contains("src/deep.rs"),
        "{said}"
    );
    assert!(!said.contains("shallow"), "{said}");
}

#[tokio::test]
async fn a_proxy_that_breaks_fails_its_call_and_is_there_again_for_the_next() {
    let manifest = tools("tools", "tools") + "on-failure = 'restart'\n";
    let mut turns = Turns::start(&manifest, ELIZACP, &json!([])).await;
    let said = turns.turn("Use tool tools::trap with {}").await;
    let error = said.find("ERROR: ").unwrap_or_else(|| panic!("{said}"));
    assert!(
        said[error..].contains("-32603") && said[error..].contains("tools"),
        "{said}"
    );
    let said = turns
        .turn(r#"Use tool tools::echo with {"text":"again"}"#)
        .await;
    assert!(said.contains("OK: ") && said.contains("again"), "{said}");
}

#[tokio::test]
async fn it_calls_tools_wherever_the_usual_folders_have_no_room_for_a_socket() {
    let top = tempfile::tempdir().unwrap();
    let long = top.path().join("x".repeat(100));
    fs::create_dir(&long).unwrap();
    let missing = top.path().join("missing");
    // Build machines and Nix have no `XDG_RUNTIME_DIR`; elsewhere it may be the one with the long path.
    for (runtime, temporary) in [(None, &long), (None, &missing), (Some(&long), &long)] {
        let command = |folder: &Path| {
            let mut command = run(Some(&folder.join(MANIFEST)), agent(ELIZACP));
            command.env("TMPDIR", temporary);
            match runtime {
                Some(folder) => command.env("XDG_RUNTIME_DIR", folder),
                None => command.env_remove("XDG_RUNTIME_DIR"),
            };
            command
        };
        let mut turns = Turns::launch(&tools("tools", "tools"), command, &json!([])).await;
        calls_echo(&mut turns).await;
    }
}
