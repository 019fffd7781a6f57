//! MCP over ACP: servers provided by the client, a proxy or the host, and agents that reach them by any transport (RFD
//! mcp-over-acp).
//!
//! Between the agent and a server's provider, messages pass through the chain as `mcp/*`, visible to proxies that
//! subscribe to them. At the provider's position in the chain, a [seat] receives the callers' messages, in either
//! dialect, and translates them for the provider. An agent that does not support MCP over ACP uses the [bridge] at the
//! agent's end of the chain.
//!
//! Every MCP message is a [`wire::Said`], whatever carries it: [`wire`] reads it from the params of ACP messages, and
//! writes it there. Requests stand alone, as in MCP 2026-07-28: a [component] and a [stateless]
//! provider get nothing else. Everything else is translated, by `edge` for callers, and by `connected::server` for
//! providers:
//!
//! | caller | a [component] or a [stateless] provider | a [connected] provider |
//! |---|---|---|
//! | a request that stands alone | passes | passes on one connection, or is translated for a server that begins with `initialize` |
//! | one of 2026-07-28 on a connection | passes | passes on its own connection |
//! | a client that begins with `initialize` | is translated | passes on its own connection |
//!
//! A provider that declares itself in the stateless dialect may speak the other: its dialect is [undecided] until its
//! first answer. `versions` has the differences of outcomes between versions, `listening` has `subscriptions/listen`.
//!
//! The bridge can be used without the rest of the crate: it connects each MCP client to the server whose secret the
//! client has, and the owner of the bridge answers.
//!
//! ```
//! use acp_chain_channel::limits::{Account, KEPT};
//! use acp_chain_mcp::bridge::{Arrival, Bridge, BridgeKind};
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

pub mod bridge;
pub mod capabilities;
pub mod component;
pub mod connected;
pub mod declaration;
mod edge;
mod listening;
pub mod mirrored;
pub mod protocol;
pub mod reach;
pub mod schema;
pub mod seat;
mod secret;
pub mod stateless;
#[cfg(test)]
mod tests;
pub mod undecided;
mod versions;
pub mod wire;

/// A server that is declared in one session. Never reused within a connection.
pub type ServerId = u64;

/// The conversation of an MCP client of the agent on the bridge. Never reused.
pub type LinkId = u64;

/// The number of an unanswered incoming request.
pub type Asked = u64;

/// The number that a seat assigns to a request that it sends. Never reused within a seat.
pub type Question = u64;

/// The host's number for an MCP client's connection to a server. Never reused.
pub type ConnectionId = u64;

/// A provider's dialect of MCP over ACP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// RFD mcp-over-acp: callers connect.
    Connected,
    /// Schema 1.15: every request stands alone.
    Stateless,
}
