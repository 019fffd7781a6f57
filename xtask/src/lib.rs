//! Shared code of the developer commands: the checkout, steps with their logs, stamps, downloads, the platforms with
//! packages, and the finished program.
//!
//! `xtask` has few dependencies, since every command waits for its build. `xtask-make`, in the folder `make`, compiles
//! components: it shares most of its dependencies with the program. `xtask-dist`, in the folder `dist`, packs programs:
//! only the tests and the commands that need packages build it.

pub mod fetch;
pub mod platform;
pub mod program;
pub mod progress;
pub mod stamp;
pub mod workspace;
