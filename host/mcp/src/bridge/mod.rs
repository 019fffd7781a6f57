//! The guarded bridge through which the agent's own MCP clients reach servers in the chain.
//!
//! It does all input and output of these bridges, and reads only a message's envelope and the members that route its
//! answers. Nobody gets in without the secret of the server that they ask for; see `docs/security.md`.
//!
//! | file | what it is |
//! |---|---|
//! | `connections` | those through one entrance, limited |
//! | `registry` | the state shared by all tasks: servers, links, and arrivals |
//! | `link` | one client's conversation: chooses the stream for each message |
//! | `outbound` | the way of messages out to a client, charged to accounts |
//! | `load` | the bytes of messages before they are taken in |
//! | `pipe` | clients that speak lines, through `acp-chain mcp-shim` |
//! | `socket` | the socket for those |
//! | `http` | clients that speak streamable HTTP |

mod connections;
mod http;
mod inbound;
mod link;
mod load;
mod message;
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
use self::message::OutboundMessage;
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

/// What happens at the bridge.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// A client has begun a conversation.
    Opened {
        /// The conversation.
        link: LinkId,
        /// The server that it is with.
        server: ServerId,
        /// Whether it is a single request, by a client of MCP 2026-07-28 over HTTP.
        stands_alone: bool,
    },
    /// A client sent a message: a JSON-RPC request, notification or response, in one line.
    Message {
        /// The conversation.
        link: LinkId,
        /// The parsed text.
        message: Message,
        /// The parts of it that headers repeat.
        mirrored: Mirrored,
    },
    /// A conversation has ended, on either side. Once for each that was opened, and last.
    Closed {
        /// The conversation.
        link: LinkId,
    },
}

/// The bridge. Nothing is open until something is [offered](Bridge::offer); when it is dropped, its
/// sockets are closed and its files are gone.
pub struct Bridge {
    shim: PathBuf,
    supervisor: Option<Supervisor>,
    registry: Option<Arc<Registry>>,
    socket: Option<Socket>,
    http: Option<Listener>,
    kept: Account,
}

impl Bridge {
    /// A bridge that is closed. `shim` is this program's own executable; messages will be kept on a part of this
    /// account.
    #[must_use]
    pub fn new(shim: PathBuf, kept: &Account) -> Self {
        Self {
            shim,
            supervisor: None,
            registry: None,
            socket: None,
            http: None,
            kept: kept.clone(),
        }
    }

    /// The same, with sockets that a supervisor opens, if there is one.
    #[must_use]
    pub fn supervised(self, supervisor: Option<Supervisor>) -> Self {
        Self { supervisor, ..self }
    }

    /// Lets MCP clients in to a server. Returns the entry of ACP's `mcpServers` through which an agent reaches it:
    /// for HTTP an object with `type`, `name`, `url` and `headers`; for stdio with `name`, `command`, `args` and
    /// `env`. It holds the server's secret. Calling it again returns the same entry.
    ///
    /// Must be called within a tokio runtime, as it opens the port or socket if needed. An error if that fails.
    pub fn offer(
        &mut self,
        server: ServerId,
        name: &str,
        transport: BridgeKind,
    ) -> io::Result<Value> {
        tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let registry = match &self.registry {
            Some(registry) => Arc::clone(registry),
            None => Arc::clone(self.registry.insert(Arc::new(Registry::new(&self.kept)?))),
        };
        let by = self.supervisor.as_ref();
        match transport {
            BridgeKind::Http => {
                let port = match &self.http {
                    Some(http) => http.port(),
                    None => self.http.insert(Listener::open(&registry, by)?).port(),
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
                    None => self.socket.insert(Socket::open(&registry, by)?),
                };
                let not_utf8 = || io::Error::other("a path that is not UTF-8 cannot be declared");
                let path = socket.path().to_str().ok_or_else(not_utf8)?;
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

    /// Lets nobody in to this server any more, and closes its links.
    pub fn close(&mut self, server: ServerId) {
        if let Some(registry) = &self.registry {
            registry.withdraw(server);
        }
    }

    /// The next event. Cancel safe; pending while nothing is offered. While nobody calls it, clients wait.
    pub async fn next(&mut self) -> Arrival {
        match &self.registry {
            Some(registry) => registry.next().await,
            None => std::future::pending().await,
        }
    }

    /// Sends a client a message, with `id` (JSON text) in place of its own. Over HTTP an answer goes to its request.
    /// If more than [`limits::MCP_UNREAD`](acp_chain_channel::limits::MCP_UNREAD) bytes wait for the client, its link
    /// is closed. Does nothing if it is closed already.
    pub fn send(&mut self, link: LinkId, message: &Message, id: Option<&str>) {
        if let Some(registry) = &self.registry {
            let (message, id) = (message.clone(), id.map(Box::from));
            registry.send(link, OutboundMessage { message, id });
        }
    }

    /// Closes a link. The client gets what was sent to it before.
    pub fn hang_up(&mut self, link: LinkId) {
        if let Some(registry) = &self.registry {
            registry.close(link);
        }
    }
}
