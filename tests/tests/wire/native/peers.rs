//! Proxies made with other SDKs, and one made without any.

use acp_chain_tests::chain::entry;
use acp_chain_tests::client::prompt;
use acp_chain_tests::host::peer;
use acp_chain_tests::process::Process;

use crate::native::initialized;

/// The manifest's entry of a proxy that forwards everything.
pub fn passing(id: &str) -> String {
    let (command, args) = match id {
        "python" => {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/python/pass_proxy.py");
            ("python3".to_owned(), format!("['{script}']"))
        }
        program => {
            let program = peer("bin").join(program);
            (program.display().to_string(), "[]".to_owned())
        }
    };
    format!("[[proxy]]\nid = {id:?}\ncommand = '{command}'\nargs = {args}\n")
}

/// Turns in which the agent streams, sends requests, and is interrupted.
pub async fn turns_pass(client: &mut Process) {
    let session = interrupted_turns_pass(client).await;
    let id = client.wire.ask("session/prompt", &prompt(&session, "wait"));
    let cancel = format!(r#"{{"requestId":{id}}}"#);
    client.wire.notify("$/cancel_request", &cancel);
    let end = client.wire.response(&id).await;
    let error = end.error.unwrap_or_default();
    assert!(error.contains("-32800"), "{}", end.line);
}

/// The same without `$/cancel_request`.
async fn interrupted_turns_pass(client: &mut Process) -> String {
    let new = r#"{"cwd":"/","mcpServers":[]}"#;
    let session = client.wire.request("session/new", new).await;
    assert!(session.result.is_some(), "{}", session.line);
    let session: serde_json::Value =
        serde_json::from_str(session.result.as_deref().unwrap()).unwrap();
    let session = session["sessionId"].as_str().unwrap();
    let id = client.wire.ask(
        "session/prompt",
        &prompt(session, "stream 20 word\npermission edit Edit /a"),
    );
    let asked = loop {
        let message = client.wire.receive().await.expect("a message");
        if message.method.as_deref() == Some("session/request_permission") {
            break message;
        }
    };
    let outcome = r#"{"outcome":{"outcome":"selected","optionId":"allow-once"}}"#;
    for line in asked.result(outcome) {
        client.wire.send(line);
    }
    let end = client.wire.response(&id).await;
    assert!(
        end.result
            .as_deref()
            .is_some_and(|result| result.contains("end_turn")),
        "{}",
        end.line
    );
    let mut expected: Vec<_> = (0..20).map(|count| format!("word {count}")).collect();
    expected.push("selected allow-once".to_owned());
    assert_eq!(client.chunks(), expected);

    let id = client.wire.ask("session/prompt", &prompt(session, "wait"));
    let cancel = format!(r#"{{"sessionId":"{session}"}}"#);
    client.wire.notify("session/cancel", &cancel);
    let end = client.wire.response(&id).await;
    let result = end.result.unwrap_or_default();
    assert!(result.contains("cancelled"), "{}", end.line);
    session.to_owned()
}

/// The same with a chain of these proxies.
pub async fn turns_pass_chain(manifest: &str) {
    let mut chain = initialized(manifest, &[]).await;
    turns_pass(&mut chain.client).await;
    chain.finish().await;
}

#[tokio::test]
async fn turns_pass_a_proxy_of_the_rust_sdk() {
    turns_pass_chain(&passing("pass-proxy")).await;
}

#[tokio::test]
async fn turns_pass_a_proxy_of_the_npm_sdk() {
    turns_pass_chain(&passing("npm-proxy")).await;
}

#[tokio::test]
async fn turns_pass_a_proxy_in_plain_python() {
    turns_pass_chain(&passing("python")).await;
}

/// This generation uses `_proxy/…`. It forwards `$/cancel_request` like any other notification, with an id
/// that has no meaning behind the proxy.
#[tokio::test]
async fn turns_pass_a_proxy_of_an_older_rust_sdk() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let program = peer("bin/sacp-tee");
    let (program, log) = (program.display(), log.path().display());
    let manifest = format!(
        "[[proxy]]\nid = 'tee'\ncommand = '{program}'\nargs = ['--json', '--log-file', '{log}']\n"
    );
    let mut chain = initialized(&(entry("pass", "pass", "") + &manifest), &[]).await;
    interrupted_turns_pass(&mut chain.client).await;
    chain.finish().await;
}

#[tokio::test]
async fn turns_pass_proxies_of_three_kinds_and_a_component() {
    let manifest = passing("npm-proxy")
        + &passing("python")
        + &entry("pass", "pass", "")
        + &passing("pass-proxy");
    turns_pass_chain(&manifest).await;
}
