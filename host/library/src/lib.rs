//! Hosts chains of sandboxed proxies between an ACP client and an ACP agent.
//!
//! The program `acp-chain` is built on it. Another program hosts its own chain like this:
//!
//! ```
//! use std::{future::pending, path::Path, sync::Arc};
//!
//! use acp_chain::chain::{self, Chain, ChildIo, Proxy, Settings, Terms};
//! use acp_chain::channel::Grant;
//! use acp_chain::limits::LINE;
//! use acp_chain::sandbox::{Component, Engine, Guest};
//! use acp_chain::transport::Transport;
//! use tokio::io::{AsyncRead, AsyncWrite};
//!
//! /// Serves a client with an agent behind one proxy, until either closes its streams.
//! async fn host(
//!     (from_client, to_client): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
//!     (from_agent, to_agent): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
//!     proxy: &Path,
//! ) -> Result<(), Box<dyn std::error::Error>> {
//!     let engine = Engine::new(None)?;
//!     let mut guest = Guest::new(&engine, Component::load(&engine, proxy)?, "shout");
//!     guest.grant = Arc::new(Grant::new("shout", ["prompts.read", "prompts.change"], Vec::new())?);
//!     let terms = Terms { grant: guest.grant.clone(), ..Terms::default() };
//!     let shout = Proxy::start("shout", guest, terms).await?;
//!     let mut chain = Some(Chain::new(vec![shout.into()], ChildIo::over(from_agent, to_agent)));
//!     let start = async |_| Ok(chain.take().expect("it starts once"));
//!     let client = Transport::lines(from_client, to_client, LINE);
//!     chain::serve(client, start, pending(), Settings::default()).await;
//!     Ok(())
//! }
//! # use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let proxy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/components/shout-rust.wasm");
//! # let ((client, its), (agent, theirs)) = (tokio::io::duplex(4096), tokio::io::duplex(4096));
//! # let (mut client, (from_chain, mut agent)) = (client, tokio::io::split(agent));
//! # let mut received = BufReader::new(from_chain).lines();
//! # let turn = async {
//! #     client.write_all(br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#).await?;
//! #     client.write_all(b"\n").await?;
//! #     assert!(received.next_line().await?.unwrap_or_default().contains("initialize"));
//! #     let prompt = r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hello"}]}}"#;
//! #     agent.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}\n").await?;
//! #     client.write_all(format!("{prompt}\n").as_bytes()).await?;
//! #     assert!(received.next_line().await?.unwrap_or_default().contains("HELLO"));
//! #     std::io::Result::Ok(())
//! # };
//! # let hosted = host(tokio::io::split(its), tokio::io::split(theirs), &proxy);
//! # tokio::select! { turn = turn => Ok(turn?), ended = hosted => ended.and(Err("it has ended".into())) }
//! # }
//! ```
//!
//! A proxy's grant lists its powers, and its limits bound its resources. Without a grant, a proxy sees no messages.
//! [`manifest`] reads both from files, and `chain::serve` takes any [`transport`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod host;

pub use acp_chain_bridge as bridge;
pub use acp_chain_channel::{self as channel, limits};
pub use acp_chain_conductor::{self as chain, native, trace};
pub use acp_chain_extension as extension;
pub use acp_chain_manifest as manifest;
pub use acp_chain_mcp as mcp;
pub use acp_chain_project as project;
pub use acp_chain_rpc::{self as rpc, transport, untrusted};
pub use acp_chain_sandbox as sandbox;
pub use acp_chain_state as state;
pub use acp_chain_system as system;
