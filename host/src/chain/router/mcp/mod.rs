//! MCP over ACP in a chain: the servers of its sessions, those who provide them, and those who call them.
//!
//! A caller's message travels as any other, up to the [seat](crate::mcp::seat) of the server, which is
//! behind its provider. There it ends; what the seat makes of it goes on to the provider. What the
//! provider says to its callers goes the other way.

mod asks;
mod callers;
mod links;
mod natives;
mod providers;
mod seats;
mod servers;
mod sessions;
mod setup;

pub(super) use servers::Provider;

use std::path::PathBuf;

use self::servers::Servers;
use crate::limits::Account;
use crate::mcp::door::Door;

use crate::mcp::protocol::code;
use crate::rpc::Error;
use crate::untrusted::{MAX_QUOTE, quote};

pub(super) struct Mcp {
    /// The MCP servers of the sessions.
    pub servers: Servers,
    /// By which an agent without MCP over ACP reaches them.
    pub door: Door,
}

impl Mcp {
    /// No servers, and a door that is shut; what will be kept is a part of this account.
    pub fn new(kept: &Account) -> Self {
        Self {
            servers: Servers::new(kept),
            door: Door::new(PathBuf::new(), kept),
        }
    }
}

/// A message of a server's.
const MESSAGE: &str = "mcp/message";
/// A caller connects.
const CONNECT: &str = "mcp/connect";
/// A caller says good-bye.
const DISCONNECT: &str = "mcp/disconnect";

/// Whether a method belongs to MCP over ACP.
pub(in crate::chain::router) fn is_mcp(method: &str) -> bool {
    matches!(method, MESSAGE | CONNECT | DISCONNECT)
}

/// No server has this id.
fn unavailable(server: &str) -> Error {
    let server = quote(server, MAX_QUOTE);
    let text =
        format!("acp-chain: there is no MCP server `{server}`; it may have gone with its session");
    Error::new(code::UNAVAILABLE, text)
}
