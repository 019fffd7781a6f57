//! A client's MCP server in the dialect of the RFD: a program on stdio for each connection.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;

use crate::envelope::{self, Message, quoted};
use crate::host::peer;
use crate::wire::Wire;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

/// The prefix of the client's ids for requests of servers.
const ASKED: &str = "server-";

/// The server process of one connection.
struct ServerProcess {
    input: ChildStdin,
    _child: Child,
}

/// All connections of the client's servers.
pub struct Provider {
    program: PathBuf,
    running: HashMap<String, ServerProcess>,
    /// Messages from servers, each with its connection.
    said: mpsc::UnboundedReceiver<(String, Message)>,
    say: mpsc::UnboundedSender<(String, Message)>,
    /// The callers' open requests with their connections, by the ids that servers get.
    open: HashMap<u64, (String, Message)>,
    /// The servers' open requests, as connections and ids, by the ids that the client uses.
    asked: HashMap<String, (String, String)>,
    next: u64,
}

impl Provider {
    /// A server that is this program in `target/peers/bin`.
    ///
    /// # Panics
    /// If the program was not fetched.
    #[must_use]
    pub fn of(program: &str) -> Self {
        let (say, said) = mpsc::unbounded_channel();
        Self {
            program: peer("bin").join(program),
            running: HashMap::new(),
            said,
            say,
            open: HashMap::new(),
            asked: HashMap::new(),
            next: 0,
        }
    }

    /// The number of connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.running.len()
    }

    /// Serves until the chain disconnects the client.
    pub async fn serve(mut self, mut client: Wire) {
        loop {
            let lines = tokio::select! {
                message = client.receive() => match message {
                    Some(message) => self.hear(&message).await,
                    None => return,
                },
                lines = self.next() => lines,
            };
            for line in lines {
                client.send(line);
            }
        }
    }

    /// Handles a message to the client, and returns the lines of its answer.
    ///
    /// # Panics
    /// If the message is invalid.
    pub async fn hear(&mut self, message: &Message) -> Vec<String> {
        let Some(method) = message.method.as_deref() else {
            self.answered(message).await;
            return Vec::new();
        };
        let params = message.params.as_deref().unwrap_or("null");
        let params: Value = serde_json::from_str(params).expect("JSON");
        match method {
            "mcp/connect" => {
                let connection = self.connect();
                message.result(&json!({ "connectionId": connection }).to_string())
            }
            "mcp/disconnect" => {
                let connection = params["connectionId"].as_str().expect("a connection");
                assert!(
                    self.running.remove(connection).is_some(),
                    "{}",
                    message.line
                );
                message.result("{}")
            }
            "mcp/message" => {
                let connection = params["connectionId"].as_str().expect("a connection");
                let method = params["method"].as_str().expect("a method");
                let params = match &params["params"] {
                    Value::Null => json!({}),
                    params => params.clone(),
                };
                let mut line = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                if message.is_request() {
                    self.next += 1;
                    line["id"] = json!(self.next);
                    let open = (connection.to_owned(), message.clone());
                    self.open.insert(self.next, open);
                }
                self.write(connection, &line.to_string()).await;
                Vec::new()
            }
            "$/cancel_request" => {
                let id = params["requestId"].to_string();
                let found = self
                    .open
                    .iter()
                    .find(|(_, (_, open))| open.id.as_ref() == Some(&id));
                let Some(id) = found.map(|(id, _)| *id) else {
                    return Vec::new();
                };
                let (connection, open) = self.open.remove(&id).expect("an open request");
                let params = json!({ "requestId": id }).to_string();
                let line = envelope::notification("notifications/cancelled", &params);
                self.write(&connection, &line).await;
                open.error(r#"{"code":-32800,"message":"Request cancelled"}"#)
            }
            // Messages about turns need no answer.
            _ => Vec::new(),
        }
    }

    /// Waits for a server's message, and returns the lines that the client sends for it. Cancel safe.
    ///
    /// # Panics
    /// If a server sends an invalid message.
    pub async fn next(&mut self) -> Vec<String> {
        let (connection, message) = self.said.recv().await.expect("we hold a sender");
        let Some(method) = &message.method else {
            let id: u64 = message
                .id
                .as_ref()
                .and_then(|id| id.parse().ok())
                .expect("an id of ours");
            // A server may answer a cancelled call.
            let Some((_, open)) = self.open.remove(&id) else {
                return Vec::new();
            };
            return match (&message.result, &message.error) {
                (Some(result), _) => open.result(result),
                (None, error) => open.error(error.as_deref().expect("an error")),
            };
        };
        let (of, method) = (quoted(&connection), quoted(method));
        let params = message.params.as_deref().unwrap_or("{}");
        let params = format!(r#"{{"connectionId":{of},"method":{method},"params":{params}}}"#);
        match message.id {
            None => vec![envelope::notification("mcp/message", &params)],
            Some(id) => {
                self.next += 1;
                let own = quoted(&format!("{ASKED}{}", self.next));
                let line = envelope::request(&own, "mcp/message", &params);
                self.asked.insert(own, (connection, id));
                vec![line]
            }
        }
    }

    async fn answered(&mut self, answer: &Message) {
        let id = answer.id.as_deref().unwrap_or_default();
        let Some((connection, id)) = self.asked.remove(id) else {
            return;
        };
        let line = match (&answer.result, &answer.error) {
            (Some(result), _) => envelope::result(&id, result),
            (None, error) => envelope::error(&id, error.as_deref().expect("an error")),
        };
        self.write(&connection, &line).await;
    }

    fn connect(&mut self) -> String {
        self.next += 1;
        let connection = format!("connection-{}", self.next);
        let mut child = Command::new(&self.program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let (say, of) = (self.say.clone(), connection.clone());
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let message = Message::parse(line).expect("a message");
                let _ = say.send((of.clone(), message));
            }
        });
        let input = child.stdin.take().expect("a pipe");
        let running = ServerProcess {
            input,
            _child: child,
        };
        self.running.insert(connection.clone(), running);
        connection
    }

    async fn write(&mut self, connection: &str, line: &str) {
        let running = self.running.get_mut(connection);
        let input = &mut running
            .unwrap_or_else(|| panic!("no {connection}: {line}"))
            .input;
        let line = format!("{line}\n");
        input
            .write_all(line.as_bytes())
            .await
            .expect("the server reads");
    }
}
