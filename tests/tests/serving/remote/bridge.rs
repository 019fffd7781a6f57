//! Tools of proxies in a served chain, for agents that reach them through the bridge.

use std::fs;

use acp_chain_tests::chain::entry;
use acp_chain_tests::declared::command;
use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::served::{AGENT, Connection, ServerProcess, text};

/// The answer of the server that a new session of this connection declares, to `initialize`.
async fn answer_of_tools(connection: &Connection<'_>) -> Value {
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    let mut stream = connection.hears(Some(&session)).await;
    let shown = text(&stream.next().await.unwrap()).unwrap();
    let setup: Value = serde_json::from_str(&shown).unwrap();
    let mut client = command(&setup["params"]["mcpServers"][0]).spawn().unwrap();
    let mut input = client.stdin.take().unwrap();
    let asked = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let line = format!("{asked}\n");
    input.write_all(line.as_bytes()).await.unwrap();
    let mut output = BufReader::new(client.stdout.take().unwrap()).lines();
    let answer = in_time("an answer", output.next_line()).await.unwrap();
    serde_json::from_str(&answer.expect("an answer")).unwrap()
}

#[tokio::test]
async fn each_connection_has_a_bridge_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("acp-chain.toml");
    fs::write(&manifest, entry("offers", "tools", "powers = ['tools']\n")).unwrap();
    let mut serve = host::acp_chain("serve");
    serve
        .args(["--listen", "127.0.0.1:0", "--manifest"])
        .arg(&manifest)
        .args(["--", AGENT, "--show-setup"]);
    let served = ServerProcess::by(&mut serve).await;
    let connections = [
        served.connect().await,
        served.connect().await,
        served.connect().await,
    ];
    for connection in &connections {
        let answer = answer_of_tools(connection).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "offers", "{answer}");
    }
}
