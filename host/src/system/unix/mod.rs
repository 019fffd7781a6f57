//! Linux and macOS.

pub mod directory;
pub mod files;
mod guard;
pub mod local;
pub mod mounts;
pub mod stdio;
pub mod stop;
pub mod tree;
