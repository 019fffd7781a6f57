//! Linux and macOS.

pub mod blocking;
mod descent;
pub mod descriptors;
pub mod directory;
pub mod files;
mod halves;
pub mod handover;
pub mod local;
pub mod memory;
pub mod mounts;
mod passing;
pub mod pipes;
pub mod process;
pub mod programs;
pub mod rights;
mod socket;
pub mod stdio;
pub mod stop;
pub mod supervisor;
pub mod terminal;
pub mod thread;
pub mod tree;
pub mod worker;
