//! Clients that the bridge does not let in, and what is left when the bridge ends.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use acp_chain::bridge::pipe::{SECRET, SOCKET, enter};
use acp_chain::bridge::{Bridge, BridgeKind};
use acp_chain::limits::{Account, KEPT};
use acp_chain_tests::declared::variable;
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixSocket, UnixStream};

use super::server::{BridgeServer, INITIALIZE, SERVER, sent, status, watched};

/// Everything that arrives until the other side closes the connection.
async fn rest(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut rest = Vec::new();
    // A connection may be reset when not all that was sent is read.
    let _ = watched("the end of a connection", stream.read_to_end(&mut rest)).await;
    String::from_utf8(rest).expect("UTF-8")
}

#[tokio::test]
async fn without_the_secret_nothing_can_be_told_over_http() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let path = web.url.rsplit('/').nth(1).unwrap().to_owned();
    assert!(!web.bearer.contains(&path));
    let mut answers = Vec::new();
    for (url, bearer) in [
        (web.url.clone(), "Bearer wrong".to_owned()),
        (web.url.clone(), format!("Bearer {path}")),
        (web.url.clone(), web.bearer.replace("Bearer", "Basic")),
        (web.url.replace(&path, "wrong"), web.bearer.clone()),
        (web.url.replace(&path, ""), web.bearer.clone()),
    ] {
        for method in [Method::POST, Method::GET, Method::OPTIONS] {
            let request = web.client.request(method, &url).body(INITIALIZE);
            let refused = sent(request.header("authorization", bearer.as_str())).await;
            assert_eq!(refused.status(), 401);
            assert_eq!(refused.headers()["www-authenticate"], "Bearer");
            answers.push(refused.text().await.unwrap());
        }
    }
    let unnamed = web.client.request(Method::POST, &web.url);
    answers.push(sent(unnamed).await.text().await.unwrap());
    answers.dedup();
    assert_eq!(answers.len(), 1);
}

#[tokio::test]
async fn web_pages_do_not_get_in() {
    let served = BridgeServer::start();
    let web = served.web().await;
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "evil.example:80"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let refused = sent(web.post(INITIALIZE).header(name, value)).await;
        assert_eq!(refused.status(), 403, "{name}: {value}");
        let headers = refused.headers().keys();
        let mut cors = headers.filter(|name| name.as_str().starts_with("access-control"));
        assert_eq!(cors.next(), None);
    }
    let local = web
        .post(INITIALIZE)
        .header("origin", "http://localhost:5173");
    assert_eq!(status(local).await, 200);
}

#[tokio::test]
async fn what_is_no_http_is_closed() {
    let served = BridgeServer::start();
    let web = served.web().await;
    let mut stream = TcpStream::connect(web.address()).await.unwrap();
    stream
        .write_all(b"{\"jsonrpc\":\"2.0\"}\n\n")
        .await
        .unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 400"));
    let mut stream = TcpStream::connect(web.address()).await.unwrap();
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(1 << 20));
    let _ = stream.write_all(long.as_bytes()).await;
    let refused = rest(&mut stream).await;
    assert!(
        refused.is_empty() || refused.starts_with("HTTP/1.1 4"),
        "{refused}"
    );
}

#[tokio::test]
async fn the_socket_is_for_its_user_and_who_knows_the_secret() {
    let mut served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    let socket = PathBuf::from(variable(&declared, SOCKET));
    let mode = |path: &std::path::Path| {
        let about = std::fs::metadata(path).unwrap();
        about.permissions().mode() & 0o777
    };
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().unwrap()), 0o700);

    for hello in ["wrong\n", "\n", &"x".repeat(1000), "\u{0}\n"] {
        let mut stream = UnixStream::connect(&socket).await.unwrap();
        stream.write_all(hello.as_bytes()).await.unwrap();
        let refused = rest(&mut stream).await;
        assert!(!refused.contains("welcome"), "{refused}");
    }
    let mut stream = UnixStream::connect(&socket).await.unwrap();
    let refused = enter(&mut stream, "wrong").await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "its secret opens no MCP server; the server may be closed"
    );
    let mut stream = UnixStream::connect(&socket).await.unwrap();
    enter(&mut stream, &variable(&declared, SECRET))
        .await
        .unwrap();
    assert_eq!(served.opened().await, 1);
}

/// The clock is paused, and jumps when every task waits.
#[tokio::test(start_paused = true)]
async fn who_does_not_say_who_it_is_is_not_waited_for() {
    let mut bridge = Bridge::new("acp-chain".into(), &Account::new(KEPT));
    let declared = bridge.offer(SERVER, "x", BridgeKind::Stdio).unwrap();
    let mut stream = UnixStream::connect(variable(&declared, SOCKET))
        .await
        .unwrap();
    stream.write_all(b"half a sec").await.unwrap();
    assert_eq!(rest(&mut stream).await, "");

    let declared = bridge.offer(SERVER, "x", BridgeKind::Http).unwrap();
    let web = super::server::Web::new(&declared);
    let mut stream = TcpStream::connect(web.address()).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\n").await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn a_server_that_is_closed_lets_nobody_in_and_its_clients_go() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let declared = served.offer(BridgeKind::Stdio).await;
    let (socket, secret) = (variable(&declared, SOCKET), variable(&declared, SECRET));
    let session = web.begin().await;
    let mut stream = UnixStream::connect(&socket).await.unwrap();
    enter(&mut stream, &secret).await.unwrap();
    served.bridge(|bridge| bridge.close(SERVER)).await;
    assert_eq!(rest(&mut stream).await, "");
    let mut closed = [served.closed().await, served.closed().await];
    closed.sort_unstable();
    assert_eq!(closed, [1, 2]);
    assert_eq!(status(web.say(&session, INITIALIZE)).await, 401);
    let mut stream = UnixStream::connect(&socket).await.unwrap();
    assert!(enter(&mut stream, &secret).await.is_err());
}

#[tokio::test]
async fn nothing_is_left_when_the_door_is_gone() {
    let mut served = BridgeServer::start();
    let web = served.web().await;
    let declared = served.offer(BridgeKind::Stdio).await;
    let socket = PathBuf::from(variable(&declared, SOCKET));
    let mut client = UnixStream::connect(&socket).await.unwrap();
    enter(&mut client, &variable(&declared, SECRET))
        .await
        .unwrap();
    served.opened().await;
    let session = web.begin().await;
    let stream = sent(web.listen(&session)).await;
    assert!(socket.exists());
    served.end().await;
    assert!(!socket.exists() && !socket.parent().unwrap().exists());
    assert_eq!(rest(&mut client).await, "");
    // The stream breaks off instead of ending properly.
    assert!(watched("the end of a stream", stream.text()).await.is_err());
    let shut = async {
        while TcpStream::connect(web.address()).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    watched("the end of the port", shut).await;
}

#[tokio::test]
async fn what_a_dead_host_left_is_cleared_away() {
    let mut served = BridgeServer::start();
    let declared = served.offer(BridgeKind::Stdio).await;
    let socket = PathBuf::from(variable(&declared, SOCKET));
    let place = socket.parent().unwrap().parent().unwrap();
    let random = format!("acp-chain-test-{}", std::process::id());
    let dead = place.join(random);
    std::fs::create_dir(&dead).unwrap();
    // This socket never listened. One that did could listen for a moment longer, if another test starts a
    // program right now.
    let socket_of_dead = UnixSocket::new_stream().unwrap();
    socket_of_dead.bind(dead.join("mcp")).unwrap();
    drop(socket_of_dead);
    let other = BridgeServer::start();
    other.offer(BridgeKind::Stdio).await;
    let cleared = async {
        while dead.exists() {
            tokio::task::yield_now().await;
        }
    };
    watched("the removal of the old folder", cleared).await;
    // Folders of living hosts stay.
    let mut client = UnixStream::connect(&socket).await.unwrap();
    enter(&mut client, &variable(&declared, SECRET))
        .await
        .unwrap();
    assert_eq!(served.opened().await, 1);
}
