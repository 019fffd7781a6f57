//! Metrics for the operator of a server.

use std::collections::HashMap;

use acp_chain_tests::wire::in_time;
use acp_chain_tests::{host, web};
use reqwest::Method;
use rustix::process::Signal;
use tokio::net::TcpStream;

use super::served::{AGENT, ServerProcess, Stream, initialize, posted};

/// The values of a page by name and labels. Each is declared before its value and appears once.
fn numbers(page: &str) -> HashMap<String, f64> {
    let mut declared = Vec::new();
    let mut numbers = HashMap::new();
    for line in page.lines() {
        if let Some(declaration) = line.strip_prefix("# TYPE ") {
            let (name, kind) = declaration.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(!declared.contains(&name), "{line}");
            declared.push(name);
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(series.starts_with(*declared.last().unwrap()), "{line}");
        let before = numbers.insert(series.to_owned(), value.parse().unwrap());
        assert_eq!(before, None, "{line}");
    }
    numbers
}

/// The values of a server's metrics.
pub async fn asked(url: &str) -> HashMap<String, f64> {
    let answer = in_time("numbers", web::client().get(url).send())
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    let media_type = &answer.headers()["content-type"];
    assert_eq!(media_type, "text/plain; version=0.0.4; charset=utf-8");
    numbers(&answer.text().await.unwrap())
}

async fn serve() -> ServerProcess {
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]);
    ServerProcess::by(command.arg("--").arg(AGENT)).await
}

#[tokio::test]
async fn who_operates_it_is_told_what_is_open_and_what_was_and_clients_are_not() {
    let mut served = serve().await;
    let url = served.numbers().await;
    assert_eq!(served.beside("/metrics").await, 404);
    for (path, status) in [
        ("/healthz", 200),
        ("/readyz", 200),
        ("/acp", 404),
        ("/", 404),
    ] {
        let url = url.replace("/metrics", path);
        let answer = in_time("an answer", web::client().get(url).send()).await;
        assert_eq!(answer.unwrap().status(), status, "{path}");
    }
    let before = asked(&url).await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    connection.prompts(&session, 2, "echo one").await;
    assert_eq!(stream.turn(2).await, ["one"]);
    // The stream breaks and is resumed.
    let answer = connection.opens(Some(&session), Some(&stream.last)).await;
    let mut stream = Stream::of(answer);
    let forgotten = connection.opens(Some(&session), Some("100000")).await;
    assert_eq!(forgotten.status(), 409);
    connection
        .prompts(&session, 3, "permission edit look /tmp")
        .await;
    stream.next().await.unwrap();
    let page = served
        .asks(Method::POST)
        .header("origin", "https://evil.example");
    assert_eq!(posted(page, &initialize()).await.status(), 403);
    let other = served.asks(Method::POST).header("host", "evil.example");
    assert_eq!(posted(other, &initialize()).await.status(), 421);

    let now = asked(&url).await;
    let is = |series: &str, expected: f64| {
        let value = now
            .get(series)
            .unwrap_or_else(|| panic!("no {series}: {now:#?}"));
        assert!((value - expected).abs() < 1e-9, "{series} is {value}");
    };
    is("acp_chain_connections{transport=\"http\"}", 1.0);
    is("acp_chain_connections{transport=\"websocket\"}", 0.0);
    is(
        "acp_chain_connections_opened_total{transport=\"http\"}",
        1.0,
    );
    is("acp_chain_connections_ended_total{transport=\"http\"}", 0.0);
    is("acp_chain_sessions", 1.0);
    is("acp_chain_turns", 1.0);
    is("acp_chain_turns_total{end=\"end_turn\"}", 1.0);
    is("acp_chain_turn_duration_seconds_count", 1.0);
    is("acp_chain_streams_resumed_total", 1.0);
    is("acp_chain_streams_forgotten_total", 1.0);
    is("acp_chain_refused_total{reason=\"origin\"}", 1.0);
    is("acp_chain_refused_total{reason=\"host\"}", 1.0);
    is("acp_chain_messages_total{direction=\"from_client\"}", 4.0);
    is("acp_chain_agents", 1.0);
    is("acp_chain_agents_started_total", 1.0);
    is("acp_chain_draining", 0.0);
    assert!(now["acp_chain_message_bytes_total{direction=\"to_client\"}"] > 100.0);
    assert!(now["acp_chain_stream_bytes{state=\"kept\"}"] > 0.0);
    // The server can still read these values after it has given up its rights.
    assert!(now["process_resident_memory_bytes"] > 1e6);
    assert!(now["process_open_fds"] > before["process_open_fds"]);
    assert!(now["process_cpu_seconds_total"] > 0.0);
    // No name of a user, a session or a connection becomes a series.
    assert_eq!(now.len(), before.len());
    assert!(!now.keys().any(|series| series.contains(&session)));

    let gone = connection.asks(Method::DELETE).send().await.unwrap();
    assert_eq!(gone.status(), 202);
    let ended = async {
        let of_all = "acp_chain_connections_ended_total{transport=\"http\"}";
        loop {
            let now = asked(&url).await;
            if now[of_all] > 0.0 {
                return now;
            }
        }
    };
    let now = in_time("the end of the connection", ended).await;
    assert!(now["acp_chain_sessions"] == 0.0 && now["acp_chain_turns"] == 0.0);
}

#[tokio::test]
async fn an_agent_that_fails_and_a_server_that_drains_are_counted() {
    let mut served = serve().await;
    let url = served.numbers().await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    connection.prompts(&session, 2, "exit 3").await;
    while stream.next().await.is_some() {}
    let other = served.connect().await;
    let mut all = other.hears(None).await;
    let session = other.session(&mut all, 1).await;
    let mut stream = other.hears(Some(&session)).await;
    other
        .prompts(&session, 2, "permission edit look /tmp")
        .await;
    stream.next().await.unwrap();
    served.signal(Signal::TERM);
    let drains = async { while served.beside("/readyz").await == 200 {} };
    in_time("the end of readiness", drains).await;
    let refused = posted(served.asks(Method::POST), &initialize()).await;
    assert_eq!(refused.status(), 503);
    let now = asked(&url).await;
    for (series, expected) in [
        ("acp_chain_draining", 1.0),
        ("acp_chain_refused_total{reason=\"draining\"}", 1.0),
        ("acp_chain_agents_failed_total{when=\"end\"}", 1.0),
        ("acp_chain_turns_total{end=\"error\"}", 1.0),
        ("acp_chain_agents", 1.0),
    ] {
        assert!(
            (now[series] - expected).abs() < 1e-9,
            "{series}: {}",
            now[series]
        );
    }
    let ready = web::client().get(url.replace("/metrics", "/readyz"));
    assert_eq!(ready.send().await.unwrap().status(), 503);
}

#[tokio::test]
async fn idle_sockets_keep_no_scraper_and_no_probe_out() {
    let mut served = serve().await;
    let url = served.numbers().await;
    let address = url.trim_start_matches("http://");
    let address = address.trim_end_matches("/metrics");
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    assert!(asked(&url).await.contains_key("acp_chain_sessions"));
    let probe = web::client().get(url.replace("/metrics", "/readyz"));
    let answer = in_time("an answer", probe.send()).await.unwrap();
    assert_eq!(answer.status(), 200);
}
