//! While a chain runs, the host has given up the rights that it does not need, and still works.

use std::fs;
use std::path::Path;

use acp_chain_tests::host;
use acp_chain_tests::process::{Process, gone};
use acp_chain_tests::transcript::Transcript;
use rustix::process::{Signal, kill_process};
use serde_json::Value;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// The log line once all rights are given up.
const ALL: &str = "from now on acp-chain itself opens only files in the directories of its proxies, \
                   starts no programs and connects to nothing";

/// Starts a chain, with its log in this folder.
fn start(folder: &Path, manifest: Option<&Path>) -> Process {
    let log = folder.join("log");
    let mut options = vec!["--log-file".as_ref(), log.as_os_str()];
    options.extend(
        manifest
            .iter()
            .flat_map(|path| ["--manifest".as_ref(), path.as_os_str()]),
    );
    let program = host::run_with(options, [AGENT]);
    Process::start("client", &Transcript::new(), program).unwrap()
}

/// The value of this name in the status of each thread of a process.
fn of_threads(process: u32, name: &str) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let values = threads.map(|thread| {
        let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        let value = status.lines().find_map(|line| line.strip_prefix(name));
        value.expect(name).trim().to_owned()
    });
    values.collect()
}

#[tokio::test]
async fn no_thread_of_a_chain_that_runs_can_ask_the_kernel_for_much() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "inside").unwrap();
    let manifest = folder.path().join("acp-chain.toml");
    let text = format!(
        "[[proxy]]\nid = 'files'\npath = '{}'\nmethods = {{ 'test/files' = ['read', 'answer'] }}\n\
         directories = [{{ path = '{}', name = '/given' }}]\n",
        host::component("files").display(),
        folder.path().display()
    );
    fs::write(&manifest, text).unwrap();
    let mut client = start(folder.path(), Some(&manifest));
    client.initialize().await;
    // Files are read on other threads.
    let read = r#"{"try":"read","path":"/given/file"}"#;
    let answer = client.wire.request("test/files", read).await;
    let result: Value = serde_json::from_str(&answer.result.unwrap()).unwrap();
    assert_eq!(result["done"], "inside");
    client.turn("echo it works").await;
    assert_eq!(client.chunks(), ["it works"]);
    let process = client.id().unwrap();
    let filtered = of_threads(process, "Seccomp:");
    assert!(filtered.len() > 1, "{filtered:?}");
    assert!(filtered.iter().all(|mode| mode == "2"), "{filtered:?}");
    let kept = of_threads(process, "NoNewPrivs:");
    assert!(kept.iter().all(|kept| kept == "1"), "{kept:?}");
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains(ALL), "{log}");
}

#[tokio::test]
async fn a_chain_without_proxies_gives_up_as_much() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = start(folder.path(), None);
    client.initialize().await;
    let filtered = of_threads(client.id().unwrap(), "Seccomp:");
    // The chain may be watched, by threads that begin later.
    assert!(filtered.iter().all(|mode| mode == "2"), "{filtered:?}");
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains(ALL), "{log}");
}

#[tokio::test]
async fn the_supervisor_takes_no_notice_of_what_is_meant_for_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = start(folder.path(), None);
    client.initialize().await;
    let supervisor = client.supervisor();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        kill_process(supervisor, signal).unwrap();
    }
    client.turn("echo it works").await;
    assert_eq!(client.chunks(), ["it works"]);
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
    let id = supervisor.as_raw_nonzero().get().cast_unsigned();
    gone(&Transcript::new(), id).await.unwrap();
}

#[tokio::test]
async fn a_component_that_does_not_start_takes_a_new_start_of_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let pass = host::component("shout-rust");
    let manifest = host::manifest(folder.path(), &[("pass", &pass, "nonsense = 1")]).unwrap();
    let mut client = start(folder.path(), Some(&manifest));
    let ask = r#"{"protocolVersion":1}"#;
    let first = client.wire.request("initialize", ask).await.error.unwrap();
    assert!(first.contains("it did not start"), "{first}");
    for _ in 0..2 {
        let again = client.wire.request("initialize", ask).await.error.unwrap();
        let expected = first.replace("\"}", ". To try again, restart acp-chain\"}");
        assert_eq!(again, expected);
    }
}
