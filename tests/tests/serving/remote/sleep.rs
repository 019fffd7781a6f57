//! Sleeping proxies, and a server that is full of awake ones.

use std::path::{Path, PathBuf};

use acp_chain_tests::chain::entry;
use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Duration, interval};

use super::served::{AGENT, Connection, ServerProcess, Stream, initialize, posted};

/// A proxy that answers `test/ID` with the number of requests so far, which it saves.
fn counts(id: &str, terms: &str) -> String {
    let steps = format!("'test/{id}' = ['count', 'respond-count']");
    entry(
        id,
        "does",
        &format!("{terms}\n[proxy.config.requests]\n{steps}"),
    )
}

/// A server with these proxies and limits, and its log.
async fn served(proxies: &[String], limits: &str) -> (ServerProcess, PathBuf, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("acp-chain.toml");
    std::fs::write(&manifest, proxies.concat()).unwrap();
    let settings = folder.path().join("acp-chain");
    std::fs::create_dir(&settings).unwrap();
    let table = format!("[serve.limits]\n{limits}\n");
    std::fs::write(settings.join("config.toml"), table).unwrap();
    let log = folder.path().join("log");
    let mut command = host::acp_chain("serve");
    command
        .env("XDG_CONFIG_HOME", folder.path())
        .args(["--listen", "127.0.0.1:0", "--log", "debug", "--log-file"])
        .arg(&log)
        .arg("--manifest")
        .arg(&manifest)
        .arg("--")
        .arg(AGENT);
    (ServerProcess::by(&mut command).await, log, folder)
}

async fn count(connection: &Connection<'_>, stream: &mut Stream, id: u64, proxy: &str) -> Value {
    let method = format!("test/{proxy}");
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}});
    connection.says(&message).await;
    let answer = stream.next().await.unwrap();
    assert_eq!(answer["id"], id, "{answer}");
    assert!(answer.get("error").is_none(), "{answer}");
    answer["result"].clone()
}

/// Waits until this text is in the log `count` times.
async fn logged(log: &Path, text: &str, count: usize) {
    let mut looks = interval(Duration::from_millis(20));
    let there = async {
        loop {
            looks.tick().await;
            let log = std::fs::read_to_string(log).unwrap();
            if log.matches(text).count() >= count {
                return;
            }
        }
    };
    in_time(text, there).await;
}

#[tokio::test]
async fn a_proxy_is_made_when_it_is_needed_sleeps_and_goes_on_with_what_it_saved() {
    let (served, log, _folder) = served(&[counts("counts", "")], "sleep-seconds = 1").await;
    let connection = served.connect().await;
    let mut stream = connection.hears(None).await;
    let session = connection.session(&mut stream, 1).await;
    assert!(!session.is_empty());
    let awake = std::fs::read_to_string(&log).unwrap();
    assert!(!awake.contains("wakes up"), "{awake}");
    assert_eq!(count(&connection, &mut stream, 2, "counts").await, 1);
    assert_eq!(count(&connection, &mut stream, 3, "counts").await, 2);
    logged(&log, "the proxy `counts` sleeps", 1).await;
    assert_eq!(count(&connection, &mut stream, 4, "counts").await, 3);
    logged(&log, "the proxy `counts` sleeps", 2).await;
    let log = std::fs::read_to_string(&log).unwrap();
    assert_eq!(
        log.matches("the proxy `counts` wakes up").count(),
        2,
        "{log}"
    );
}

#[tokio::test]
async fn one_whose_entry_says_so_stays_awake() {
    let proxies = [counts("wakeful", "sleeps = false"), counts("drowsy", "")];
    let (served, log, _folder) = served(&proxies, "sleep-seconds = 1").await;
    let connection = served.connect().await;
    let mut stream = connection.hears(None).await;
    assert_eq!(count(&connection, &mut stream, 1, "wakeful").await, 1);
    assert_eq!(count(&connection, &mut stream, 2, "drowsy").await, 1);
    logged(&log, "the proxy `drowsy` sleeps", 1).await;
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(!log.contains("the proxy `wakeful` sleeps"), "{log}");
}

#[tokio::test]
async fn a_server_that_is_full_lets_nobody_in_and_those_who_are_there_go_on() {
    let (served, log, _folder) =
        served(&[counts("counts", "")], "sleep-seconds = 1\ninstances = 1").await;
    let first = served.connect().await;
    let second = served.connect().await;
    let mut one = first.hears(None).await;
    assert_eq!(count(&first, &mut one, 1, "counts").await, 1);
    let refused = posted(served.asks(Method::POST), &initialize()).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "5");
    // Admitted connections have room for whatever they need.
    let mut other = second.hears(None).await;
    assert_eq!(count(&second, &mut other, 1, "counts").await, 1);
    assert_eq!(count(&first, &mut one, 2, "counts").await, 2);
    logged(&log, "the proxy `counts` sleeps", 2).await;
    served.connect().await;
}

#[tokio::test]
async fn a_proxy_without_work_makes_room_soon_where_there_are_many() {
    let limits = "sleep-seconds = 86400\ninstances = 1";
    let (served, log, _folder) = served(&[counts("counts", "")], limits).await;
    let first = served.connect().await;
    let mut stream = first.hears(None).await;
    assert_eq!(count(&first, &mut stream, 1, "counts").await, 1);
    logged(&log, "the proxy `counts` sleeps", 1).await;
    served.connect().await;
    assert_eq!(count(&first, &mut stream, 2, "counts").await, 2);
}
