//! Commands for authors of extensions: a project is begun, and built.

pub mod build;
pub mod new;
