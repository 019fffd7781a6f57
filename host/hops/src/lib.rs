//! What a router carries messages between, and what it carries: the proxies of a chain with their state, and messages
//! on their way. Everything here is changed by calls of the router; nothing here sends a message by itself.
//!
//! | file | what it is |
//! |---|---|
//! | `hop` | a proxy's place in the chain: what waits for the proxy, what it holds, its versions and its failures |
//! | `queues` | the order of messages at a hop |
//! | `breaker` | whether and when a proxy that broke is restarted |
//! | `native_peer` | the program of a native proxy |
//! | `member` | a proxy that is ready for a chain |
//! | `swap`, `version` | newer versions of a proxy |
//! | `edge` | the client or the agent, as an end |
//! | `route` | the places that a message passes |
//! | `routed`, `labels` | a message on its way, and what is known of it |
//! | `exchange` | an open request |

#![forbid(unsafe_code)]

mod breaker;
pub mod edge;
pub mod exchange;
pub mod hop;
pub mod labels;
pub mod member;
pub mod native_peer;
mod queues;
pub mod route;
pub mod routed;
pub mod swap;
pub mod version;
