//! Commands for authors of extensions: creating a project, building it, updating its SDK.

pub mod build;
pub mod new;
pub mod sdk;
