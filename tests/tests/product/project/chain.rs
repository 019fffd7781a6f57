//! `acp-chain project-chain`, driven as a proxy, like by the host.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::project::world::{SHOUT, World};

/// Starts the process with this key. Returns it with its answer to `proxy/initialize`.
pub async fn begun(world: &World, key: &str) -> (Process, Message) {
    let command = Command::from(world.command("project-chain"));
    let mut chain = Process::start("conductor", &Transcript::new(), command).unwrap();
    let root = json!({ "Unix": world.root.as_os_str().as_bytes() });
    chain.wire.send(
        json!({ "root": root, "key": key, "beside": { "programs": [], "files": [] } }).to_string(),
    );
    let id = chain
        .wire
        .ask("proxy/initialize", r#"{"protocolVersion":1}"#);
    loop {
        let message = chain.wire.receive().await.expect("an answer");
        if message.answers(&id) {
            return (chain, message);
        }
        // The chain forwards the request to its successor.
        assert_eq!(message.method.as_deref(), Some("proxy/successor"));
        for line in message.result(r#"{"protocolVersion":1}"#) {
            chain.wire.send(line);
        }
    }
}

async fn refused(world: &World, key: &str) -> String {
    let (chain, answer) = begun(world, key).await;
    let error: Value = serde_json::from_str(&answer.error.expect("an error")).unwrap();
    chain.finish().await.unwrap();
    error["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_proxies_of_a_project_stand_in_the_chain() {
    let world = World::shouting();
    let key = world.trust();
    let (mut chain, answer) = begun(&world, &key).await;
    assert!(answer.result.is_some(), "{}", answer.line);
    chain.wire.ask("session/prompt", &prompt("s", "quietly"));
    let passed = chain.wire.receive().await.unwrap();
    assert_eq!(passed.method.as_deref(), Some("proxy/successor"));
    assert!(passed.line.contains("QUIETLY"), "{}", passed.line);
    chain.finish().await.unwrap();
}

#[tokio::test]
async fn a_guard_of_a_project_may_be_written_anywhere() {
    let world = World::shouting();
    fs::copy(host::component("redact"), world.path("tools/redact.wasm")).unwrap();
    let redact = "[[proxy]]\nid = \"redact\"\npath = \"tools/redact.wasm\"\n\
                  powers = [\"prompts.read\", \"prompts.change\"]\n\n";
    world.manifest(&format!("{redact}{SHOUT}"));
    let key = world.trust();
    let (mut chain, answer) = begun(&world, &key).await;
    assert!(answer.result.is_some(), "{}", answer.line);
    let secret = prompt("s", "my key is AKIAUJZDEGXDNCF32EPF, quietly");
    chain.wire.ask("session/prompt", &secret);
    let passed = chain.wire.receive().await.unwrap();
    assert!(passed.line.contains("QUIETLY"), "{}", passed.line);
    assert!(
        !passed.line.contains("AKIAUJZDEGXDNCF32EPF"),
        "{}",
        passed.line
    );
    chain.finish().await.unwrap();
}

#[tokio::test]
async fn another_key_is_refused() {
    let world = World::shouting();
    world.trust();
    let key = format!("sha256:{}", "0".repeat(64));
    let error = refused(&world, &key).await;
    assert!(
        error.contains("no longer those that you agreed to"),
        "{error}"
    );
}

#[tokio::test]
async fn what_changed_since_runs_from_what_was_kept() {
    for change in [
        |world: &World| world.manifest(&format!("{SHOUT}on-failure = \"bypass\"\n")),
        |world: &World| fs::write(world.path("tools/shout.wasm"), b"\0asm").unwrap(),
        |world: &World| fs::write(world.path("acp-chain.lock"), "version = 1\n").unwrap(),
        |world: &World| {
            fs::copy(host::component("pass"), world.path("tools/pass.wasm")).unwrap();
            fs::remove_file(world.path("tools/shout.wasm")).unwrap();
            symlink("pass.wasm", world.path("tools/shout.wasm")).unwrap();
        },
    ] {
        let world = World::shouting();
        let key = world.trust();
        change(&world);
        let (mut chain, answer) = begun(&world, &key).await;
        assert!(answer.result.is_some(), "{}", answer.line);
        chain.wire.ask("session/prompt", &prompt("s", "quietly"));
        let passed = chain.wire.receive().await.unwrap();
        assert!(passed.line.contains("QUIETLY"), "{}", passed.line);
        chain.finish().await.unwrap();
        // The user did not agree to the changed content.
        let error = refused(&world, &world.key()).await;
        assert!(error.contains("you have not agreed to it"), "{error}");
        world.do_run(&["trust", "--revoke"]);
        let error = refused(&world, &key).await;
        let gone = "no longer those that you agreed to";
        assert!(error.contains(gone), "{error}");
    }
}

#[tokio::test]
async fn what_nobody_agreed_to_is_refused() {
    let world = World::shouting();
    let error = refused(&world, &world.key()).await;
    assert!(
        error.contains("you have not agreed to it; `acp-chain trust "),
        "{error}"
    );
    world.is_untouched();
    let key = world.trust();
    world.do_run(&["trust", "--deny"]);
    let error = refused(&world, &key).await;
    assert!(error.contains("you have not agreed to it"), "{error}");
}

#[tokio::test]
async fn it_is_no_agent() {
    let world = World::shouting();
    let key = world.trust();
    let command = Command::from(world.command("project-chain"));
    let mut chain = Process::start("conductor", &Transcript::new(), command).unwrap();
    let root = json!({ "Unix": world.root.as_os_str().as_bytes() });
    chain.wire.send(
        json!({ "root": root, "key": key, "beside": { "programs": [], "files": [] } }).to_string(),
    );
    let answer = chain
        .wire
        .request("initialize", r#"{"protocolVersion":1}"#)
        .await;
    assert!(
        answer
            .line
            .contains("the proxies of a project are no agent"),
        "{}",
        answer.line
    );
    chain.finish().await.unwrap();
}
