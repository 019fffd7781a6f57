//! Collectors that are absent, or are not collectors.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::client::prompt;
use acp_chain_tests::host;
use acp_chain_tests::process::{Process, peak_memory};
use acp_chain_tests::web;
use acp_chain_tests::wire::in_time;
use rustix::process::{Pid, Signal, getpriority_process, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;

use super::receiver::{Answer, ReceivedExports, Receiver};
use super::{client, turn};

/// The trace of one turn.
async fn recorded(folder: &Path) -> File {
    let trace = folder.join("trace");
    let mut client = client(folder, &["--trace", trace.to_str().unwrap()], &[]);
    turn(&mut client).await;
    assert!(client.finish().await.unwrap().status.success());
    File::open(trace).unwrap()
}

/// The log of the process that exports a trace.
async fn log_of(trace: File, folder: &Path, variables: &[(&str, &str)]) -> String {
    let log = folder.join("log");
    let mut command = host::acp_chain("--log-file");
    command.arg(&log).arg("export-otel");
    command
        .envs(variables.iter().copied())
        .stdin(Stdio::from(trace));
    let output = in_time("the end of the exporter", command.output())
        .await
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::read_to_string(log).unwrap()
}

/// The URL of an address without a listener.
fn nobody() -> (TcpSocket, String) {
    let (socket, address) = web::nobody();
    (socket, format!("http://{address}"))
}

#[tokio::test]
async fn without_variables_nothing_is_started_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = client(folder.path(), &[], &[]);
    turn(&mut client).await;
    // The supervisor is the only child.
    let _only = client.supervisor();
    assert!(client.finish().await.unwrap().status.success());
}

#[tokio::test]
async fn a_turn_ends_well_whatever_the_collector_does() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = Receiver::start(Answer::Nothing).await;
    let mut nonsense = Receiver::start(Answer::Nonsense).await;
    let (_nobody, absent) = nobody();
    for endpoint in [
        &*nothing.endpoint,
        &*nonsense.endpoint,
        &*absent,
        "no address",
    ] {
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)];
        let mut client = client(folder.path(), &[], &variables);
        turn(&mut client).await;
        let exit = client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
    }
    nonsense.next().await;
}

#[tokio::test]
async fn a_collector_that_is_not_there_is_told_once_with_what_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(folder.path()).await;
    // The spans need more than one batch.
    let (_nobody, absent) = nobody();
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &*absent),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3"),
    ];
    let log = log_of(trace, folder.path(), &variables).await;
    assert_eq!(log.matches("spans cannot be exported").count(), 1, "{log}");
    assert!(log.contains("5 spans were not exported"), "{log}");
}

#[tokio::test]
async fn what_a_collector_does_not_take_does_not_stay_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(Answer::Nothing).await;
    let log = folder.path().join("log");
    let mut command = host::acp_chain("--log-file");
    let mut exporter = command
        .arg(&log)
        .arg("export-otel")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.endpoint)
        .env("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = exporter.stdin.take().unwrap();
    let heading = r#"{"time":"2026-01-01T00:00:00Z","connection":"x","version":1,"role":"agent","proxies":[]}"#;
    input
        .write_all(format!("{heading}\n").as_bytes())
        .await
        .unwrap();
    let of = r#""time":"2026-01-01T00:00:00Z","connection":"x","request":0,"method":"session/prompt","session":"s""#;
    let asked = format!(
        r#"{{{of},"from":"client","to":"agent","kind":"request","id":0,"params":{{"sessionId":"s"}}}}"#
    );
    let answered = format!(
        r#"{{{of},"from":"agent","to":"client","kind":"response","result":{{"stopReason":"end_turn"}}}}"#
    );
    let turns = format!("{asked}\n{answered}\n").repeat(1000);
    let mut peaks = Vec::new();
    // The first 10,000 turns fill all queues.
    for thousands in [10, 50] {
        for _ in 0..thousands {
            let taken = input.write_all(turns.as_bytes());
            in_time("the exporter", taken).await.unwrap();
        }
        peaks.push(peak_memory(exporter.id().unwrap()).unwrap());
    }
    drop(input);
    let status = in_time("the end of the exporter", exporter.wait()).await;
    assert!(status.unwrap().success());
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("60001 spans were not exported"), "{log}");
    assert!(peaks[1] <= peaks[0] + (8 << 20), "{peaks:?}");
}

/// The process that exports a chain's spans.
fn exporter(client: &Process) -> Pid {
    let id = client.id().unwrap();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let is_it = |child: &&str| {
        let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        line.ends_with(b"export-otel\0")
    };
    let found = children.split_whitespace().find(is_it);
    Pid::from_raw(found.unwrap().parse().unwrap()).unwrap()
}

#[tokio::test]
async fn an_exporter_gives_way_to_what_people_wait_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut receiver = Receiver::start(Answer::Good).await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
    ];
    let mut client = client(folder.path(), &[], &variables);
    turn(&mut client).await;
    receiver.next().await;
    let nice = |process| getpriority_process(Some(process)).unwrap();
    let chain = Pid::from_raw(client.id().unwrap().cast_signed()).unwrap();
    assert_eq!(nice(exporter(&client)), nice(chain) + 10);
    assert!(client.finish().await.unwrap().status.success());
}

#[tokio::test]
async fn nobody_waits_for_an_exporter_that_stands_still_and_what_is_left_out_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut receiver = Receiver::start(Answer::Good).await;
    let log = folder.path().join("log");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
    ];
    let options = ["--log-file", log.to_str().unwrap()];
    let mut client = client(folder.path(), &options, &variables);
    client.initialize().await;
    let session = r#"{"cwd":"/","mcpServers":[]}"#;
    for _ in 0..2 {
        client.wire.request("session/new", session).await;
    }
    let process = exporter(&client);
    kill_process(process, Signal::STOP).unwrap();
    // Up to 4 MiB may wait for the exporter; each prompt passes two hops.
    let much = prompt("sess-1", &"x".repeat(500_000));
    let has_left_out = |log: &Path| {
        let log = fs::read_to_string(log).unwrap_or_default();
        log.contains("is too slow: lines of the trace are left out")
    };
    while !has_left_out(&log) {
        let answer = client.wire.request("session/prompt", &much).await;
        assert!(answer.result.is_some(), "{}", answer.line);
    }
    kill_process(process, Signal::CONT).unwrap();
    let is_counted = |exported: &ReceivedExports| {
        let spans = exported.spans.iter();
        let mut events = spans.flat_map(|span| &span.events);
        events.any(|event| {
            event.name == "acp.trace.dropped"
                && format!("{:?}", event.attributes).contains("acp.trace.missing")
        })
    };
    // The first message that does not find too many waiting reports the missing lines. While it does, exports follow.
    let little = prompt("sess-2", "and now?");
    let mut exported = ReceivedExports::default();
    while !exported.has_session("sess-2") {
        client.wire.request("session/prompt", &little).await;
        exported.take(receiver.next().await);
    }
    assert!(client.finish().await.unwrap().status.success());
    receiver.until(is_counted).await;
}

#[tokio::test]
async fn a_collector_that_does_not_answer_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(folder.path()).await;
    let receiver = Receiver::start(Answer::Nothing).await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "200"),
    ];
    let log = log_of(trace, folder.path(), &variables).await;
    assert!(log.contains("5 spans were not exported"), "{log}");
}

#[tokio::test]
async fn a_protocol_that_is_not_spoken_is_told_with_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let (_nobody, absent) = nobody();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*absent),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ];
    let options = ["--log-file", log.to_str().unwrap()];
    let mut client = client(folder.path(), &options, &variables);
    turn(&mut client).await;
    let _only = client.supervisor();
    assert!(client.finish().await.unwrap().status.success());
    let log = fs::read_to_string(log).unwrap();
    assert!(
        log.contains("OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\"") && log.contains("http/protobuf"),
        "{log}"
    );
}
