//! The hooks of agents: what an agent's own hook reports of a tool run, in one form for all agents, and how a decision
//! is written in the form of each.
//!
//! Invariants: but for `server` and `hook`, which connect the host and the client that agents start, and `reporter`,
//! which looks at that client's process, this crate does no input or output. A report that cannot be read is an error,
//! and its [closed](Dialect::closed) answer a refusal. A decision that an agent's hook cannot carry out is never
//! written as nothing: it is an error, too.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agents;
mod answer;
mod attach;
mod dialect;
mod event;
pub mod hook;
mod kind;
mod prefix;
mod report;
mod reporter;
pub mod server;
mod texts;
mod unhooked;
pub mod wire;
mod words;

pub use agents::{KnownAgent, RunProgram, Sign, UnattachedAgent, known, unattached};
pub use answer::{CannotCarryOut, Decision};
pub use attach::{
    Attachment, CannotAttach, OverlayContent, OverlayFile, Run, TIMEOUT, client, merge,
};
pub use dialect::{Dialect, dialect, recorded};
pub use event::{Event, Moment, PREFIX};
pub use kind::Kind;
pub use report::MalformedReport;
pub use texts::texts;
pub use wire::{Answer, SOCKET, TOKEN};
