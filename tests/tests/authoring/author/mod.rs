//! A project of an extension is begun from a template in each language, built by its own toolchain, and does
//! in the real host what its README says.

mod assemblyscript;
mod built;
mod c;
mod javascript;
mod project;
mod python;
mod refused;
mod sdk;
mod turns;
mod tutorial;
mod waits;
