//! Windows. The compiler has seen this, for `x86_64-pc-windows-gnu`; it has not been run yet.

pub mod blocking;
pub mod descriptors;
pub mod directory;
pub mod files;
pub mod handover;
pub mod local;
pub mod memory;
pub mod mounts;
pub mod process;
pub mod rights;
pub mod stdio;
pub mod stop;
pub mod supervisor;
pub mod terminal;
pub mod thread;
pub mod tree;
pub mod worker;
