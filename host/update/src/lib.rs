//! Replaces the program by a newer release.
//!
//! A [`Channel`] is a folder of a web server. It has for each platform a description of the newest [`Release`], signed
//! beside it, and the archives that the descriptions name.
//!
//! Invariants:
//! - Nothing of a description is used before its signature by the channel's key is verified, and nothing of an archive
//!   before its size and digest are those of the description.
//! - An older release than the running one is refused, unless the user asks for it: a server may replay an old one.
//! - [`Program`] is replaced by renaming, and only by a file that has started and reported the expected version. At any
//!   time its path has the whole old program or the whole new one, except on Windows between two renamings.
//! - What a package manager has installed is never replaced.
//!
//! The crate prompts nobody and prints nothing.

#![forbid(unsafe_code)]

mod channel;
mod error;
mod manager;
mod program;
mod release;

pub use channel::Channel;
pub use error::UpdateError;
pub use manager::Manager;
pub use program::{Program, Staged};
pub use release::{Release, running};
