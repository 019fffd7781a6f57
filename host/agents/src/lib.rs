//! Agents that users install by name: their entries in a registry, and their files on disk.
//!
//! [`Registry`] is the document that lists agents, [`Install`] fetches one into a folder of its own, and a [`Store`]
//! keeps a [`Record`] of each.
//!
//! Invariants:
//! - An agent is exactly its record, a command with absolute paths: nothing is fetched at launch.
//! - Nothing is unpacked before its digest matches the requested one, and no code of a package runs during
//!   installation. A version, once installed, has the same bytes forever; anything else is an error.
//! - First the folder of a version is complete, then the record names it, then the previous one is removed: an
//!   interruption leaves the earlier state, and a folder that the next change removes.
//!
//! The crate prompts nobody and prints nothing. The caller fetches from web servers.

#![forbid(unsafe_code)]

mod archive;
mod changes;
mod digest;
mod error;
mod install;
mod kind;
mod known;
mod location;
mod name;
mod program;
mod record;
mod registry;
mod store;
mod system;
mod tool;
mod web;

pub use changes::{changes, is_older};
pub use error::Error;
pub use install::{Install, Staged};
pub use kind::Kind;
pub use known::{Known, correction, in_path, is_known};
pub use location::Location;
pub use name::is_name;
pub use record::{Record, own};
pub use registry::{Archive, Distribution, Entry, Offer, PUBLIC, Package, Registry};
pub use store::{Changing, Store, Write};
pub use web::Web;
