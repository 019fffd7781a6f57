//! Extensions are installed, updated and removed by the program, from files and from registries, and the powers that
//! the user agreed to do not change.

mod asked;
mod broken;
mod files;
mod registry;
pub mod signed;
pub mod world;
