//! Receipts: a log of what was decided in chains. Its records are the leaves of a Merkle tree, of which signed
//! checkpoints are made, so that a record that was changed, moved, left out or cut off is found, and a log that was
//! written anew does not agree with a checkpoint that was kept elsewhere.
//!
//! | file | contents |
//! |---|---|
//! | `observe` | makes records of what the trace observes |
//! | `client` | hands records over to the process that has the log |
//! | `service` | that process |
//! | `verify` | reads and verifies a log |
//! | `log` | the folder of a log, for appending |
//! | `segment` | the files with the records |
//! | `keys` | the keys of a log |
//! | `record` | a record |
//! | `checkpoint` | checkpoints (c2sp.org/tlog-checkpoint) |
//! | `note` | signed notes (c2sp.org/signed-note) |
//! | `merkle` | Merkle trees (RFC 6962) |
//! | `error` | why a log cannot be written or read |
//!
//! Invariants:
//! - No record has contents of messages, but only digests with a key of the log.
//! - A checkpoint covers only what is on disk.
//! - A log that does not agree with its checkpoint is not continued.

#![forbid(unsafe_code)]

mod checkpoint;
mod client;
mod error;
mod keys;
mod log;
pub mod merkle;
pub mod note;
mod observe;
mod record;
mod segment;
mod service;
mod verify;

#[cfg(test)]
mod tests;

pub use self::checkpoint::{Checkpoint, CheckpointError, NoCheckpoint, PRINTED};
pub use self::client::{Client, LastCheckpoint};
pub use self::error::LogError;
pub use self::keys::DigestKey;
pub use self::log::{Log, SEGMENT};
pub use self::observe::Receipts;
pub use self::record::{Record, VERSION, What};
pub use self::service::{ServiceError, Start, serve};
pub use self::verify::{Damage, Entry, Evidence, Verified, each, verify};
