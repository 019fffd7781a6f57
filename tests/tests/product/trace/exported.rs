//! A trace of a real chain in other formats.

use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::host::{self, peer};
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::{lines, stage, turn};

async fn export(format: &str, trace: &Path) -> String {
    let mut command = Command::new(host::program());
    command.args(["trace", "export", "--to", format]).arg(trace);
    let done = command.output().await.unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// The answers of Perfetto's trace processor to these queries about a trace.
async fn perfetto(trace: &Path, queries: &[&str]) -> Vec<Value> {
    let mut command = Command::new(peer("bin/npm-perfetto"));
    command.arg(peer("bin/perfetto-engine")).arg(trace);
    let said = told(&mut command, &(queries.join("\n") + "\n")).await;
    // The answers follow the program's own messages.
    let lines: Vec<_> = said.lines().collect();
    let answers = &lines[lines.len() - queries.len()..];
    let answers = answers
        .iter()
        .map(|line| serde_json::from_str(line).unwrap());
    answers.collect()
}

/// The output of a program with this input.
async fn told(command: &mut Command, what: &str) -> String {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = pipes.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    input.write_all(what.as_bytes()).await.unwrap();
    drop(input);
    let done = in_time("its end", running.wait_with_output())
        .await
        .unwrap();
    let wrong = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{wrong}");
    String::from_utf8(done.stdout).unwrap()
}

#[tokio::test]
async fn perfetto_reads_all_spans_and_flows_and_finds_nothing_wrong() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    turn(&manifest, &trace, "hi").await;
    let text = export("chrome", &trace).await;
    let chrome: Value = serde_json::from_str(&text).unwrap();
    let path = folder.path().join("chrome.json");
    std::fs::write(&path, &text).unwrap();
    let events = chrome["traceEvents"].as_array().unwrap();
    let count = |phases: &[&str]| {
        let is_one = |event: &&Value| phases.contains(&event["ph"].as_str().unwrap());
        events.iter().filter(is_one).count()
    };
    let [spans, threads, flows, wrong] = &*perfetto(
        &path,
        &[
            "select count(*) from slice where dur >= 0",
            "select distinct name from thread where name is not null",
            "select count(*) from flow",
            "select name, value from stats where severity != 'info' and value > 0",
        ],
    )
    .await
    else {
        panic!("four answers")
    };
    assert_eq!(wrong, &json!([]));
    assert_eq!(spans, &json!([[count(&["X", "i"])]]));
    // Each flow leads from one slice to the next.
    assert_eq!(flows, &json!([[count(&["t", "f"])]]));
    for part in ["client", "agent"] {
        let is_it = |thread: &Value| thread[0].as_str().is_some_and(|name| name.contains(part));
        assert!(threads.as_array().unwrap().iter().any(is_it), "{threads}");
    }
}

#[tokio::test]
async fn an_http_archive_is_what_the_schema_says() {
    let (folder, manifest) = stage();
    let trace = folder.path().join("trace");
    turn(&manifest, &trace, "hi").await;
    let har = export("har", &trace).await;
    told(&mut Command::new(peer("bin/npm-har")), &har).await;
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
