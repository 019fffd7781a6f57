//! Agents that users install by name: their entries in a registry, and their files on disk.
//!
//! [`Registry`] is the document that names agents, [`Install`] gets one of them into a folder of its own, and a
//! [`Store`] keeps a [`Record`] of each.
//!
//! What always holds:
//! - An agent is what its record says, a command with absolute paths: nothing is fetched at launch.
//! - Nothing is unpacked before it has the digest that was asked for, and nothing of a package runs while it is
//!   installed. A version that was installed once is the same bytes forever, or an error.
//! - First the folder of a version is whole, then the record names it, then the one before goes: whoever is killed in
//!   between leaves what was there before, and a folder that the next change removes.
//!
//! The crate asks nothing and prints nothing. The caller fetches from web servers.

#![forbid(unsafe_code)]

mod archive;
mod digest;
mod error;
mod install;
mod location;
mod name;
mod record;
mod registry;
mod store;
mod system;
mod tool;

pub use error::Error;
pub use install::{Install, Staged, Web};
pub use location::Location;
pub use name::is_name;
pub use record::{Kind, Record, own};
pub use registry::{Archive, Distribution, Entry, Offer, PUBLIC, Package, Registry};
pub use store::{Changing, Store, Write};
