//! Secrets, which a trace contains only if the user enables them.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;

use super::{AGENT, lines};

/// Assembled at run time, so that no scanner of this source takes it for a real secret.
fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e5f6G7h8J9k0L1m2N3p4Q5r6S7t8")
}

/// A turn with the secret in its messages, with these options and variables. Returns the trace.
async fn trace(options: &[&OsStr], environment: &[(&str, &Path)]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let proxies = [("first", &*host::component("pass"), "")];
    let manifest = host::manifest(folder.path(), &proxies).unwrap();
    let trace = folder.path().join("trace");
    let named: [&OsStr; 4] = [
        "--manifest".as_ref(),
        manifest.as_os_str(),
        "--trace".as_ref(),
        trace.as_os_str(),
    ];
    let mut command = host::run_with([&named[..], options].concat(), [AGENT]);
    command.envs(environment.iter().copied());
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    client.turn(&format!("echo {}", secret())).await;
    assert!(client.finish().await.unwrap().status.success());
    let text = fs::read_to_string(&trace).unwrap();
    let masked = lines(&trace).0[0].masked;
    assert_eq!(masked, Some(!text.contains(&secret())));
    (folder, text)
}

#[tokio::test]
async fn a_trace_has_markers_for_secrets_and_all_else() {
    let (_folder, text) = trace(&[], &[]).await;
    assert!(
        !text.to_lowercase().contains(&secret()[4..].to_lowercase()),
        "{text}"
    );
    assert!(text.contains("[secret: github-pat 1]"), "{text}");
}

#[tokio::test]
async fn whoever_asks_for_bodies_gets_secrets() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("acp-chain")).unwrap();
    fs::write(
        home.path().join("acp-chain/config.toml"),
        "trace-bodies = true\n",
    )
    .unwrap();
    for (options, environment) in [
        (&["--trace-bodies".as_ref()][..], &[][..]),
        (&[], &[("ACP_CHAIN_TRACE_BODIES", Path::new("1"))]),
        (&[], &[("XDG_CONFIG_HOME", home.path())]),
    ] {
        let (_folder, text) = trace(options, environment).await;
        assert!(text.contains(&secret()), "{text}");
    }
}

#[tokio::test]
async fn a_masked_trace_makes_a_transcript() {
    let (folder, _) = trace(&[], &[]).await;
    let mut command = tokio::process::Command::new(host::program());
    command.args(["trace", "export", "--to", "transcript"]);
    let made = command
        .arg(folder.path().join("trace"))
        .output()
        .await
        .unwrap();
    let text = String::from_utf8(made.stdout).unwrap();
    assert!(text.contains("[secret: github-pat 1]"), "{text}");
}
