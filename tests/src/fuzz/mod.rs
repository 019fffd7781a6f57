//! What holds for all input, each promise a function of bytes that panics when they break it.
//!
//! `cargo fuzz` looks for such bytes (`fuzz/`), and `tests/fuzz.rs` tries those of its corpus, and
//! some made of them. What is to come out is found in a way of the function's own, too simple to
//! share a mistake with the host.

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
