//! The log of receipts that a server keeps for all of its users.

use std::path::Path;

use acp_chain_tests::host;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::served::{AGENT, ServerProcess, Stream, initialize, posted};

/// Begins a session of the user with this token, over a connection of its own, and ends the connection.
async fn works(served: &ServerProcess, token: &str) {
    let asks = |method| served.asks(method).bearer_auth(token);
    let begun = posted(asks(Method::POST), &initialize()).await;
    let id = &begun.headers()["acp-connection-id"];
    let of_it = |method| asks(method).header("acp-connection-id", id);
    let listens = of_it(Method::GET).header("accept", "text/event-stream");
    let mut stream = Stream::of(listens.send().await.unwrap());
    let new = json!({
        "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": { "cwd": "/", "mcpServers": [] },
    });
    posted(of_it(Method::POST), &new).await;
    let answer = stream.next().await.unwrap();
    assert!(answer["result"]["sessionId"].is_string(), "{answer}");
    let ended = of_it(Method::DELETE).send().await.unwrap();
    assert_eq!(ended.status(), 202);
}

/// What a subcommand prints about a log.
async fn receipts(subcommand: &str, log: &Path, options: &[&str]) -> Vec<u8> {
    let mut command = host::acp_chain("receipts");
    command.arg(subcommand).arg(log).args(options);
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

#[tokio::test]
async fn one_log_has_the_chains_of_all_users_with_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (ann, bob) = (
        host::token(&path("tokens"), "ann", &[]).await,
        host::token(&path("tokens"), "bob", &[]).await,
    );
    let mut command = host::acp_chain("serve");
    command
        .args(["--listen", "127.0.0.1:0", "--tokens"])
        .arg(path("tokens"))
        .arg("--receipts")
        .arg(path("receipts"))
        .args(["--", AGENT]);
    let served = ServerProcess::by(&mut command).await;
    for token in [&ann, &bob] {
        works(&served, token).await;
    }
    served.signal(Signal::TERM);
    assert!(served.ended().await.success());

    let log = path("receipts");
    receipts("verify", &log, &[]).await;
    let records = receipts("export", &log, &["--to", "json"]).await;
    let records: Vec<Value> = serde_json::from_slice(&records).unwrap();
    let chains = records.iter().filter(|one| one["what"] == "chain");
    let users: Vec<_> = chains.map(|one| &one["user"]).collect();
    assert_eq!(users, ["ann", "bob"], "{records:#?}");
    let ends = records.iter().filter(|one| one["what"] == "end");
    assert_eq!(ends.count(), 2, "{records:#?}");
}
