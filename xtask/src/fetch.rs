//! Third-party software from the package registries, at the versions that a file of the checkout
//! pins, into `target/`; and targets of the Rust toolchain.

pub mod crates;
pub mod debian;
pub mod npm;
pub mod python;
pub mod target;
pub mod zig;
