//! Collectors that are not there, or are no collectors.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use tokio::net::TcpListener;

use super::receiver::{Answer, Receiver};
use super::{client, turn};

/// The trace of one turn.
async fn recorded(folder: &Path) -> File {
    let trace = folder.join("trace");
    let mut client = client(folder, &["--trace", trace.to_str().unwrap()], &[]);
    turn(&mut client).await;
    assert!(client.finish().await.unwrap().status.success());
    File::open(trace).unwrap()
}

/// What the process that exports a trace has in its log when it ends.
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

/// An address at which nobody listens.
async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn without_variables_nothing_is_started_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = client(folder.path(), &[], &[]);
    turn(&mut client).await;
    // It is the only child.
    let _only = client.supervisor();
    assert!(client.finish().await.unwrap().status.success());
}

#[tokio::test]
async fn a_turn_ends_well_whatever_the_collector_does() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = Receiver::start(Answer::Nothing).await;
    let mut nonsense = Receiver::start(Answer::Nonsense).await;
    for endpoint in [
        &nothing.endpoint,
        &nonsense.endpoint,
        &nobody().await,
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
    // There is more than one batch.
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &*nobody().await),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3"),
    ];
    let log = log_of(trace, folder.path(), &variables).await;
    assert_eq!(log.matches("spans cannot be exported").count(), 1, "{log}");
    assert!(
        log.contains("5 spans did not get to the collector"),
        "{log}"
    );
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
    assert!(
        log.contains("5 spans did not get to the collector"),
        "{log}"
    );
}

#[tokio::test]
async fn a_protocol_that_is_not_spoken_is_told_with_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*nobody().await),
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
