//! Shared by both ends: the names of headers (RFD streamable-http-websocket-transport), and errors in place of answers.

use acp_chain_rpc::{Error, Id};
use bytes::Bytes;
use hyper::header::HeaderName;

/// The connection of a request. The server names it in its answer to `initialize`.
pub const CONNECTION: HeaderName = HeaderName::from_static("acp-connection-id");

/// The session of a request.
pub const SESSION: HeaderName = HeaderName::from_static("acp-session-id");

/// The last received event of a stream (WHATWG HTML, server-sent events).
pub const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Identifies resent messages (draft-ietf-httpapi-idempotency-key-header): a server accepts each key of a connection
/// once.
pub const IDEMPOTENCY: HeaderName = HeaderName::from_static("idempotency-key");

/// `1` in the answer to `initialize` means that the server accepts each key of [`IDEMPOTENCY`] once, and keeps events
/// that streams lose for a while.
pub const RESUME: HeaderName = HeaderName::from_static("acp-resume");

/// The answer to a request that has failed.
pub fn failure(id: &Id, error: &Error) -> Bytes {
    let (id, error) = (id.as_str(), error.to_json());
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into()
}
