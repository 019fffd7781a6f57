//! An extension project is created from a template in each language, built by the language's toolchain, and works in
//! the real host as its README describes.

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
