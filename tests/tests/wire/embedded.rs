//! The example of a program that hosts a chain with the library: it serves a client as the program does, and
//! rejects a manifest that it cannot host.

use acp_chain_tests::chain::{MANIFEST, entry};
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use tokio::process::Command;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

fn embedder(manifest: &str) -> (Process, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(MANIFEST);
    std::fs::write(&path, manifest).unwrap();
    let mut command = Command::new(host::program().with_file_name("embedder"));
    command.arg(&path).arg(AGENT);
    let process = Process::start("client", &Transcript::new(), command).unwrap();
    (process, folder)
}

#[tokio::test]
async fn a_client_has_a_turn_through_the_proxies_of_a_manifest() {
    let manifest = entry("first", "pass", "") + &entry("second", "pass", "");
    let (mut client, _folder) = embedder(&manifest);
    client.initialize().await;
    client.turn("echo hello").await;
    assert_eq!(client.chunks(), ["hello"]);
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
    assert_eq!(exit.stderr, "");
}

#[tokio::test]
async fn a_manifest_that_the_library_cannot_host_is_an_error_with_its_place() {
    for (manifest, told) in [
        ("[[prox]]\n", "acp-chain.toml:1:3"),
        ("[[proxy]]\nid = 'n'\ncommand = 'native'\n", "native"),
    ] {
        let (client, _folder) = embedder(manifest);
        let exit = client.finish().await.unwrap();
        assert_eq!(exit.status.code(), Some(1), "{exit:?}");
        assert!(exit.stderr.contains(told), "{}", exit.stderr);
    }
}
