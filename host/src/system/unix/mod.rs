//! Linux and macOS.

pub mod files;
mod guard;
pub mod local;
pub mod stdio;
pub mod stop;
pub mod tree;
