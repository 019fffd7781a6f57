//! The limits of the bridge.

use acp_chain::bridge::pipe::{SECRET, SOCKET, enter};
use acp_chain::bridge::{Arrival, Bridge, BridgeKind};
use acp_chain::limits::{self, Account};
use acp_chain::mcp::LinkId;
use acp_chain::rpc::Message;
use acp_chain_tests::declared::variable;
use acp_chain_tests::wire::WATCHDOG;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::server::{BridgeServer, INITIALIZE, SERVER, error_code, sent, status, watched};

/// A client that has entered through the socket.
async fn let_in(declared: &Value) -> UnixStream {
    let mut client = UnixStream::connect(variable(declared, SOCKET))
        .await
        .unwrap();
    enter(&mut client, &variable(declared, SECRET))
        .await
        .unwrap();
    client
}

/// Sends a link far more than may wait, and expects the link to close.
async fn flood(served: &mut BridgeServer, link: LinkId) {
    let text = "x".repeat(1 << 20);
    let message = Message::notification("m", &format!("\"{text}\""));
    let much = 4 * (limits::MCP_UNREAD >> 20);
    served
        .bridge(move |bridge| {
            for _ in 0..much {
                bridge.send(link, &message, None);
            }
        })
        .await;
    assert_eq!(served.closed().await, link);
}

#[tokio::test]
async fn a_client_on_a_pipe_that_does_not_read_is_disconnected() {
    let mut served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    let mut client = let_in(&declared).await;
    let link = served.opened().await;
    flood(&mut served, link).await;
    let mut rest = Vec::new();
    let read = watched("the end", client.read_to_end(&mut rest)).await;
    assert!(read.is_err() || rest.len() < limits::MCP_UNREAD);
}

#[tokio::test]
async fn a_client_over_http_that_does_not_read_is_disconnected() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let link = served.opened().await;
    let mut stream = TcpStream::connect(web.address()).await.unwrap();
    let path = web.url.strip_prefix("http://").unwrap();
    let path = &path[path.find('/').unwrap()..];
    let listen = format!(
        "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n",
        web.address(),
        web.bearer
    );
    stream.write_all(listen.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    flood(&mut served, link).await;
    let mut rest = Vec::new();
    let read = watched("the end", stream.read_to_end(&mut rest)).await;
    assert!(read.is_err() || rest.len() < limits::MCP_UNREAD);
    assert_eq!(status(web.listen(&session)).await, 404);
}

#[tokio::test]
async fn what_waits_for_a_client_that_is_away_has_a_bound() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let session = web.begin().await;
    let link = served.opened().await;
    flood(&mut served, link).await;
    assert_eq!(status(web.listen(&session)).await, 404);
}

#[tokio::test]
async fn a_line_that_is_too_long_ends_its_link() {
    let mut served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    let mut client = let_in(&declared).await;
    let link = served.opened().await;
    let mut long = vec![b'x'; limits::MCP_MESSAGE + 1];
    long.push(b'\n');
    let _ = client.write_all(&long).await;
    assert_eq!(served.closed().await, link);
}

/// More incomplete messages than there is room for.
const HALVES: usize = 2 * (limits::MCP_LOAD / HALF);

const HALF: usize = limits::MCP_MESSAGE - 1;

#[tokio::test]
async fn halves_of_bodies_have_a_bound_together_and_what_is_past_it_is_refused() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let path = web.url.strip_prefix("http://").unwrap();
    let path = &path[path.find('/').unwrap()..];
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: {}\r\naccept: application/json, \
         text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        web.address(),
        web.bearer,
        HALF + 1
    );
    let half = [head.into_bytes(), vec![b' '; HALF]].concat();
    let mut streams = FuturesUnordered::new();
    for _ in 0..HALVES {
        let (address, half) = (web.address(), &half);
        streams.push(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            // The request may be refused before all of it is sent.
            let _ = stream.write_all(half).await;
            let mut status = [0; 12];
            stream.read_exact(&mut status).await.map(|_| status)
        });
    }
    let refused = watched("a refusal", streams.next()).await.unwrap();
    assert_eq!(&refused.unwrap(), b"HTTP/1.1 503");
    // A short request has its room, whatever the others take.
    assert_eq!(status(web.post(INITIALIZE)).await, 200);
}

#[tokio::test]
async fn halves_of_lines_have_a_bound_together_and_who_is_past_it_is_disconnected() {
    let mut served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    let half = vec![b' '; HALF];
    let mut clients = Vec::new();
    for _ in 0..HALVES {
        let client = let_in(&declared).await;
        served.opened().await;
        clients.push(client);
    }
    for client in &mut clients {
        let _ = watched("the write", client.write_all(&half)).await;
    }
    served.closed().await;
}

#[tokio::test]
async fn a_session_that_nobody_uses_makes_room_and_others_do_not() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let first = web.begin().await;
    let mut streams = Vec::new();
    for _ in 1..limits::MCP_LINKS_OF_SERVER {
        let session = web.begin().await;
        streams.push(sent(web.listen(&session)).await);
    }
    let last = web.begin().await;
    assert_eq!(served.closed().await, 1);
    assert_eq!(status(web.listen(&first)).await, 404);
    streams.push(sent(web.listen(&last)).await);
    // Now all sessions are in use.
    let refused = sent(web.post(INITIALIZE)).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(error_code(refused).await, -33000);
    drop(streams);
}

/// The clock is paused, and jumps when every task waits.
#[tokio::test(start_paused = true)]
async fn clients_wait_while_nobody_listens_at_the_door() {
    let mut bridge = Bridge::new("acp-chain".into(), &Account::new(limits::KEPT));
    let declared = bridge.offer(SERVER, "x", BridgeKind::Stdio).unwrap();
    let mut client = let_in(&declared).await;
    let message = |n: usize| {
        let text = "x".repeat(1 << 20);
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"m{n}\",\"params\":\"{text}\"}}\n")
    };
    let much = 2 * ((limits::MCP_HEARD + limits::MCP_MESSAGE) >> 20);
    let mut sent = 0;
    let mut line = message(0).into_bytes();
    let all = async {
        while sent < much {
            let count = client.write(&line).await.unwrap();
            line.drain(..count);
            if line.is_empty() {
                sent += 1;
                line = message(sent).into_bytes();
            }
        }
    };
    let stuck = tokio::time::timeout(WATCHDOG, all).await;
    assert!(stuck.is_err(), "all was taken in");
    drop(client);
    let mut came = 0;
    loop {
        match watched("an arrival", bridge.next()).await {
            Arrival::Opened { .. } => {}
            Arrival::Message { message, .. } => {
                assert_eq!(&**message.method(), format!("m{came}"));
                came += 1;
            }
            Arrival::Closed { .. } => break,
        }
    }
    assert!(came <= sent, "{came} of {sent}");
}

#[tokio::test]
async fn strangers_make_room_for_who_comes_next() {
    let mut served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    let web = served.web().await;
    let mut strangers = Vec::new();
    for _ in 0..limits::MCP_CONNECTIONS {
        strangers.push(TcpStream::connect(web.address()).await.unwrap());
    }
    assert_eq!(status(web.post(INITIALIZE)).await, 200);
    served.opened().await;
    // Nor do strangers that have disconnected keep clients out.
    drop(strangers);
    assert_eq!(status(web.post(INITIALIZE)).await, 200);
    let mut strangers = Vec::new();
    for _ in 0..limits::MCP_CONNECTIONS {
        let stranger = UnixStream::connect(variable(&declared, SOCKET)).await;
        strangers.push(stranger.unwrap());
    }
    let_in(&declared).await;
}

#[tokio::test]
async fn a_head_is_refused_at_its_bound() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let with = |length: usize| web.post(INITIALIZE).header("x", "x".repeat(length));
    assert_eq!(status(with(60 << 10)).await, 200);
    assert_eq!(status(with(64 << 10)).await, 431);
}
