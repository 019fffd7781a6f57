//! The answers to invalid requests.

use std::process::Stdio;

use acp_chain_tests::wire::in_time;
use acp_chain_tests::{host, web};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::served::{ServerProcess, initialize, posted, prompt};

#[tokio::test]
async fn requests_that_are_wrong_get_what_the_page_says() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    assert_eq!(connection.id.split_once('.').unwrap().1.len(), 32);
    let typed = |media_type: &str| {
        let asks = connection.asks(Method::POST);
        asks.header("content-type", media_type).body("{}")
    };
    let listens = |asks: reqwest::RequestBuilder| asks.header("accept", "text/event-stream");
    let named = |method, id: &str| served.asks(method).header("acp-connection-id", id);
    let json = |asks: reqwest::RequestBuilder, body: &str| {
        let asks = asks.header("content-type", "application/json");
        asks.body(body.to_owned())
    };
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"session/list"}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel"}"#;
    let other = prompt("a", 1, "echo x").to_string();
    for (asks, status) in [
        (typed("text/plain"), 415),
        (
            typed("application/json").header("content-encoding", "gzip"),
            415,
        ),
        (connection.asks(Method::GET), 406),
        (
            connection.asks(Method::GET).header("accept", "text/html"),
            406,
        ),
        (listens(served.asks(Method::GET)), 400),
        (listens(named(Method::GET, "nobody.0")), 404),
        (served.asks(Method::DELETE), 400),
        (named(Method::DELETE, "nobody.0"), 404),
        (json(named(Method::POST, "nobody.0"), list), 404),
        (json(served.asks(Method::POST), list), 400),
        (json(connection.asks(Method::POST), cancel), 400),
        (
            json(connection.asks(Method::POST), &other).header("acp-session-id", "b"),
            400,
        ),
        (
            listens(connection.asks(Method::GET)).header("last-event-id", "x"),
            400,
        ),
        (
            connection
                .asks(Method::GET)
                .header("acp-connection-id", "twice"),
            400,
        ),
        (connection.asks(Method::PUT), 405),
    ] {
        let said = format!("{asks:?}");
        assert_eq!(asks.send().await.unwrap().status(), status, "{said}");
    }
    for (body, code) in [
        (format!("[{list}]"), -32600),
        ("[]".to_owned(), -32600),
        ("{".to_owned(), -32700),
        (r#"{"jsonrpc":"2.0"}"#.to_owned(), -32600),
    ] {
        for asks in [served.asks(Method::POST), connection.asks(Method::POST)] {
            let answer = json(asks, &body).send().await.unwrap();
            assert_eq!(answer.status(), 400);
            let said: Value = answer.json().await.unwrap();
            assert_eq!(said["error"]["code"], code, "{said}");
            assert_eq!(said["id"], Value::Null);
        }
    }
    for body in [
        r#"{"method":"_note"}"#,
        r#"{"jsonrpc":2.0,"method":"_note"}"#,
        "\u{1b}[0m{\"jsonrpc\":\"2.0\",\"method\":\"_note\"}\u{1b}[0m",
    ] {
        let answer = json(connection.asks(Method::POST), body).send().await;
        assert_eq!(answer.unwrap().status(), 202, "{body}");
    }
    let marked = format!("\u{feff}{}", initialize());
    let behind = web::client().post(format!("{}/", served.url));
    for asks in [
        json(served.asks(Method::POST), &marked),
        json(behind, &marked),
    ] {
        assert_eq!(asks.send().await.unwrap().status(), 200);
    }
    assert_eq!(served.beside("/healthz").await, 200);
    assert_eq!(served.beside("/readyz").await, 200);
    assert_eq!(served.beside("/other").await, 404);
    // The connection is still open.
    let mut stream = connection.hears(None).await;
    connection.session(&mut stream, 1).await;
    assert_eq!(connection.opens(None, None).await.status(), 409);
    let gone = connection.asks(Method::DELETE).send().await.unwrap();
    assert_eq!(gone.status(), 202);
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn an_agent_that_refuses_to_begin_leaves_no_connection() {
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0", "--", "false"]);
    let served = ServerProcess::by(&mut command).await;
    let answer = posted(served.asks(Method::POST), &initialize()).await;
    assert_eq!(answer.status(), 200);
    assert!(answer.headers().get("acp-connection-id").is_none());
    let said: Value = answer.json().await.unwrap();
    assert!(
        said["error"]["message"]
            .as_str()
            .unwrap()
            .contains("exited with code 1"),
        "{said}"
    );
    assert_eq!(said["id"], json!(0));
}

#[tokio::test]
async fn a_chain_that_does_not_start_is_told_before_anybody_comes() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("chain.toml");
    let component = host::component("redact");
    let proxy = format!("[[proxy]]\nid = \"redact\"\npath = {component:?}\nconfig.none = 7\n");
    std::fs::write(&manifest, proxy).unwrap();
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0", "--manifest"]);
    let ended = in_time(
        "its end",
        command.arg(manifest).args(["--", "true"]).output(),
    );
    let ended = ended.await.unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(told.contains("proxy `redact`"), "{told}");
    assert!(told.contains("it did not start: "), "{told}");
    assert!(ended.stdout.is_empty());
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_told_before_anybody_comes() {
    let mut command = host::acp_chain("serve");
    command
        .args(["--listen", "127.0.0.1:0", "--", "no-such-agent"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut served = command.spawn().unwrap();
    let mut told = BufReader::new(served.stderr.take().unwrap()).lines();
    let line = in_time("the warning", told.next_line()).await.unwrap();
    let line = line.unwrap();
    assert!(
        line.starts_with("acp-chain: the program `no-such-agent` was not found: "),
        "{line}"
    );
    // It has no proxies either.
    let line = in_time("the warning", told.next_line()).await.unwrap();
    let line = line.unwrap();
    let none = "acp-chain: no proxy is in the chain of ";
    assert!(line.starts_with(none), "{line}");
}
