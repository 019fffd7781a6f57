//! Commands for authors of extensions: a project is begun, built, and gets a newer SDK.

pub mod build;
pub mod new;
pub mod sdk;
