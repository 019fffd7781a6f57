//! A bridge with a scripted MCP server behind it, and clients that a test drives by hand.

use std::collections::HashMap;

use acp_chain::bridge::{Arrival, Bridge, BridgeKind};
use acp_chain::limits::{Account, KEPT};
use acp_chain::mcp::{LinkId, ServerId};
use acp_chain::rpc::{Error, Id, Kind, Message, member};
use acp_chain_tests::declared::address;
pub use acp_chain_tests::wire::in_time as watched;
use acp_chain_tests::{host, web};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// The server of tests that need only one.
pub const SERVER: ServerId = 1;

/// The first message of an MCP client.
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

type Order = Box<dyn FnOnce(&mut Bridge) + Send>;

/// A bridge, and the server behind it. Both end when this is dropped.
pub struct BridgeServer {
    orders: mpsc::UnboundedSender<Order>,
    news: mpsc::UnboundedReceiver<Arrival>,
    task: tokio::task::JoinHandle<()>,
}

impl BridgeServer {
    /// A server that speaks all versions of MCP.
    pub fn start() -> Self {
        Self::with(Script::default())
    }

    /// A server that does not know `server/discover`.
    pub fn legacy() -> Self {
        Self::with(Script {
            legacy: true,
            ..Script::default()
        })
    }

    fn with(mut script: Script) -> Self {
        let (orders, mut given) = mpsc::unbounded_channel::<Order>();
        let (told, news) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let mut bridge = Bridge::new(host::program(), &Account::new(KEPT));
            loop {
                tokio::select! {
                    order = given.recv() => match order {
                        Some(order) => order(&mut bridge),
                        None => return,
                    },
                    arrival = bridge.next() => {
                        if let Arrival::Message { link, message, .. } = &arrival {
                            script.answer(&mut bridge, *link, message);
                        }
                        let _ = told.send(arrival);
                    }
                }
            }
        });
        Self { orders, news, task }
    }

    /// Runs a function on the bridge.
    pub async fn bridge<T: Send + 'static>(
        &self,
        order: impl FnOnce(&mut Bridge) -> T + Send + 'static,
    ) -> T {
        let (done, result) = oneshot::channel();
        let order: Order = Box::new(move |bridge| drop(done.send(order(bridge))));
        assert!(self.orders.send(order).is_ok(), "a running bridge");
        watched("the bridge", result)
            .await
            .expect("a running bridge")
    }

    /// Offers [`SERVER`] to clients; returns its declaration.
    pub async fn offer(&self, transport: BridgeKind) -> Value {
        let offer = move |bridge: &mut Bridge| bridge.offer(SERVER, "scripted", transport);
        self.bridge(offer).await.expect("an offer")
    }

    /// The same over HTTP, with a client.
    pub async fn web(&self) -> Web {
        Web::new(&self.offer(BridgeKind::Http).await)
    }

    /// Sends a client a notification.
    pub async fn notify(&self, link: LinkId, method: &'static str, params: &'static str) {
        let message = Message::notification(method, params);
        self.bridge(move |bridge| bridge.send(link, &message, None))
            .await;
    }

    /// The next arrival at the bridge.
    pub async fn next(&mut self) -> Arrival {
        watched("an arrival", self.news.recv())
            .await
            .expect("a running bridge")
    }

    /// Expects a new client.
    pub async fn opened(&mut self) -> LinkId {
        match self.next().await {
            Arrival::Opened { link, .. } => link,
            other => panic!("not a new client: {other:?}"),
        }
    }

    /// Expects a message with this method from a client.
    pub async fn said(&mut self, method: &str) -> (LinkId, Message) {
        match self.next().await {
            Arrival::Message { link, message, .. } if &**message.method() == method => {
                (link, message)
            }
            other => panic!("not {method}: {other:?}"),
        }
    }

    /// Waits until a client disconnects; messages before that are discarded.
    pub async fn closed(&mut self) -> LinkId {
        loop {
            if let Arrival::Closed { link } = self.next().await {
                return link;
            }
        }
    }

    /// Drops the bridge.
    pub async fn end(self) {
        drop(self.orders);
        watched("the end of the bridge", self.task)
            .await
            .expect("no panic");
    }
}

/// How the server answers.
#[derive(Default)]
struct Script {
    legacy: bool,
    /// Calls that wait for an answer of the client.
    asking: HashMap<LinkId, Id>,
}

impl Script {
    fn answer(&mut self, bridge: &mut Bridge, link: LinkId, message: &Message) {
        let id = message.id();
        let result = match message.kind() {
            Kind::Notification => return,
            Kind::Request => match self.result(bridge, link, message) {
                Some(result) => result,
                None => return,
            },
            Kind::Result | Kind::Error => {
                assert_eq!(id.as_ref().map(Id::as_str), Some("0"));
                let id = self.asking.remove(&link).expect("an open call");
                let answer = Message::result(&text(message.body()).to_string());
                return bridge.send(link, &answer, Some(id.as_str()));
            }
        };
        let id = id.expect("a request has an id");
        bridge.send(link, &result, Some(id.as_str()));
    }

    fn result(&mut self, bridge: &mut Bridge, link: LinkId, request: &Message) -> Option<Message> {
        let params: Value = serde_json::from_str(request.body()).expect("JSON");
        let about = json!({"name": "scripted", "version": "1"});
        let result = match &**request.method() {
            "initialize" if params["clientInfo"]["name"] == "unwelcome" => {
                return Some(Message::error(&Error::new(-32602, "not you")));
            }
            "initialize" => json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }),
            "server/discover" if !self.legacy => json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": about},
            }),
            "ping" => json!({}),
            "tools/list" => json!({
                "tools": [{"name": "add", "inputSchema": {"type": "object"}}],
                "resultType": "complete",
                "ttlMs": 0,
                "cacheScope": "private",
            }),
            "tools/call" => match params["name"].as_str().expect("a name") {
                "add" => text("5"),
                "progress" => {
                    let token = &params["_meta"]["progressToken"];
                    let told = json!({"progressToken": token, "progress": 1.0});
                    let told = Message::notification("notifications/progress", &told.to_string());
                    bridge.send(link, &told, None);
                    text("done")
                }
                "roots" => {
                    let id = request.id().expect("a request has an id");
                    self.asking.insert(link, id);
                    bridge.send(link, &Message::request("roots/list", "null"), Some("0"));
                    return None;
                }
                _ => return None,
            },
            _ => return Some(Message::error(&Error::new(-32601, "no such method"))),
        };
        Some(Message::result(&result.to_string()))
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "resultType": "complete"})
}

/// A client over HTTP that a test drives by hand.
#[derive(Clone)]
pub struct Web {
    pub client: Client,
    pub url: String,
    pub bearer: String,
}

impl Web {
    pub fn new(declared: &Value) -> Self {
        let (url, bearer) = address(declared);
        Self {
            client: web::client(),
            url,
            bearer,
        }
    }

    /// `127.0.0.1:PORT`
    pub fn address(&self) -> String {
        let rest = self.url.strip_prefix("http://").expect("http");
        rest.split('/').next().expect("an address").to_owned()
    }

    /// A request that the bridge lets in.
    pub fn request(&self, method: Method) -> RequestBuilder {
        self.client
            .request(method, &self.url)
            .header("authorization", &self.bearer)
    }

    /// A POST with the headers of the transport.
    pub fn post(&self, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.request(Method::POST)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body)
    }

    /// A POST in a session.
    pub fn say(&self, session: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.post(body).header("mcp-session-id", session)
    }

    /// A GET in a session.
    pub fn listen(&self, session: &str) -> RequestBuilder {
        self.request(Method::GET)
            .header("accept", "text/event-stream")
            .header("mcp-session-id", session)
    }

    /// Begins a session.
    pub async fn begin(&self) -> String {
        self.begin_with(INITIALIZE.to_owned()).await
    }

    /// The same with this `initialize`.
    pub async fn begin_with(&self, initialize: String) -> String {
        let begun = sent(self.post(initialize)).await;
        assert_eq!(begun.status(), 200);
        let session = begun.headers()["mcp-session-id"].to_str();
        let session = session.expect("a session").to_owned();
        assert_eq!(events(begun).await.len(), 1);
        session
    }
}

/// The answer to a request.
pub async fn sent(request: RequestBuilder) -> Response {
    watched("an answer", request.send())
        .await
        .expect("an answer")
}

/// The status that a request is answered with.
pub async fn status(request: RequestBuilder) -> u16 {
    sent(request).await.status().as_u16()
}

/// All messages of an answer that ends: those of a stream, or the one of a body.
pub async fn events(response: Response) -> Vec<String> {
    if response.headers()["content-type"] == "application/json" {
        return vec![response.text().await.expect("a text")];
    }
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = watched("the end of a stream", response.text()).await;
    let text = text.expect("a whole stream");
    let events = text.split_terminator("\n\n").map(named);
    events
        .map(|(_, data)| data)
        .filter(|data| !data.is_empty())
        .collect()
}

/// The name of an event, if it has one, and its data.
fn named(event: &str) -> (Option<String>, String) {
    let (name, data) = match event.strip_prefix("id: ") {
        Some(named) => named
            .split_once('\n')
            .map_or((None, named), |(id, data)| (Some(id), data)),
        None => (None, event),
    };
    let data = data.strip_prefix("data: ").expect("data");
    (name.map(str::to_owned), data.to_owned())
}

/// The next message of a stream, in which messages come one by one.
pub async fn event(response: &mut Response) -> Option<String> {
    loop {
        let (_, data) = named_event(response).await?;
        // Some streams begin with an event that is not a message.
        if !data.is_empty() {
            return Some(data);
        }
    }
}

/// The next event of a stream, in which events come one by one: its name, and its data.
pub async fn named_event(response: &mut Response) -> Option<(String, String)> {
    let mut event = String::new();
    while !event.ends_with("\n\n") {
        let chunk = watched("an event", response.chunk()).await;
        event.push_str(std::str::from_utf8(&chunk.expect("a chunk")?).expect("UTF-8"));
    }
    let (name, data) = named(event.trim_end_matches('\n'));
    Some((name.unwrap_or_default(), data))
}

/// The code of a JSON-RPC error.
pub async fn error_code(response: Response) -> i64 {
    assert_eq!(response.headers()["content-type"], "application/json");
    let text = response.text().await.expect("a text");
    let error = member(&text, "error").expect("an error");
    let code = member(error, "code").expect("a code");
    code.parse().expect("a number")
}
