//! What a proxy can reach and do, and what an attack by a proxy achieves. Each room needs only components in Rust.

mod compiling;
mod directories;
mod guards;
mod hidden;
mod hooks;
mod hostile;
mod lines;
mod powers;
mod rights;
mod sandbox;
