//! Hostile clients: the server cuts them off, and still serves other clients.

use std::fmt::Write;

use acp_chain_tests::host;
use acp_chain_tests::wire::in_time;
use reqwest::Method;
use serde_json::json;

use super::raw::{END_HEADERS, END_STREAM, HEADERS, Raw, field, frame, h2};
use super::served::{AGENT, Connection, ServerProcess, Stream, initialize, posted};

/// Another client, which is served throughout.
struct OtherClient<'s> {
    connection: Connection<'s>,
    stream: Stream,
    session: String,
    turns: u64,
}

impl<'s> OtherClient<'s> {
    async fn of(served: &'s ServerProcess) -> Self {
        let connection = served.connect().await;
        let mut all = connection.hears(None).await;
        let session = connection.session(&mut all, 1).await;
        let stream = connection.hears(Some(&session)).await;
        Self {
            connection,
            stream,
            session,
            turns: 1,
        }
    }

    async fn is_served(&mut self) {
        self.turns += 1;
        let turn = self.turns;
        self.connection
            .prompts(&self.session, turn, "echo here")
            .await;
        assert_eq!(self.stream.turn(turn).await, ["here"]);
    }
}

/// A text that a balancer could take for a second request, or for a part of the first.
fn hidden(host: &str) -> String {
    format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n")
}

#[tokio::test]
async fn a_request_whose_end_others_may_see_elsewhere_is_refused_and_nothing_behind_it_is_heard() {
    let served = ServerProcess::start().await;
    let both = "Content-Length: 6\r\nTransfer-Encoding: chunked";
    let mut heads = vec![
        both.to_owned(),
        "Transfer-Encoding: chunked\r\nContent-Length: 6".to_owned(),
        "Content-Length: 0\r\nContent-Length: 5".to_owned(),
        "Transfer-Encoding : chunked".to_owned(),
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked".to_owned(),
        "X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0".to_owned(),
        "X: a\rTransfer-Encoding: chunked\r\nContent-Length: 0".to_owned(),
        "X: a\0b\r\nContent-Length: 0".to_owned(),
    ];
    for length in [
        "+5",
        "5, 5",
        "0x5",
        "-1",
        "99999999999999999999",
        "",
        "5 5",
        "5;",
        "\u{b}5",
    ] {
        heads.push(format!("Content-Length: {length}"));
    }
    for coding in [
        "xchunked",
        "chunked, identity",
        "identity",
        "identity, chunked",
        "gzip, chunked",
        "chunked, chunked",
        "chunked\u{b}",
        "\"chunked\"",
    ] {
        heads.push(format!("Transfer-Encoding: {coding}"));
    }
    for head in heads {
        let mut raw = Raw::open(&served).await;
        let start = format!(
            "POST /acp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n",
            raw.host
        );
        let body = "0\r\n\r\n";
        let said = format!("{start}{head}\r\n\r\n{body}{}", hidden(&raw.host));
        raw.says(said.as_bytes()).await;
        raw.is_done().await;
        assert_eq!(raw.codes().await, [400], "{head:?}");
    }
    for size in [
        "ffffffffffffffff1",
        "0x5",
        " 5",
        "-5",
        "+5",
        "5;a\nb",
        "5\n",
        "",
    ] {
        let mut raw = Raw::open(&served).await;
        let said = format!(
            "POST /acp HTTP/1.1\r\nHost: {0}\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n{size}\r\nhello\r\n0\r\n\r\n{1}",
            raw.host,
            hidden(&raw.host),
        );
        raw.says(said.as_bytes()).await;
        raw.is_done().await;
        assert_eq!(raw.codes().await, [400], "{size:?}");
    }
    // A request in a body is part of the body.
    let mut raw = Raw::open(&served).await;
    let inner = hidden(&raw.host);
    let said = format!(
        "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{inner}",
        raw.host,
        inner.len(),
    );
    raw.says(said.as_bytes()).await;
    assert_eq!(raw.codes().await, [200]);
}

#[tokio::test]
async fn a_server_by_another_name_is_not_this_one_whichever_part_of_the_request_says_so() {
    let served = ServerProcess::start().await;
    let host = Raw::open(&served).await.host;
    for (target, hosts) in [
        ("/acp".to_owned(), vec!["evil".to_owned()]),
        ("/acp".to_owned(), vec![host.clone(), "evil".to_owned()]),
        ("/acp".to_owned(), vec!["evil".to_owned(), host.clone()]),
        ("/acp".to_owned(), vec![]),
        ("/acp".to_owned(), vec![format!("a@{host}")]),
        ("http://evil/acp".to_owned(), vec![host.clone()]),
        (format!("http://{host}/acp"), vec!["evil".to_owned()]),
    ] {
        let mut raw = Raw::open(&served).await;
        let mut said = format!("POST {target} HTTP/1.1\r\nContent-Length: 0\r\n");
        for host in &hosts {
            let _ = write!(said, "Host: {host}\r\n");
        }
        raw.says(format!("{said}\r\n").as_bytes()).await;
        let head = raw.head().await;
        let is_refused = ["400", "421"]
            .iter()
            .any(|code| head[9..].starts_with(code));
        assert!(is_refused, "{target} {hosts:?}: {head}");
    }
}

#[tokio::test]
async fn who_sends_slowly_or_nothing_keeps_nobody_else_waiting() {
    let served = ServerProcess::start().await;
    let mut other = OtherClient::of(&served).await;
    let mut slow = Vec::new();
    for number in 0..200 {
        let mut raw = Raw::open(&served).await;
        let host = raw.host.clone();
        let said = match number % 4 {
            0 => String::new(),
            1 => "POST /acp HTTP/1.1\r\nHos".to_owned(),
            2 => format!(
                "POST /acp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
                 Content-Length: 60000000\r\n\r\n{{"
            ),
            _ => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        };
        raw.says(said.as_bytes()).await;
        slow.push(raw);
    }
    other.is_served().await;
    let another = served.connect().await;
    assert_ne!(another.id, other.connection.id);
    drop(slow);
}

#[tokio::test]
async fn who_leaves_much_unread_keeps_no_connection_when_the_agent_is_gone() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    let mut all = connection.hears(None).await;
    let session = connection.session(&mut all, 1).await;
    drop(all);
    // More than may be queued for a client that does not read.
    let text = "x".repeat(1000);
    let script = format!("stream 1400 {text}\nexit 3");
    connection.prompts(&session, 2, &script).await;
    let gone = async {
        loop {
            let asks = connection.asks(Method::DELETE);
            if asks.send().await.unwrap().status() == 404 {
                return;
            }
        }
    };
    in_time("the end of the connection", gone).await;
}

#[tokio::test]
async fn a_head_without_end_is_too_large() {
    let served = ServerProcess::start().await;
    for header in [
        "X: a\r\n".repeat(100_000),
        format!("X: {}", "a".repeat(1 << 20)),
    ] {
        let mut raw = Raw::open(&served).await;
        let start = format!("GET /acp HTTP/1.1\r\nHost: {}\r\n", raw.host);
        raw.says(start.as_bytes()).await;
        raw.says(header.as_bytes()).await;
        let codes = raw.codes().await;
        assert!(matches!(codes[..], [431] | []), "{codes:?}");
    }
}

/// The header fields of `GET /healthz`, which are the same in each request (RFC 7541).
fn fields(host: &str) -> Vec<u8> {
    // `:method GET`, `:scheme http`, `:path` and `:authority`.
    [vec![0x82, 0x86], field(0x04, "/healthz"), field(0x01, host)].concat()
}

/// The error codes of the GOAWAY frames that a server sent (RFC 9113, 6.8).
fn goodbyes(mut said: &[u8]) -> Vec<u32> {
    let mut errors = Vec::new();
    while said.len() >= 9 {
        let length = u32::from_be_bytes([0, said[0], said[1], said[2]]) as usize;
        let Some(payload) = said.get(9..9 + length) else {
            break;
        };
        if said[3] == 7 {
            errors.push(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
        }
        said = &said[9 + length..];
    }
    errors
}

const RESET: u8 = 3;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const ENHANCE_YOUR_CALM: u32 = 11;

#[tokio::test]
async fn who_opens_streams_of_http2_only_to_reset_them_is_sent_away() {
    let served = ServerProcess::start().await;
    let mut other = OtherClient::of(&served).await;
    let mut raw = Raw::http2(&served).await;
    let fields = fields(&raw.host);
    let mut flood = Vec::new();
    for number in 0..20_000 {
        let stream = 2 * number + 1;
        flood.extend(h2(HEADERS, END_STREAM | END_HEADERS, stream, &fields));
        flood.extend(h2(RESET, 0, stream, &8u32.to_be_bytes()));
    }
    raw.says(&flood).await;
    raw.is_done().await;
    assert_eq!(
        goodbyes(&raw.rest().await).first(),
        Some(&ENHANCE_YOUR_CALM)
    );
    other.is_served().await;
}

#[tokio::test]
async fn a_head_of_http2_without_end_is_cut_short() {
    let served = ServerProcess::start().await;
    let mut other = OtherClient::of(&served).await;
    let mut raw = Raw::http2(&served).await;
    let fields = fields(&raw.host);
    raw.says(&h2(HEADERS, END_STREAM, 1, &fields)).await;
    // A long field, sent repeatedly.
    let field = [&[0x00, 0x01, b'x', 0x7f, 0x81, 0x7b][..], &[b'a'; 16_000]].concat();
    let mut heard = true;
    for _ in 0..1000 {
        heard &= raw.says(&h2(CONTINUATION, 0, 1, &field)).await;
    }
    raw.is_done().await;
    let goodbyes = goodbyes(&raw.rest().await);
    assert!(!heard || !goodbyes.is_empty(), "16 MB were accepted");
    other.is_served().await;
}

#[tokio::test]
async fn who_asks_for_signs_and_reads_none_keeps_nobody_else_waiting() {
    let served = ServerProcess::start().await;
    let mut other = OtherClient::of(&served).await;
    let mut raw = Raw::http2(&served).await;
    let pings = h2(PING, 0, 0, &[0; 8]).repeat(10_000);
    raw.says(&pings).await;
    other.is_served().await;
}

/// A connection that is upgraded to a WebSocket.
async fn websocket(served: &ServerProcess) -> Raw {
    let mut raw = Raw::open(served).await;
    let said = format!(
        "GET /acp HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        raw.host
    );
    raw.says(said.as_bytes()).await;
    let head = raw.head().await;
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    // The RFD requires the connection's id in the answer to the upgrade.
    assert!(head.contains("acp-connection-id: "), "{head}");
    raw
}

#[tokio::test]
async fn a_websocket_with_frames_that_are_none_is_closed() {
    let served = ServerProcess::start().await;
    let mut other = OtherClient::of(&served).await;
    let text = |text: &[u8]| [frame(0x81, text.len() as u64), text.to_vec()].concat();
    let unmasked = vec![0x81, 0x02, b'{', b'}'];
    for (what, said) in [
        ("a frame of 2^63 bytes", frame(0x81, 1 << 63)),
        ("a frame longer than a message may be", frame(0x81, 1 << 40)),
        ("a frame without a mask", unmasked),
        (
            "a frame with reserved bits",
            text(b"{}")
                .into_iter()
                .enumerate()
                .map(|(at, byte)| if at == 0 { byte | 0x70 } else { byte })
                .collect(),
        ),
        ("a frame of an unknown kind", frame(0x83, 0)),
        (
            "a ping of 126 bytes",
            [frame(0x89, 126), vec![0; 126]].concat(),
        ),
        ("a ping in parts", frame(0x09, 0)),
        ("the end of a message that has no beginning", frame(0x80, 0)),
        ("text that is not UTF-8", text(&[0xff, 0xfe])),
    ] {
        let mut raw = websocket(&served).await;
        raw.says(&said).await;
        raw.is_done().await;
        let rest = raw.rest().await;
        assert!(rest.len() < 1000, "{what}: the server went on");
        other.is_served().await;
    }
}

#[tokio::test]
async fn a_message_that_is_never_whole_is_cut_short() {
    let served = ServerProcess::start().await;
    let mut other = OtherClient::of(&served).await;
    let mut raw = websocket(&served).await;
    let part = vec![b' '; 1 << 20];
    let mut said = [frame(0x01, part.len() as u64), part.clone()].concat();
    let mut heard = 0;
    while raw.says(&said).await {
        heard += 1;
        assert!(heard < 200, "the server accepts any length");
        said = [frame(0x00, part.len() as u64), part.clone()].concat();
    }
    assert!(heard >= 64, "a message may have 64 MiB");
    other.is_served().await;
}

#[tokio::test]
async fn nobody_is_told_which_connections_there_are() {
    let served = ServerProcess::start().await;
    let connection = served.connect().await;
    let (node, random) = connection.id.split_once('.').unwrap();
    let mut answers = Vec::new();
    for id in [
        format!("{node}.{}", "0".repeat(32)),
        format!("{node}.{}", &random[..31]),
        format!("{node}.{}", random.to_uppercase() + "0"),
        format!("other.{random}"),
        node.to_owned(),
        format!("{}%00", connection.id),
        format!("../{}", connection.id),
    ] {
        let asks = served.asks(Method::GET).header("acp-connection-id", &id);
        let answer = asks
            .header("accept", "text/event-stream")
            .send()
            .await
            .unwrap();
        let status = answer.status().as_u16();
        answers.push((status, answer.text().await.unwrap()));
    }
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    assert_eq!(answers[0].0, 404);
}

#[tokio::test]
async fn no_secret_is_in_the_log_however_much_that_says() {
    let folder = tempfile::tempdir().unwrap();
    let (tokens, log) = (folder.path().join("tokens"), folder.path().join("log"));
    let token = host::token(&tokens, "ann", &[]).await;
    let mut command = host::acp_chain("serve");
    command.args(["--listen", "127.0.0.1:0", "--log", "trace", "--log-file"]);
    command
        .arg(&log)
        .arg("--tokens")
        .arg(&tokens)
        .args(["--", AGENT]);
    let served = ServerProcess::by(&mut command).await;
    let asks = || served.asks(Method::POST).bearer_auth(&token);
    assert_eq!(posted(asks(), &initialize()).await.status(), 200);
    let client = acp_chain_tests::web::client();
    let wrong = "acp_a-token-that-nobody-has";
    for asks in [
        served.asks(Method::POST).bearer_auth(wrong),
        served.asks(Method::POST).basic_auth("ann", Some(wrong)),
        client.post(format!("{}?access_token={wrong}", served.url)),
        client.post(format!("{}?ticket={wrong}", served.url)),
        asks().header("cookie", wrong),
    ] {
        posted(asks, &json!({"token": wrong})).await;
    }
    let url = format!("{}/ticket", served.url);
    let ticket = web(&url, &token).await;
    let mut raw = Raw::open(&served).await;
    let said = format!(
        "GET /acp?ticket={ticket} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        raw.host
    );
    raw.says(said.as_bytes()).await;
    assert!(raw.head().await.starts_with("HTTP/1.1 101"));
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(log.contains("a connection begins"), "{log}");
    for secret in [&*token, wrong, &ticket] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

async fn web(url: &str, token: &str) -> String {
    let asks = acp_chain_tests::web::client().post(url).bearer_auth(token);
    let said: serde_json::Value = asks.send().await.unwrap().json().await.unwrap();
    said["ticket"].as_str().unwrap().to_owned()
}
