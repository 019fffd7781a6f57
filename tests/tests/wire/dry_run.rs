//! `run --dry-run`: both ends exchange what they would exchange without proxies, and the user is told what these would
//! have done.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use acp_chain_tests::chain::{entry, program};
use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::Value;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A dry run of this manifest, with a trace, in front of an agent that copies what it receives to a file.
fn start(folder: &Path, manifest: &str) -> Process {
    let path = folder.join("acp-chain.toml");
    fs::write(&path, manifest).unwrap();
    let trace = folder.join("trace");
    let options = [
        OsString::from("--dry-run"),
        OsString::from("--manifest"),
        path.into(),
        OsString::from("--trace"),
        trace.into(),
    ];
    let agent = host::recorded(&folder.join("received"), [AGENT]);
    let mut command = host::run_with(options, agent);
    command.env("XDG_CONFIG_HOME", host::grants_native(folder));
    Process::start("client", &Transcript::new(), command).unwrap()
}

#[tokio::test]
async fn the_agent_gets_the_prompt_that_a_proxy_would_have_refused_and_the_user_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let steps = "[proxy.config.requests]\n\
                 'session/prompt' = [{ tell = { to = 'agent', method = '_test/told', params = {} } }, \
                 { ask = { to = 'client', method = '_test/asked', params = {} } }, { reject = 'no' }]\n";
    let mut client = start(folder.path(), &entry("does", "does", steps));
    client.initialize().await;
    let params = prompt("s", "echo hi");
    client
        .wire
        .send(envelope::request(r#""p""#, "session/prompt", &params));
    client.wire.response(r#""p""#).await;
    client.wire.transcript().assert(
        r#"
        client → {"jsonrpc":"2.0","id":"p","method":"session/prompt",…"echo hi"…}
        client ← {…"text":"hi"…}
        client ← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"content":{"text":"\n\n**acp-chain**: in this dry run, the proxy `does` would have sent the notification `_test/told`; the proxy `does` would have sent the request `_test/asked`; the proxy `does` would have refused the request `session/prompt`.\n\n","type":"text"},"messageId":"acp-chain-1","sessionUpdate":"agent_message_chunk"}}}
        client ← {"jsonrpc":"2.0","id":"p","result":{…}}
        "#,
    );
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");

    let received = fs::read_to_string(folder.path().join("received")).unwrap();
    let received: Vec<_> = received.lines().skip(1).collect();
    assert_eq!(
        received,
        [envelope::request("2", "session/prompt", &params)]
    );

    let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
    let lines = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let would = lines.filter_map(|line| {
        let would = line["would"].as_str()?;
        assert_eq!(line["proxy"], "does");
        Some(format!("{would} {}", line["method"].as_str()?))
    });
    let would: Vec<_> = would.collect();
    assert_eq!(
        would,
        [
            "send _test/told",
            "send _test/asked",
            "hold session/prompt",
            "refuse session/prompt",
        ]
    );
}

#[tokio::test]
async fn a_chain_with_a_program_does_not_start_as_a_dry_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = start(folder.path(), &program("native", &["true"]));
    let initialize = r#"{"protocolVersion":1}"#;
    let answer = client.wire.request("initialize", initialize).await;
    let error = answer.error.expect("an error");
    assert!(error.contains("proxy `native` (true)"), "{error}");
    assert!(error.contains("which nothing keeps from acting"), "{error}");
}
