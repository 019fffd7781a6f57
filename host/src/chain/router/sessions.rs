//! What begins a connection.

use crate::chain::exchange::Boundary;
use crate::channel::Peer;
use crate::mcp::capabilities::with_acp;
use crate::rpc::{Kind, Message};

/// What whoever made it shows of the parts behind it in the answer to `initialize`: servers are
/// reached over ACP past all of them, whether they know or not.
pub(super) fn shown(of: Boundary, toward: Peer, message: Message) -> Message {
    if of != Boundary::Connection || toward != Peer::Client || message.kind() != Kind::Result {
        return message;
    }
    match with_acp(message.body()) {
        Some(result) => message.with_body(&result),
        None => message,
    }
}
