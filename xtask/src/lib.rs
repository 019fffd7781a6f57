//! What the commands of developers share: the checkout, steps with their logs, stamps, what is fetched, and the finished
//! program.
//!
//! `xtask` has little to compile, since every command waits for it. What compiles components and packs programs is
//! `xtask-make`, in the folder `make`: it shares most of its dependencies with the program.

pub mod fetch;
pub mod program;
pub mod progress;
pub mod stamp;
pub mod workspace;
