//! Extensions are installed, updated and removed by the program, from files and from registries, and what
//! the user agreed to stays what it was.

mod asked;
mod broken;
mod files;
mod registry;
mod signed;
mod world;
