//! Clients over WebSocket.

use acp_chain_tests::wire::in_time;
use futures_util::{SinkExt, StreamExt};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::limits::serve;
use super::raw::{DATA, END_HEADERS, HEADERS, Raw, SETTINGS, field, frame, h2, named};
use super::served::{ServerProcess, initialize, prompt, text};

struct Socket {
    socket: WebSocketStream<TcpStream>,
    id: String,
}

impl Socket {
    async fn open(served: &ServerProcess) -> Self {
        Self::open_as(served, "").await
    }

    async fn open_as(served: &ServerProcess, token: &str) -> Self {
        Self::open_with(served, token, None).await
    }

    /// Opens a WebSocket and offers subprotocols.
    async fn open_with(served: &ServerProcess, token: &str, offers: Option<&str>) -> Self {
        let url = served.url.replace("http://", "ws://");
        let address = url.split('/').nth(2).unwrap().to_owned();
        let stream = TcpStream::connect(address).await.unwrap();
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        if let Some(offers) = offers {
            let offers = offers.parse().unwrap();
            request
                .headers_mut()
                .insert("sec-websocket-protocol", offers);
        }
        // Like a browser, the client does not connect if the server chooses none of its offers.
        let (socket, answer) = client_async(request, stream).await.unwrap();
        if offers.is_some() {
            assert_eq!(answer.headers()["sec-websocket-protocol"], "acp.v1");
        }
        let id = answer.headers()["acp-connection-id"].to_str().unwrap();
        Self {
            socket,
            id: id.to_owned(),
        }
    }

    async fn says(&mut self, message: &Value) {
        let message = Message::text(message.to_string());
        self.socket.send(message).await.unwrap();
    }

    /// The next message; none once it is closed.
    async fn next(&mut self) -> Option<Value> {
        loop {
            match in_time("a message", self.socket.next()).await?.unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).ok(),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    async fn answer(&mut self, id: u64) -> (Vec<String>, Value) {
        let mut texts = Vec::new();
        loop {
            let said = self.next().await.expect("the request is answered");
            if said["id"] == id && said.get("method").is_none() {
                return (texts, said);
            }
            texts.extend(text(&said));
        }
    }

    /// A new session.
    async fn session(&mut self, id: u64) -> String {
        self.says(&new_session(id)).await;
        let (_, answer) = self.answer(id).await;
        answer["result"]["sessionId"].as_str().unwrap().to_owned()
    }
}

fn new_session(id: u64) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "session/new", "params": {"cwd": "/", "mcpServers": []},
    })
}

#[tokio::test]
async fn a_connection_over_a_websocket_has_all_in_order() {
    let served = ServerProcess::start().await;
    let mut socket = Socket::open(&served).await;
    assert_eq!(socket.id.split_once('.').unwrap().1.len(), 32);
    socket.says(&initialize()).await;
    assert_eq!(socket.next().await.unwrap()["result"]["protocolVersion"], 1);
    let session = socket.session(1).await;
    socket.says(&prompt(&session, 2, "stream 50 text")).await;
    let (texts, _) = socket.answer(2).await;
    let expected: Vec<_> = (0..50).map(|number| format!("text {number}")).collect();
    assert_eq!(texts, expected);
    // An empty frame is ignored, and an invalid message is answered with an error.
    socket
        .socket
        .send(Message::binary(vec![0; 8]))
        .await
        .unwrap();
    for wrong in [Message::text("{"), Message::binary(vec![0xff; 8])] {
        socket.socket.send(wrong).await.unwrap();
        let said = socket.next().await.unwrap();
        assert_eq!(
            (&said["id"], &said["error"]["code"]),
            (&Value::Null, &json!(-32700))
        );
    }
    // Malformed messages with only one meaning are accepted.
    let asks = |id: u64| prompt(&session, id, "echo on").to_string();
    let over_lines = serde_json::to_string_pretty(&prompt(&session, 22, "echo on")).unwrap();
    for (id, frame) in [
        (20, Message::binary(asks(20))),
        (21, Message::text(format!("{}\n", asks(21)))),
        (22, Message::text(over_lines)),
        (23, Message::text(format!("\x1b[0m{}", asks(23)))),
    ] {
        socket.socket.send(frame).await.unwrap();
        assert_eq!(socket.answer(id).await.0, ["on"]);
    }
    let two = format!("{}\n{}", new_session(24), new_session(25));
    socket.socket.send(Message::text(two)).await.unwrap();
    socket.answer(24).await;
    socket.answer(25).await;
    let large = "x".repeat(3 << 20);
    socket
        .says(&prompt(&session, 3, &format!("echo {large}")))
        .await;
    assert_eq!(socket.answer(3).await.0, [large]);
    // HTTP requests with the id of this connection find no connection.
    socket.socket.close(None).await.unwrap();
    assert_eq!(socket.next().await, None);
    let gone = async {
        loop {
            let asks = served.asks(reqwest::Method::DELETE);
            let answer = asks.header("acp-connection-id", &socket.id).send().await;
            if answer.unwrap().status() == 404 {
                return;
            }
            assert_eq!(served.beside("/healthz").await, 200);
        }
    };
    in_time("the end of the connection", gone).await;
}

#[tokio::test]
async fn of_the_subprotocols_on_offer_acp_is_chosen() {
    let served = ServerProcess::start().await;
    for offers in ["acp.v1", "graphql-ws, acp.v1", "acp.v1,acp"] {
        let mut socket = Socket::open_with(&served, "", Some(offers)).await;
        socket.says(&initialize()).await;
        assert_eq!(socket.next().await.unwrap()["result"]["protocolVersion"], 1);
    }
}

#[tokio::test]
async fn the_sessions_of_others_are_not_there_however_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (served, [ann, bob]) = serve(folder.path(), "").await;
    // Each agent numbers its sessions, so Bob has no session with the id of Ann's second one.
    let begun = async |token: &str, sessions: u64| {
        let mut socket = Socket::open_as(&served, token).await;
        socket.says(&initialize()).await;
        socket.next().await.unwrap();
        let mut session = String::new();
        for id in 10..10 + sessions {
            session = socket.session(id).await;
        }
        (socket, session)
    };
    let (mut hers, session) = begun(&ann, 2).await;
    let (mut his, own) = begun(&bob, 1).await;
    assert_ne!(session, own);
    let asks = |id: u64, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": "session/load", "params": params});
    for (id, params) in [
        (
            2,
            json!({"sessionId": session, "cwd": "/", "mcpServers": []}),
        ),
        (
            3,
            json!({"sessionId": own, "SessionId": session, "cwd": "/", "mcpServers": []}),
        ),
    ] {
        his.says(&asks(id, params)).await;
        let (_, answer) = his.answer(id).await;
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(told.contains("there is no such session"), "{answer}");
    }
    his.says(&json!([asks(4, json!({"sessionId": session}))]))
        .await;
    let answer = his.next().await.unwrap();
    assert_eq!(answer["id"], Value::Null, "{answer}");
    let told = answer["error"]["message"].as_str().unwrap();
    assert!(told.contains("batches are not supported"), "{answer}");
    // A byte order mark does not avoid the check.
    let marked = format!("\u{feff}{}", asks(6, json!({"sessionId": session})));
    his.socket.send(Message::text(marked)).await.unwrap();
    let (_, answer) = his.answer(6).await;
    let told = answer["error"]["message"].as_str().unwrap();
    assert!(told.contains("there is no such session"), "{answer}");
    // Nor do messages that need repair.
    let two = [7, 8].map(|id| asks(id, json!({"sessionId": session})).to_string());
    for frame in [
        Message::text(two.concat()),
        Message::binary(two.concat().replace(r#""jsonrpc":"2.0","#, "")),
        Message::text(format!("\x1b[0m{}\r\n{}", two[0], two[1])),
    ] {
        his.socket.send(frame).await.unwrap();
        for id in [7, 8] {
            let (_, answer) = his.answer(id).await;
            let told = answer["error"]["message"].as_str().unwrap();
            assert!(told.contains("there is no such session"), "{answer}");
        }
    }
    // A notification to another user's session is discarded, and both users are still served.
    let cancel =
        json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    his.says(&cancel).await;
    for (socket, session) in [(&mut his, &own), (&mut hers, &session)] {
        socket.says(&prompt(session, 5, "stream 2 text")).await;
        assert_eq!(socket.answer(5).await.0, ["text 0", "text 1"]);
    }
}

#[tokio::test]
async fn incomplete_messages_of_a_user_have_a_room_which_is_not_that_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let (served, [ann, bob]) = serve(folder.path(), "").await;
    // A user's incomplete messages may have 128 MiB together, and one message 64 MiB.
    let part = vec![b' '; 50 << 20];
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut socket = Socket::open_as(&served, &ann).await;
        let io = socket.socket.get_mut();
        io.write_all(&frame(0x81, 60 << 20)).await.unwrap();
        in_time("room", io.write_all(&part)).await.unwrap();
        open.push(socket);
    }
    let mut socket = Socket::open_as(&served, &ann).await;
    let io = socket.socket.get_mut();
    io.write_all(&frame(0x81, 60 << 20)).await.unwrap();
    // The connection is cut during this message or after it.
    let _ = in_time("the end", io.write_all(&part)).await;
    let _ = in_time("the end", io.read_to_end(&mut Vec::new())).await;
    let mut his = Socket::open_as(&served, &bob).await;
    his.says(&initialize()).await;
    assert!(his.next().await.unwrap()["result"].is_object());
    // Complete messages no longer count.
    for socket in &mut open {
        let io = socket.socket.get_mut();
        io.write_all(&vec![b' '; 10 << 20]).await.unwrap();
        socket.says(&initialize()).await;
        assert!(socket.next().await.unwrap()["result"].is_object());
    }
}

#[tokio::test]
async fn a_server_that_is_asked_to_stop_finishes_what_runs_and_begins_nothing() {
    let served = ServerProcess::start().await;
    let mut socket = Socket::open(&served).await;
    socket.says(&initialize()).await;
    socket.next().await.unwrap();
    let session = socket.session(1).await;
    let asks = prompt(&session, 2, "permission edit look /tmp");
    socket.says(&asks).await;
    let asked = socket.next().await.unwrap();
    served.signal(Signal::TERM);
    while served.beside("/readyz").await != 503 {}
    socket.says(&new_session(3)).await;
    let (_, answer) = socket.answer(3).await;
    let told = answer["error"]["message"].as_str().unwrap();
    assert!(told.contains("about to stop"), "{told}");
    let cancelled = json!({
        "jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}},
    });
    socket.says(&cancelled).await;
    assert_eq!(socket.answer(2).await.0, ["cancelled"]);
    assert_eq!(socket.next().await, None);
    assert!(served.ended().await.success());
}

#[tokio::test]
async fn an_agent_that_ends_closes_the_websocket_behind_its_last_words() {
    let served = ServerProcess::start().await;
    let mut socket = Socket::open(&served).await;
    socket.says(&initialize()).await;
    socket.next().await.unwrap();
    let session = socket.session(1).await;
    socket.says(&prompt(&session, 2, "echo last\nexit 3")).await;
    let (texts, answer) = socket.answer(2).await;
    assert_eq!(texts, ["last"]);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("code 3"),
        "{answer}"
    );
    assert_eq!(socket.next().await, None);
}

/// RFC 8441.
#[tokio::test]
async fn a_stream_of_http2_can_be_a_websocket() {
    let served = ServerProcess::start().await;
    let mut raw = Raw::http2(&served).await;
    let settings = raw.frame(SETTINGS).await;
    let is_offered = settings
        .chunks(6)
        .any(|setting| setting == [0, 8, 0, 0, 0, 1]);
    assert!(is_offered, "SETTINGS_ENABLE_CONNECT_PROTOCOL: {settings:?}");
    let fields = [
        field(0x02, "CONNECT"),
        named(":protocol", "websocket"),
        vec![0x86],
        field(0x04, "/acp"),
        field(0x01, &raw.host),
        named("sec-websocket-version", "13"),
    ];
    raw.says(&h2(HEADERS, END_HEADERS, 1, &fields.concat()))
        .await;
    let answer = raw.frame(HEADERS).await;
    assert_eq!(answer[0], 0x88, "the status is 200");
    let asked = initialize().to_string();
    let asked = [frame(0x81, asked.len() as u64), asked.into_bytes()].concat();
    raw.says(&h2(DATA, 0, 1, &asked)).await;
    let mut heard = Vec::new();
    while !heard.ends_with(b"}") {
        heard.extend(raw.frame(DATA).await);
    }
    let heard = String::from_utf8_lossy(&heard).into_owned();
    assert!(heard.contains(r#""protocolVersion":1"#), "{heard}");
}
