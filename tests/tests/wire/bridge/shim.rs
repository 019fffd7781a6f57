//! `acp-chain mcp-shim`, the program.

use std::process::Stdio;

use acp_chain::bridge::BridgeKind;
use acp_chain::bridge::pipe::{SECRET, SOCKET};
use acp_chain_tests::declared::{command, variable};
use acp_chain_tests::host;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use super::server::{BridgeServer, INITIALIZE, watched};

async fn end(mut shim: Child) -> (bool, String) {
    let mut stderr = String::new();
    let mut stream = shim.stderr.take().expect("standard error");
    let read = stream.read_to_string(&mut stderr);
    watched("its last words", read).await.expect("UTF-8");
    let status = watched("its end", shim.wait()).await.expect("a status");
    (status.success(), stderr)
}

#[tokio::test]
async fn it_carries_lines_both_ways_and_no_secret_in_its_arguments() {
    let mut served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    assert!(
        !declared["args"]
            .to_string()
            .contains(&variable(&declared, SECRET))
    );
    let mut shim = command(&declared).spawn().unwrap();
    let mut input = shim.stdin.take().unwrap();
    let mut output = BufReader::new(shim.stdout.take().unwrap()).lines();
    input
        .write_all(format!("{INITIALIZE}\n").as_bytes())
        .await
        .unwrap();
    let answer = watched("an answer", output.next_line())
        .await
        .unwrap()
        .unwrap();
    assert!(
        answer.starts_with(r#"{"jsonrpc":"2.0","id":0,"result":"#),
        "{answer}"
    );
    input.write_all(b"nonsense\n").await.unwrap();
    let error = watched("an error", output.next_line())
        .await
        .unwrap()
        .unwrap();
    assert!(
        error.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700"#),
        "{error}"
    );

    let arguments = std::fs::read(format!("/proc/{}/cmdline", shim.id().unwrap())).unwrap();
    let arguments = String::from_utf8(arguments).unwrap();
    assert!(arguments.contains("mcp-shim"));
    assert!(!arguments.contains(&variable(&declared, SECRET)));

    let link = served.opened().await;
    served.said("initialize").await;
    drop(input);
    assert_eq!(served.closed().await, link);
    let (well, why) = end(shim).await;
    assert!(
        well && why.contains("the agent closed standard input"),
        "{why}"
    );
}

#[tokio::test]
async fn it_ends_when_the_host_hangs_up_and_gives_what_was_said_before() {
    let mut served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    let mut shim = command(&declared).spawn().unwrap();
    let link = served.opened().await;
    served.notify(link, "goodbye", "{}").await;
    served.bridge(move |bridge| bridge.hang_up(link)).await;
    assert_eq!(served.closed().await, link);
    let mut said = String::new();
    let mut output = shim.stdout.take().unwrap();
    watched("its output", output.read_to_string(&mut said))
        .await
        .unwrap();
    assert_eq!(
        said,
        "{\"jsonrpc\":\"2.0\",\"method\":\"goodbye\",\"params\":{}}\n"
    );
    let (well, why) = end(shim).await;
    assert!(
        well && why.contains("the host closed the connection"),
        "{why}"
    );
}

#[tokio::test]
async fn it_says_why_it_cannot_serve() {
    let served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    let mut alone = Command::new(host::program());
    alone.arg("mcp-shim").env_remove(SOCKET).env_remove(SECRET);
    let alone = alone.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
    let (well, why) = end(alone.unwrap()).await;
    assert!(
        !well && why.contains(&format!("the variable {SOCKET} is not set")),
        "{why}"
    );

    let refused = command(&declared).env(SECRET, "wrong").spawn().unwrap();
    let (well, why) = end(refused).await;
    assert!(
        !well && why.contains("its secret opens no MCP server"),
        "{why}"
    );
    assert!(!why.contains("wrong"));

    let mut late = command(&declared);
    served.end().await;
    let (well, why) = end(late.spawn().unwrap()).await;
    assert!(!well && why.contains("cannot be reached"), "{why}");
}
