//! Windows. It is run under Wine by `cargo xtask windows`, as `docs/systems.md` says.

pub mod blocking;
pub mod descriptors;
pub mod directory;
pub mod files;
pub mod handover;
pub mod local;
pub mod memory;
pub mod mounts;
pub mod process;
pub mod programs;
pub mod rights;
pub mod stdio;
pub mod stop;
pub mod supervisor;
pub mod terminal;
pub mod thread;
pub mod tree;
pub mod worker;
