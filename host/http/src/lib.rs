//! Shared by the listeners of the program: the server of remote clients, the bridge of agents' MCP clients, the page of
//! the inspector, and the metrics.
//!
//! | file | what it is |
//! |---|---|
//! | `connections` | the connections through one listener: which are served, and which are evicted for others |
//! | `serve` | the requests of one connection |
//! | `gate` | the names of a listener, the web pages that may call it, and the token of a request |
//! | `headers` | other headers of requests |
//! | `body` | the body of a request, read within a budget |
//! | `answer` | answers |
//! | `events` | streams of events (WHATWG HTML, server-sent events) |
//!
//! Invariants: nothing of a request is read before the listener's own gate has seen its head, which is bounded;
//! strangers are bounded in number, requests and time; and no answer is cached, or read as another type.

#![forbid(unsafe_code)]

pub mod answer;
pub mod body;
mod connections;
pub mod events;
pub mod gate;
pub mod headers;
mod serve;

use std::time::Duration;

pub use self::answer::{Answer, Body};
pub use self::connections::{Connections, Visitor};
pub use self::serve::{Terms, serve};

/// How often an idle stream or connection shows that it is alive. Some clients close silent ones, and only writing
/// shows that a client has disconnected.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long to stop accepting when the system is out of resources.
pub const PAUSE: Duration = Duration::from_millis(100);
