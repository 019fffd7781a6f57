//! Promises that hold for all input: each is a function of bytes that panics if they break it.
//!
//! `cargo fuzz` looks for such bytes (`fuzz/`), and `tests/wire/fuzz.rs` tries its corpus and
//! mutations of it. Each function computes the expected output in its own way, too simple to share
//! a mistake with the host.

mod chain;
mod component;
mod edit;
mod envelope;
mod json;
mod lines;
mod manifest;
mod package;

pub use chain::chain;
pub use component::component;
pub use edit::edit;
pub use envelope::envelope;
pub use lines::lines;
pub use manifest::manifest;
pub use package::package;
