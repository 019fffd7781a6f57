//! The guarded bridge through which the agent's own MCP clients reach servers in the chain.
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

use serde::Deserialize;
use serde_json::{Value, json};

use self::http::Listener;
use self::outbound::OutboundMessage;
use self::registry::Registry;
use self::socket::Socket;
use super::mirrored::Mirrored;
use super::{LinkId, ServerId};
use acp_chain_channel::limits::Account;
use acp_chain_rpc::Message;
use acp_chain_system::Supervisor;

/// How an agent's MCP client reaches a server.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum BridgeKind {
    /// Lines on the standard streams of `acp-chain mcp-shim`.
    #[default]
    Stdio,
    /// MCP's streamable HTTP, versions 2024-11-05 to 2026-07-28.
    Http,
}

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
        mirrored: Mirrored,
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
    #[must_use]
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
