//! A running server, and the requests of a client.

use std::process::{ExitStatus, Stdio};

use acp_chain_tests::wire::in_time;
use acp_chain_tests::{host, web};
use reqwest::{Client, Method, RequestBuilder, Response};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

pub const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

pub struct ServerProcess {
    child: Child,
    pub url: String,
    client: Client,
    /// The rest of its output.
    out: Lines<BufReader<ChildStdout>>,
}

/// A connection of a client.
pub struct Connection<'s> {
    pub served: &'s ServerProcess,
    pub id: String,
}

/// The messages of an event stream, with their ids.
pub struct Stream {
    response: Response,
    text: String,
    /// The last id.
    pub last: String,
    /// The last message, as received.
    pub said: String,
    /// The last comment.
    pub comment: String,
}

impl ServerProcess {
    /// A server in front of the wild agent, without proxies.
    pub async fn start() -> Self {
        Self::of(&[]).await
    }

    pub async fn of(args: &[&str]) -> Self {
        let mut command = host::acp_chain("serve");
        command.args(["--listen", "127.0.0.1:0"]).args(args);
        command.arg("--").arg(AGENT);
        Self::by(&mut command).await
    }

    pub async fn by(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = in_time("the address", out.next_line()).await.unwrap();
        let line = line.expect("the server listens");
        let url = line.strip_prefix("listening on ").unwrap().to_owned();
        Self {
            child,
            url,
            client: web::client(),
            out,
        }
    }

    pub fn asks(&self, method: Method) -> RequestBuilder {
        self.client.request(method, &self.url)
    }

    /// The URL of the server's metrics.
    pub async fn numbers(&mut self) -> String {
        let line = in_time("the address", self.out.next_line()).await.unwrap();
        let line = line.expect("the server has metrics");
        line.strip_prefix("metrics at ").unwrap().to_owned()
    }

    /// The status of a path beside the endpoint.
    pub async fn beside(&self, path: &str) -> u16 {
        let url = self.url.replace("/acp", path);
        let answer = in_time("an answer", self.client.get(url).send()).await;
        answer.unwrap().status().as_u16()
    }

    /// A new connection, initialized.
    pub async fn connect(&self) -> Connection<'_> {
        let answer = posted(self.asks(Method::POST), &initialize()).await;
        assert_eq!(answer.status(), 200);
        let id = answer.headers()["acp-connection-id"].to_str().unwrap();
        let id = id.to_owned();
        let said: Value = answer.json().await.unwrap();
        assert_eq!(said["result"]["protocolVersion"], 1, "{said}");
        Connection { served: self, id }
    }

    pub fn signal(&self, signal: Signal) {
        let id = self.child.id().expect("the server runs");
        let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// The server's current memory, in bytes.
    pub fn memory(&self) -> u64 {
        let id = self.child.id().expect("the server runs");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<u64>().unwrap() << 10
    }

    /// The command lines of the server's children.
    pub fn children(&self) -> Vec<Vec<String>> {
        let id = self.child.id().expect("the server runs");
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
        let of_task = |task: std::io::Result<std::fs::DirEntry>| {
            let children = task.unwrap().path().join("children");
            std::fs::read_to_string(children).unwrap_or_default()
        };
        let ids: Vec<_> = tasks.map(of_task).collect();
        let words = |id: &str| {
            let line = std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap();
            line.split('\0').map(str::to_owned).collect()
        };
        ids.concat().split_whitespace().map(words).collect()
    }

    pub async fn ended(mut self) -> ExitStatus {
        in_time("its end", self.child.wait()).await.unwrap()
    }
}

impl Connection<'_> {
    pub fn asks(&self, method: Method) -> RequestBuilder {
        let asks = self.served.asks(method);
        asks.header("acp-connection-id", &self.id)
    }

    /// Posts a message, which must be accepted.
    pub async fn says(&self, message: &Value) {
        let answer = posted(self.asks(Method::POST), message).await;
        assert_eq!(answer.status(), 202, "{message}");
    }

    /// Requests a stream.
    pub async fn opens(&self, session: Option<&str>, last: Option<&str>) -> Response {
        let mut asks = self.asks(Method::GET).header("accept", "text/event-stream");
        if let Some(session) = session {
            asks = asks.header("acp-session-id", session);
        }
        if let Some(last) = last {
            asks = asks.header("last-event-id", last);
        }
        in_time("an answer", asks.send()).await.unwrap()
    }

    /// Opens a stream.
    pub async fn hears(&self, session: Option<&str>) -> Stream {
        Stream::of(self.opens(session, None).await)
    }

    /// A new session, whose id arrives on the connection's stream.
    pub async fn session(&self, stream: &mut Stream, id: u64) -> String {
        self.says(&json!({
            "jsonrpc": "2.0", "id": id, "method": "session/new", "params": {"cwd": "/", "mcpServers": []},
        }))
        .await;
        let answer = stream.next().await.unwrap();
        assert_eq!(answer["id"], id);
        answer["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    pub async fn prompts(&self, session: &str, id: u64, text: &str) {
        self.says(&prompt(session, id, text)).await;
    }
}

impl Stream {
    pub fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        Self {
            response,
            text: String::new(),
            last: String::new(),
            said: String::new(),
            comment: String::new(),
        }
    }

    /// The next message; none at the end.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let mut has_data = false;
                for line in event.lines() {
                    if let Some(id) = line.strip_prefix("id: ") {
                        self.last = id.to_owned();
                    }
                    if let Some(text) = line.strip_prefix(": ") {
                        text.clone_into(&mut self.comment);
                    }
                    if let Some(text) = line.strip_prefix("data: ") {
                        text.clone_into(&mut self.said);
                        has_data = true;
                    }
                }
                self.text = rest.to_owned();
                if has_data {
                    // Some numbers cannot be parsed.
                    return Some(serde_json::from_str(&self.said).unwrap_or_default());
                }
                continue;
            }
            let more = in_time("an event", self.response.chunk()).await.unwrap()?;
            self.text.push_str(std::str::from_utf8(&more).unwrap());
        }
    }

    /// The texts of a turn, up to its answer.
    pub async fn turn(&mut self, id: u64) -> Vec<String> {
        let mut texts = Vec::new();
        loop {
            let said = self.next().await.expect("the turn has an end");
            if said["id"] == id && said.get("method").is_none() {
                assert_eq!(said["result"]["stopReason"], "end_turn", "{said}");
                return texts;
            }
            texts.extend(text(&said));
        }
    }
}

/// The text of an update that has one.
pub fn text(said: &Value) -> Option<String> {
    let text = said["params"]["update"]["content"]["text"].as_str();
    text.map(str::to_owned)
}

pub fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
}

pub fn prompt(session: &str, id: u64, text: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "session/prompt",
        "params": {"sessionId": session, "prompt": [{"type": "text", "text": text}]},
    })
}

pub async fn posted(asks: RequestBuilder, message: &Value) -> Response {
    let asks = asks
        .header("content-type", "application/json")
        .body(message.to_string());
    in_time("an answer", asks.send()).await.unwrap()
}
