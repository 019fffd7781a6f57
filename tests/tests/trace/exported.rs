//! A trace of a real chain in other formats.

use std::path::Path;

use acp_chain_tests::host;
use serde_json::Value;
use tokio::process::Command;

use super::{lines, stage, turn};

async fn export(format: &str, trace: &Path) -> String {
    let mut command = Command::new(host::program());
    command.args(["trace", "export", "--to", format]).arg(trace);
    let done = command.output().await.unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

#[tokio::test]
async fn every_format_is_written_and_the_conductors_is_read_back() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    turn(&manifest, &trace, "hi").await;
    let har: Value = serde_json::from_str(&export("har", &trace).await).unwrap();
    let frames = &har["log"]["entries"][0]["_webSocketMessages"];
    assert!(
        frames[0]["data"].as_str().unwrap().contains("initialize"),
        "{har}"
    );
    let chrome: Value = serde_json::from_str(&export("chrome", &trace).await).unwrap();
    let events = chrome["traceEvents"].as_array().unwrap();
    assert!(events.iter().any(|event| event["ph"] == "f"), "{chrome}");
    let events = export("conductor", &trace).await;
    let theirs = folder.path().join("theirs");
    std::fs::write(&theirs, &events).unwrap();
    let crossed = |lines: Vec<acp_chain_trace::Line>| {
        let crossed = lines
            .into_iter()
            .filter(|line| line.crossed().is_some_and(|(_, to, _)| to != "acp-chain"));
        crossed
            .map(|line| (line.method, line.kind))
            .collect::<Vec<_>>()
    };
    assert_eq!(crossed(lines(&theirs).0), crossed(lines(&trace).0));
    let mut check = Command::new(host::program());
    let checked = check
        .args(["trace", "check"])
        .arg(&theirs)
        .output()
        .await
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
}
