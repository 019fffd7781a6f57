//! What both ends know: the names of headers, and which methods are of one session (RFD
//! streamable-http-websocket-transport).

use hyper::header::HeaderName;

/// Which connection a request is of. The server names it in its answer to `initialize`.
pub const CONNECTION: HeaderName = HeaderName::from_static("acp-connection-id");

/// Which session a request is of.
pub const SESSION: HeaderName = HeaderName::from_static("acp-session-id");

/// Which event of a stream was the last that came (WHATWG HTML, server-sent events).
pub const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Tells a message that is sent once more from another one (draft-ietf-httpapi-idempotency-key-header): a server takes
/// those of one connection once each.
pub const IDEMPOTENCY: HeaderName = HeaderName::from_static("idempotency-key");

/// Says, in the answer to `initialize`, that the server takes each key of [`IDEMPOTENCY`] once and keeps what streams
/// lose for a while: `1`.
pub const RESUME: HeaderName = HeaderName::from_static("acp-resume");

/// How often a stream without events has a comment, and a WebSocket a ping, in seconds.
pub const HEARTBEAT: u64 = 15;
