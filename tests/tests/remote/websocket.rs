//! Clients that come by a WebSocket.

use acp_chain_tests::wire::in_time;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::raw::{DATA, END_HEADERS, HEADERS, Raw, SETTINGS, field, frame, h2, named};
use super::served::{Served, initialize, prompt, text};

struct Socket {
    socket: WebSocketStream<TcpStream>,
    id: String,
}

impl Socket {
    async fn open(served: &Served) -> Self {
        let url = served.url.replace("http://", "ws://");
        let address = url.split('/').nth(2).unwrap().to_owned();
        let stream = TcpStream::connect(address).await.unwrap();
        let (socket, answer) = client_async(url, stream).await.unwrap();
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
            let said = self.next().await.expect("it is answered");
            if said["id"] == id && said.get("method").is_none() {
                return (texts, said);
            }
            texts.extend(text(&said));
        }
    }
}

#[tokio::test]
async fn a_connection_over_a_websocket_has_all_in_order() {
    let served = Served::start().await;
    let mut socket = Socket::open(&served).await;
    assert_eq!(socket.id.split_once('.').unwrap().1.len(), 32);
    socket.says(&initialize()).await;
    assert_eq!(socket.next().await.unwrap()["result"]["protocolVersion"], 1);
    let new = json!({
        "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []},
    });
    socket.says(&new).await;
    let (_, answer) = socket.answer(1).await;
    let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    socket.says(&prompt(&session, 2, "stream 50 text")).await;
    let (texts, _) = socket.answer(2).await;
    let expected: Vec<_> = (0..50).map(|number| format!("text {number}")).collect();
    assert_eq!(texts, expected);
    // What means nothing is passed over, and what is wrong is answered.
    socket
        .socket
        .send(Message::binary(vec![0; 8]))
        .await
        .unwrap();
    socket.socket.send(Message::text("{")).await.unwrap();
    let said = socket.next().await.unwrap();
    assert_eq!(
        (&said["id"], &said["error"]["code"]),
        (&Value::Null, &json!(-32700))
    );
    let large = "x".repeat(3 << 20);
    socket
        .says(&prompt(&session, 3, &format!("echo {large}")))
        .await;
    assert_eq!(socket.answer(3).await.0, [large]);
    // Its id is not one that HTTP knows how to read, nor anybody's who is gone.
    socket.socket.close(None).await.unwrap();
    assert_eq!(socket.next().await, None);
    let gone = async {
        while served.beside("/healthz").await == 200 {
            let asks = served.asks(reqwest::Method::DELETE);
            let answer = asks.header("acp-connection-id", &socket.id).send().await;
            if answer.unwrap().status() == 404 {
                return;
            }
        }
    };
    in_time("the end of the connection", gone).await;
}

#[tokio::test]
async fn an_agent_that_ends_closes_the_websocket_behind_its_last_words() {
    let served = Served::start().await;
    let mut socket = Socket::open(&served).await;
    socket.says(&initialize()).await;
    socket.next().await.unwrap();
    let new = json!({
        "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []},
    });
    socket.says(&new).await;
    let (_, answer) = socket.answer(1).await;
    let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
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
    let served = Served::start().await;
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
    assert_eq!(answer[0], 0x88, "its status is 200");
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
