//! Consistency of the checkout. The only program that runs is `cargo xtask`, which names missing tools.

mod book;
mod extensions;
mod languages;
mod layout;
mod needs;
mod targets;
