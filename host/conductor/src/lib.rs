//! The conductor: orders the parts of a chain, and routes messages between them.
//!
//! Invariants:
//! - A message that no proxy changes is sent with exactly the bytes of its body that were received.
//! - Per direction and session, messages are sent in the order of arrival, and a response never overtakes a
//!   notification
//!   sent before it. Only holding a message takes it out of that order.
//! - Every request gets exactly one answer, whichever part fails.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod batches;
mod breaker;
mod clock;
mod conductor;
mod edge;
mod ending;
mod exchange;
mod handshake;
mod hop;
mod labels;
pub mod losses;
mod member;
pub mod native;
mod native_peer;
mod pipes;
mod projects;
mod queues;
mod route;
mod routed;
mod router;
mod serve;
pub mod sign_in;
mod start;
mod swap;
mod version;

pub use acp_chain_recorder as trace;
pub use hop::NativeBacklogs;
pub use member::{Member, Proxy, SleepingProxy, Terms};
pub use native_peer::{Launch, Native, Order, Program};
pub use projects::{PATIENCE, Project, Projects, ProxyFactory, Word};
pub use router::Router;
pub use serve::{Exit, Settings, serve};
pub use start::{Agent, Chain, ChildIo, Role, StartError};
pub use swap::{EndCallback, Swap};
