//! A third-party collector.

use std::net::TcpListener;
use std::process::Stdio;

use acp_chain_tests::host::peer;
use acp_chain_tests::wire::in_time;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::{ABOVE, SECRET, TRACE, client, turn};

/// `oteltap`, which prints each export.
struct Tap {
    endpoint: String,
    output: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Tap {
    async fn start() -> Self {
        // `oteltap` needs a port number, and the system does not reassign a port at once.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = Command::new(peer("traces/bin/python"));
        command
            .args(["-u", "-m", "oteltap", "--port", &port.to_string()])
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut tap = Self {
            endpoint: format!("http://127.0.0.1:{port}"),
            output,
            _child: child,
        };
        assert!(tap.next().await.starts_with("Listening"));
        tap
    }

    async fn next(&mut self) -> String {
        let line = in_time("an export", self.output.next_line()).await;
        line.unwrap().expect("oteltap runs")
    }
}

#[tokio::test]
async fn a_collector_that_others_wrote_gets_one_trace_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut tap = Tap::start().await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*tap.endpoint),
        ("OTEL_METRICS_EXPORTER", "none"),
    ];
    let mut client = client(folder.path(), &[], &variables);
    turn(&mut client).await;
    assert!(client.finish().await.unwrap().status.success());
    let mut spans: Vec<Value> = Vec::new();
    while !spans.iter().any(|span| span["name"] == "acp.connection") {
        let line = tap.next().await;
        assert!(!line.contains(SECRET), "{line}");
        spans.extend(spans_in(&serde_json::from_str(&line).unwrap()));
    }
    let named = |name: &str| {
        let mut found = spans.iter().filter(|span| span["name"] == name);
        found
            .next()
            .unwrap_or_else(|| panic!("no {name}: {spans:?}"))
    };
    let turn = named("invoke_agent busy-agent");
    assert_eq!(
        (turn["traceId"].as_str(), turn["parentSpanId"].as_str()),
        (Some(TRACE), Some(ABOVE))
    );
    for name in ["execute_tool execute", "tools/call look"] {
        let span = named(name);
        assert_eq!(
            (&span["traceId"], &span["parentSpanId"]),
            (&turn["traceId"], &turn["spanId"]),
            "{name}"
        );
    }
}

/// All objects in it that are spans.
fn spans_in(said: &Value) -> Vec<Value> {
    match said {
        Value::Object(members)
            if members.contains_key("spanId") && members.contains_key("name") =>
        {
            vec![said.clone()]
        }
        Value::Object(members) => members.values().flat_map(spans_in).collect(),
        Value::Array(items) => items.iter().flat_map(spans_in).collect(),
        _ => Vec::new(),
    }
}
