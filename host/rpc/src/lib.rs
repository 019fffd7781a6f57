//! JSON-RPC 2.0: the envelope, ids and errors.
//!
//! Only the envelope of a message is ever read: its kind, id, method and session. The body is passed along as text,
//! unchanged.
//!
//! What processes of ours tell each other is no JSON-RPC: [`json_lines`] has their lines, and [`worker`] their calls.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod aside;
mod batch;
mod canonical;
mod edit;
mod entries;
mod envelope;
mod error;
mod id;
pub mod json_lines;
mod malformed;
mod merge;
mod message;
mod mutex;
mod one_line;
mod outline;
mod pointer;
mod salvage;
mod session;
mod surrogates;
pub mod transport;
pub mod untrusted;
pub mod worker;

pub use acp_chain_acp::{code, protocol_version};
pub use acp_chain_powers::Kind;
pub use aside::{aside, blocking};
pub use canonical::{
    Ambiguity, MemberNames, OpenReading, Reading, canonical, is_unclear_update, look_through,
    look_through_all,
};
pub use edit::{EditError, edit, edit_at_once, set, splice};
pub use entries::{Entries, Entry, end_of_string, is_by_position};
pub use envelope::Malformed;
pub use error::Error;
pub use id::Id;
pub use malformed::{MalformedLine, excerpt, read};
pub use merge::{MergeError, merge};
pub use message::{Message, UPDATE_KIND};
pub use mutex::Mutex;
pub use one_line::one_line;
pub use pointer::{InvalidPointer, MAX_POINTER, decoded, member, resolve, text_member, value_at};
pub use salvage::{PartialMessage, salvage};
pub use surrogates::well_formed;
