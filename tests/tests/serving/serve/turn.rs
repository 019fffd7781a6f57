//! A client that a test controls step by step: over HTTP/2, which no client over an SDK uses.

use acp_chain_tests::wire::in_time;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

/// A connection through a balancer.
pub(crate) struct Connection {
    client: Client,
    url: String,
    id: String,
}

/// A turn that waits until its client grants the agent's permission request.
pub(crate) struct Turn {
    connection: Connection,
    stream: Stream,
    asked: Value,
}

/// The messages of a stream of events.
struct Stream {
    response: Response,
    session: Option<String>,
    text: String,
    /// The last event that has an id.
    last: String,
}

impl Connection {
    /// A new connection, unless it is refused.
    pub(crate) async fn begin(client: &Client, url: &str) -> Result<Self, StatusCode> {
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}});
        let asks = posts(client.post(url), &initialize);
        let answer = in_time("an answer", asks.send()).await;
        let answer = answer.map_err(|_| StatusCode::BAD_GATEWAY)?;
        match answer.headers().get("acp-connection-id") {
            Some(id) => Ok(Self {
                client: client.clone(),
                url: url.to_owned(),
                id: id.to_str().unwrap().to_owned(),
            }),
            None => Err(answer.status()),
        }
    }

    /// The replica of the connection.
    pub(crate) fn node(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }

    fn asks(&self, method: Method) -> RequestBuilder {
        let asks = self.client.request(method, &self.url);
        asks.header("acp-connection-id", &self.id)
    }

    /// Posts a message. Returns the status of the answer.
    pub(crate) async fn says(&self, message: &Value) -> StatusCode {
        let asks = posts(self.asks(Method::POST), message);
        in_time("an answer", asks.send()).await.unwrap().status()
    }

    async fn hears(&self, session: Option<&str>) -> Option<Stream> {
        let response = in_time("a stream", self.stream(session, None).send()).await;
        let response = response.unwrap();
        (response.status() == StatusCode::OK).then(|| Stream {
            response,
            session: session.map(str::to_owned),
            text: String::new(),
            last: String::new(),
        })
    }

    fn stream(&self, session: Option<&str>, last: Option<&str>) -> RequestBuilder {
        let asks = self.asks(Method::GET).header("accept", "text/event-stream");
        let headers = [("acp-session-id", session), ("last-event-id", last)];
        headers.into_iter().fold(asks, |asks, (name, value)| {
            value
                .iter()
                .fold(asks, |asks, value| asks.header(name, *value))
        })
    }

    pub(crate) async fn end(self) {
        let asks = self.asks(Method::DELETE);
        let answer = in_time("an answer", asks.send()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
    }

    /// A running turn in a new session.
    pub(crate) async fn turn(self) -> Turn {
        self.turn_if_it_may().await.expect("a turn")
    }

    /// A running turn in a new session; `None` if the replica disconnects its clients before the turn begins.
    pub(crate) async fn turn_if_it_may(self) -> Option<Turn> {
        let mut all = self.hears(None).await?;
        let new = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}});
        self.is_taken(&new).await?;
        let session = all.next().await.expect("a session");
        let session = &session["result"]["sessionId"];
        let mut stream = self.hears(session.as_str()).await?;
        let prompt = json!([{"type": "text", "text": "permission edit look /tmp"}]);
        let prompt = json!({
            "jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": session, "prompt": prompt},
        });
        self.is_taken(&prompt).await?;
        let mut asked = Value::Null;
        // Messages of the proxies come first.
        while asked["method"] != "session/request_permission" {
            asked = stream.next().await.expect("a question");
        }
        Some(Turn {
            connection: self,
            stream,
            asked: asked["id"].clone(),
        })
    }

    async fn is_taken(&self, message: &Value) -> Option<()> {
        (self.says(message).await == StatusCode::ACCEPTED).then_some(())
    }
}

impl Turn {
    /// Grants the permission, and checks that the turn ends well.
    pub(crate) async fn ends_well(mut self) {
        let permits = json!({
            "jsonrpc": "2.0", "id": self.asked,
            "result": {"outcome": {"outcome": "selected", "optionId": "allow-once"}},
        });
        assert_eq!(self.connection.says(&permits).await, StatusCode::ACCEPTED);
        loop {
            let said = self.stream.next().await.expect("the turn has an end");
            if said["id"] == 2 {
                assert_eq!(said["result"]["stopReason"], "end_turn", "{said}");
                return;
            }
        }
    }

    /// Resumes the stream, as soon as the server serves it again.
    pub(crate) async fn goes_on(&mut self) {
        assert_eq!(self.stream.next().await, None);
        let Stream { session, last, .. } = &self.stream;
        let again = async {
            loop {
                let asks = self.connection.stream(session.as_deref(), Some(last));
                match asks.send().await {
                    Ok(response) if response.status() == StatusCode::OK => return response,
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        self.stream.response = in_time("the resumed stream", again).await;
        self.stream.text.clear();
    }

    /// Checks that the stream ends without another message, and that the connection no longer exists.
    pub(crate) async fn breaks(mut self) {
        assert_eq!(self.stream.next().await, None);
        let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "session-1"}});
        let status = self.connection.says(&cancel).await;
        assert!(!status.is_success(), "{status}");
    }
}

impl Stream {
    /// The next message; none when the stream ends or breaks.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name| event.lines().find_map(|line| line.strip_prefix(name));
                let data = field("data: ");
                if let Some(id) = field("id: ") {
                    id.clone_into(&mut self.last);
                }
                let said = data.map(|data| serde_json::from_str(data).unwrap());
                self.text = rest.to_owned();
                if said.is_some() {
                    return said;
                }
                continue;
            }
            let more = in_time("an event", self.response.chunk()).await;
            self.text += std::str::from_utf8(&more.ok()??).unwrap();
        }
    }
}

fn posts(asks: RequestBuilder, message: &Value) -> RequestBuilder {
    asks.header("content-type", "application/json")
        .body(message.to_string())
}
