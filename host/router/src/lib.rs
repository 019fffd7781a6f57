//! The router of a chain: a state machine that carries messages between the client, the proxies and the agent. It does
//! no input or output: the crate `acp-chain-conductor` reads and writes for it.
//!
//! Invariants:
//! - A message that no proxy changes is sent with exactly the bytes of its body that were received.
//! - Per direction and session, messages are sent in the order of arrival, and a response never overtakes a
//!   notification sent before it. Only holding a message takes it out of that order.
//! - Every request gets exactly one answer, whichever part fails.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod clock;
pub mod losses;
mod reading;
mod router;
pub mod sign_in;
mod stored;

pub use acp_chain_hops::hop::NativeBacklogs;
pub use acp_chain_hops::member::{Member, Proxy, Terms};
pub use acp_chain_hops::native_peer::{Launch, Native, Order, Program};
pub use acp_chain_hops::route::{HopIndex, Place};
pub use acp_chain_hops::swap::{EndCallback, Swap};
pub use acp_chain_recorder as trace;
pub use reading::{FilePlace, FileRead};
pub use router::{
    FinishedWork, FirstSign, HookOutcome, HookTerms, IfUnlike, PATIENCE, RUN, ReportNumber, Router,
};
pub use stored::{NOT_HERE, ValueCall, ValueRequest};

/// Native proxies: their programs, and the dialects of the proxy protocol.
pub mod native {
    pub use acp_chain_acp::Dialect;
    pub use acp_chain_process::{CommandLine, Startable, Supervisor};
}
