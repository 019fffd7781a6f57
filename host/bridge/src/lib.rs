//! MCP's transports: the guarded bridge through which the agent's own MCP clients reach servers in a chain. What the
//! servers answer is the work of the crate `acp-chain-mcp`.
//!
//! It does all their input and output. Of a message, it reads only the envelope and the members by which answers are
//! routed. A client needs the secret of the server that it connects to; see `docs/security.md`.
//!
//! | file | contents |
//! |---|---|
//! | `connections` | the connections of one listener, and the bytes of messages that no link has received yet |
//! | `registry` | the state shared by all tasks: servers, links, and arrivals |
//! | `link` | one client's conversation: chooses the stream for each message |
//! | `outbound` | the queue of messages to a client, charged to accounts |
//! | `pipe` | clients over stdio, through `acp-chain mcp-shim` |
//! | `socket` | the socket that `mcp-shim` connects to |
//! | `http` | clients over streamable HTTP |
//!
//! The bridge can be used without a chain: it connects each MCP client to the server whose secret the client has, and
//! the owner of the bridge answers.
//!
//! ```
//! use acp_chain_bridge::{Arrival, Bridge, BridgeKind};
//! use acp_chain_channel::limits::{Account, KEPT};
//! use acp_chain_rpc::{Error, Message};
//!
//! /// Offers a server over HTTP, on loopback, and answers pings until a client closes its session.
//! async fn serve(give: impl FnOnce(serde_json::Value)) -> std::io::Result<()> {
//!     let mut bridge = Bridge::new("acp-chain".into(), &Account::new(KEPT));
//!     // An entry of `mcpServers`, with the address and the secret.
//!     give(bridge.offer(1, "ping", BridgeKind::Http)?);
//!     loop {
//!         match bridge.next().await {
//!             Arrival::Message { link, message, .. } => {
//!                 let answer = match &**message.method() {
//!                     "initialize" => Message::result(r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"ping","version":"1"}}"#),
//!                     "ping" => Message::result("{}"),
//!                     _ => Message::error(&Error::new(-32601, "there is only ping")),
//!                 };
//!                 if let Some(id) = message.id() {
//!                     bridge.send(link, &answer, Some(id.as_str()));
//!                 }
//!             }
//!             Arrival::Opened { .. } => {}
//!             Arrival::Closed { .. } => return Ok(()),
//!         }
//!     }
//! }
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # async fn say(entry: &serde_json::Value, method: &str, session: Option<&str>, body: &str) -> std::io::Result<String> {
//! #     let url = entry["url"].as_str().unwrap().strip_prefix("http://").unwrap();
//! #     let (host, path) = url.split_once('/').unwrap();
//! #     let session = session.map_or(String::new(), |session| format!("mcp-session-id: {session}\r\n"));
//! #     let secret = entry["headers"][0]["value"].as_str().unwrap();
//! #     let mut stream = tokio::net::TcpStream::connect(host).await?;
//! #     let head = format!("{method} /{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {secret}\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\n{session}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
//! #     stream.write_all(format!("{head}{body}").as_bytes()).await?;
//! #     let mut answer = String::new();
//! #     stream.read_to_string(&mut answer).await?;
//! #     Ok(answer)
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! #     let (given, entry) = tokio::sync::oneshot::channel();
//! #     let served = serve(|entry| given.send(entry).unwrap());
//! #     let client = async {
//! #         let entry = entry.await.unwrap();
//! #         let begun = say(&entry, "POST", None, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#).await?;
//! #         let session = begun.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").trim().to_owned();
//! #         let pong = say(&entry, "POST", Some(&session), r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await?;
//! #         assert!(pong.contains(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), "{pong}");
//! #         say(&entry, "DELETE", Some(&session), "").await
//! #     };
//! #     let (served, left) = tokio::join!(served, client);
//! #     served.and(left.map(drop))
//! # }
//! ```

#![forbid(unsafe_code)]

mod connections;
mod http;
mod inbound;
mod link;
mod outbound;
pub mod pipe;
mod registry;
mod socket;
mod stream;
mod window;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use self::http::Listener;
use self::outbound::OutboundMessage;
use self::registry::Registry;
use self::socket::Socket;
use acp_chain_channel::limits::Account;
use acp_chain_mcp::param_headers::ParamHeaders;
pub use acp_chain_mcp::reach::BridgeKind;
use acp_chain_mcp::{LinkId, ServerId};
use acp_chain_rpc::Message;
use acp_chain_system::Supervisor;

/// An event at the bridge.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// A client opened a link.
    Opened {
        link: LinkId,
        server: ServerId,
        /// Whether the link is a single request, by a client of MCP 2026-07-28 over HTTP.
        stands_alone: bool,
    },
    /// A client sent a message: a JSON-RPC request, notification or response, in one line.
    Message {
        link: LinkId,
        message: Message,
        /// The parts of the message that headers repeat.
        mirrored: ParamHeaders,
    },
    /// A link was closed, by either side. Occurs once for each opened link, as its last event.
    Closed { link: LinkId },
}

/// The bridge. It listens once a server is [offered](Bridge::offer). Dropping it closes its sockets and removes its
/// files.
pub struct Bridge {
    shim: PathBuf,
    supervisor: Option<Supervisor>,
    registry: Arc<Registry>,
    socket: Option<Socket>,
    http: Option<Listener>,
}

impl Bridge {
    /// A bridge that does not listen yet. `shim` is this program's own executable. Messages are charged to `kept`.
    pub fn new(shim: PathBuf, kept: &Account) -> Self {
        Self {
            shim,
            supervisor: None,
            registry: Arc::new(Registry::new(kept)),
            socket: None,
            http: None,
        }
    }

    /// Lets a supervisor, if there is one, open the sockets.
    #[must_use]
    pub fn supervised(self, supervisor: Option<Supervisor>) -> Self {
        Self { supervisor, ..self }
    }

    /// Offers a server to MCP clients. Returns the entry of ACP's `mcpServers` for it: for HTTP an object with `type`,
    /// `name`, `url` and `headers`; for stdio with `name`, `command`, `args` and `env`. The entry holds the server's
    /// secret. A second call returns the same entry.
    ///
    /// Opens the port or socket if needed. Fails if that fails, or outside of a tokio runtime.
    pub fn offer(
        &mut self,
        server: ServerId,
        name: &str,
        transport: BridgeKind,
    ) -> io::Result<Value> {
        tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let (registry, by) = (&self.registry, self.supervisor.as_ref());
        match transport {
            BridgeKind::Http => {
                let port = match &self.http {
                    Some(http) => http.port,
                    None => self.http.insert(Listener::open(registry, by)?).port,
                };
                let (token, secret) = registry.offer(server, transport)?;
                let bearer = format!("Bearer {}", secret.reveal());
                Ok(json!({
                    "type": "http",
                    "name": name,
                    "url": format!("http://127.0.0.1:{port}/{}{}", token.reveal(), http::ENDPOINT),
                    "headers": [{"name": "Authorization", "value": bearer}],
                }))
            }
            BridgeKind::Stdio => {
                let socket = match &self.socket {
                    Some(socket) => socket,
                    None => self.socket.insert(Socket::open(registry, by)?),
                };
                let not_utf8 = || io::Error::other("a path that is not UTF-8 cannot be declared");
                let path = socket.address.path().to_str().ok_or_else(not_utf8)?;
                let command = self.shim.to_str().ok_or_else(not_utf8)?;
                let (_, secret) = registry.offer(server, transport)?;
                Ok(json!({
                    "name": name,
                    "command": command,
                    "args": ["mcp-shim"],
                    "env": [
                        {"name": pipe::SOCKET, "value": path},
                        {"name": pipe::SECRET, "value": secret.reveal()},
                    ],
                }))
            }
        }
    }

    /// Rejects new clients of this server, and closes its links.
    pub fn close(&mut self, server: ServerId) {
        self.registry.withdraw(server);
    }

    /// The next event. Cancel safe. Pending until a server is offered. While it is not called, clients wait.
    pub async fn next(&mut self) -> Arrival {
        // Without a listener there are no clients, and the router should not lock the registry for each message.
        if self.socket.is_none() && self.http.is_none() {
            return std::future::pending().await;
        }
        self.registry.next().await
    }

    /// Sends a message to a client. `id` (JSON text) replaces the message's own id. Over HTTP an answer goes to its
    /// request. If more than [`limits::MCP_UNREAD`](acp_chain_channel::limits::MCP_UNREAD) bytes wait for the client,
    /// its link is closed. Does nothing if the link is closed already.
    pub fn send(&mut self, link: LinkId, message: &Message, id: Option<&str>) {
        let (message, id) = (message.clone(), id.map(Box::from));
        self.registry.send(link, OutboundMessage { message, id });
    }

    /// Closes a link. Messages sent before are still delivered.
    pub fn hang_up(&mut self, link: LinkId) {
        self.registry.close(link);
    }
}
