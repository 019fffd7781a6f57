//! Shared code of the developer commands: the checkout, steps with their logs, stamps, downloads, and the finished
//! program.
//!
//! `xtask` has few dependencies, since every command waits for its build. `xtask-make`, in the folder `make`, compiles
//! components and packs programs: it shares most of its dependencies with the program.

pub mod fetch;
pub mod program;
pub mod progress;
pub mod stamp;
pub mod workspace;
