//! An author's saves: swapped in, ignored or reported.

use std::fs;

use acp_chain_tests::client::{chunks, prompt};
use acp_chain_tests::wire::Wire;

use super::author::{BEGIN, Dev, Project};

const SOURCE: &str = "src/proxy.c";

/// The text that the agent receives after the user's prompt.
async fn added(dev: &mut Dev) -> String {
    let said = turn(&mut dev.client, "echo hello").await.concat();
    let (_, added) = said.split_once("hello").unwrap();
    added.to_owned()
}

/// Prompts the agent and waits for the end of the turn. Returns the turn's chunks.
async fn turn(client: &mut Wire, text: &str) -> Vec<String> {
    let before = chunks(&client.transcript().received("client")).len();
    client.request("session/prompt", &prompt("s", text)).await;
    chunks(&client.transcript().received("client")).split_off(before)
}

#[tokio::test]
async fn what_is_saved_takes_its_place_and_a_build_that_fails_does_not() {
    let project = Project::new("c", "prompt");
    let mut dev = project.dev(&[]).await;
    assert_eq!(added(&mut dev).await, "Be brief.");

    project.change(SOURCE, "Be brief.", "Be bold.");
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "Be bold.");

    // The toolchain's own errors are all shown.
    let whole = fs::read_to_string(project.path(SOURCE)).unwrap();
    project.change(SOURCE, "return true;", "return tru;");
    dev.said.next("it does not build").await;
    dev.said.next("use of undeclared identifier 'tru'").await;
    dev.said.next("2 errors generated").await;
    assert_eq!(added(&mut dev).await, "Be bold.");

    // A save of half the file, and then of all of it.
    project.save(SOURCE, &whole[..whole.len() / 2]);
    dev.said.next("it does not build").await;
    assert_eq!(added(&mut dev).await, "Be bold.");
    project.save(SOURCE, &whole.replace("Be bold.", "Be kind."));
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "Be kind.");

    let said = dev.finish().await;
    let count = |what: &str| said.iter().filter(|line| line.contains(what)).count();
    assert_eq!(
        (count("built in"), count("swapped")),
        (3, 2),
        "an unchanged project is not built again: {said:#?}"
    );
}

#[tokio::test]
async fn what_makes_the_same_component_is_not_swapped() {
    let project = Project::new("c", "prompt");
    let mut dev = project.dev(&[]).await;
    project.change(SOURCE, "// Asks the agent", "// It asks the agent");
    dev.said.next("the same as before").await;
    // Files outside the build are ignored.
    for file in ["build/notes", ".notes", "src/notes~"] {
        project.save(file, "x");
    }
    project.change(SOURCE, "Be brief.", "Be bold.");
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "Be bold.");
    let said = dev.finish().await;
    let built = said.iter().filter(|line| line.contains("built in"));
    assert_eq!(built.count(), 3, "{said:#?}");
}

#[tokio::test]
async fn what_is_made_sooner_in_javascript_is_a_draft_which_nobody_publishes() {
    let project = Project::new("js", "prompt");
    let mut dev = project.dev(&[]).await;
    assert_eq!(added(&mut dev).await, "Be brief.");
    project.change("src/proxy.js", "Be brief.", "Be bold.");
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "Be bold.");
    dev.finish().await;

    let publish = || async {
        let mut publish = project.acp_chain("publish");
        publish.args(["build/tried.wasm", "127.0.0.1:1/nobody/tried:1"]);
        let output = publish.output().await.unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let test = || async {
        let output = project.acp_chain("test").output().await.unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(publish().await.contains("is a draft"));
    assert!(test().await.contains("is a draft of `acp-chain dev`"));
    let built = project.acp_chain("build").output().await.unwrap();
    assert!(built.status.success(), "{built:?}");
    assert!(!publish().await.contains("is a draft"));
    assert!(!test().await.contains("is a draft"));
}

#[tokio::test]
async fn a_version_that_does_not_start_leaves_the_old_one_at_work() {
    let project = Project::new("c", "prompt");
    let mut dev = project.dev(&[]).await;
    project.change(
        SOURCE,
        "  acp_json_free(config);",
        "  acp_json_free(config);\n  __builtin_trap();",
    );
    let said = dev.said.next("the old version goes on").await;
    assert!(said.contains("the new one does not start"), "{said}");
    let said = turn(&mut dev.client, "echo hello").await;
    assert!(
        said[0].contains("a new version of the proxy `tried` does not start"),
        "the user is notified, too: {said:#?}"
    );
    assert!(said.concat().ends_with("helloBe brief."), "{said:#?}");
    project.change(SOURCE, "  __builtin_trap();", "");
    project.change(SOURCE, "Be brief.", "Be bold.");
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "Be bold.");
    dev.finish().await;
}

#[tokio::test]
async fn a_project_that_does_not_build_says_so_to_the_client_until_it_does() {
    let project = Project::new("c", "prompt");
    project.change(SOURCE, "return true;", "return tru;");
    let mut dev = project.dev_for(&[]);
    let answer = dev.client.request("initialize", BEGIN).await;
    let error = answer.error.unwrap();
    assert!(
        error.contains("the project does not build") && error.contains("'tru'"),
        "{error}"
    );
    project.change(SOURCE, "return tru;", "return true;");
    dev.said.next("built in").await;
    let answer = dev.client.request("initialize", BEGIN).await;
    assert!(answer.result.is_some(), "{}", answer.line);
    assert_eq!(added(&mut dev).await, "Be brief.");
    dev.finish().await;
}

#[tokio::test]
async fn a_new_version_has_the_powers_that_it_asks_for() {
    let project = Project::new("c", "prompt");
    let mut dev = project.dev(&[]).await;
    // Without the power, the proxy cannot change the prompt.
    let asks = fs::read_to_string(project.path("extension.toml")).unwrap();
    project.change("extension.toml", "prompts.change", "permissions.read");
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "");
    project.save("extension.toml", &asks);
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "Be brief.");
    dev.finish().await;
}

#[tokio::test]
async fn the_component_has_its_place_in_a_chain_that_is_named() {
    let project = Project::new("c", "prompt");
    let mut dev = project.dev(&["--manifest", "chain.toml"]).await;
    assert_eq!(added(&mut dev).await, "Be brief.");
    project.change(SOURCE, "Be brief.", "Be bold.");
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "Be bold.");
    // The chain's manifest decides the proxy's powers.
    project.change("chain.toml", r#"["prompts.change"]"#, "[]");
    dev.said.next("swapped").await;
    assert_eq!(added(&mut dev).await, "");
    dev.finish().await;
}
