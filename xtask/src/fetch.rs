//! Third-party software from the package registries, at the versions that a file of the checkout
//! pins, into `target/`.

pub mod crates;
pub mod npm;
pub mod python;
