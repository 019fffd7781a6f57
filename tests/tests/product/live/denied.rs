//! Denied actions of proxies, reported live; and proxies that are programs.

use std::fs;
use std::path::Path;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::Value;

use super::watched::{Listener, socket_of, top};
use super::{AGENT, run};

const PROXY: &str = env!("CARGO_BIN_EXE_native-proxy");

/// A chain with this manifest, whose user allows programs as proxies.
async fn chain(folder: &Path, manifest: &str) -> Process {
    let path = folder.join("acp-chain.toml");
    fs::write(&path, manifest).unwrap();
    let mut command = run(folder, &path, &[AGENT]);
    command.env("XDG_CONFIG_HOME", host::grants_native(folder));
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    client
}

/// The entry of the only proxy in `acp-chain top`, as soon as there is one.
async fn program_of_top(folder: &Path, client: &Process) -> Value {
    loop {
        let said: Value = serde_json::from_str(&top(folder, &["--json"]).await).unwrap();
        let mut chains = said["chains"].as_array().unwrap().iter();
        let ours = chains.find(|chain| chain["process"] == client.id().unwrap());
        let program = ours.map(|chain| &chain["proxies"][0]);
        if let Some(program) = program.filter(|program| program["state"].is_string()) {
            return program.clone();
        }
    }
}

#[tokio::test]
async fn a_denied_call_is_heard_of_in_the_turn_in_which_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = host::component("hostile");
    let manifest = format!(
        "[[proxy]]\nid = 'greedy'\npath = '{}'\npowers = ['prompts.read']\n\
         [proxy.config]\nmode = 'originate'\neverywhere = true\n",
        path.display()
    );
    let mut client = chain(folder, &manifest).await;
    let mut listener = Listener::to(&socket_of(folder, &client).unwrap()).await;
    // After the heading, the listener receives every line.
    listener.next().await.expect("the heading");
    for _ in 0..2 {
        client.turn("hello").await;
        // The chain keeps running.
        let line = loop {
            let line = listener.next().await.expect("the chain runs");
            if line.denied.is_some() {
                break line;
            }
        };
        assert_eq!(line.proxy.as_deref(), Some("greedy"));
        assert_eq!(line.method.as_deref(), Some("session/prompt"));
        assert_eq!(line.session.as_deref(), Some("s"));
        assert!(line.request.is_some());
        // The count restarts with each turn.
        assert_eq!(line.denied, Some(28));
    }
    assert!(client.finish().await.unwrap().status.success());
    let told: Vec<_> = listener.rest().await;
    assert!(told.iter().all(|line| line.denied.is_none()), "{told:?}");
}

#[tokio::test]
async fn top_tells_the_memory_of_a_program_with_all_that_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let proxy = |command: &str| {
        format!("[[proxy]]\nid = 'program'\ncommand = 'sh'\nargs = ['-c', '{command}']\n")
    };
    let mut sizes = Vec::new();
    for command in [
        format!("exec {PROXY}"),
        // A proxy that is a child of a shell, which keeps running and has another child.
        format!("sleep 1000 & {PROXY}; true"),
    ] {
        let client = chain(folder, &proxy(&command)).await;
        let program = program_of_top(folder, &client).await;
        assert_eq!(program["state"], "running", "{program}");
        sizes.push(program["memory"].as_u64().unwrap());
        assert!(client.finish().await.unwrap().status.success());
    }
    assert!(sizes[0] > 100 << 10 && sizes[1] > sizes[0], "{sizes:?}");
}
