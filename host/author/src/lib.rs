//! Projects of extensions: [`new`](fn@new) creates one, [`build`](fn@build) builds its component, and [`sdk`](fn@sdk)
//! adds or updates the SDK.
//!
//! Invariants: a project created here needs no checkout of acp-chain, and no package of ours from a registry. Build
//! results are in the project's folder `build`; other files of the toolchain are in `.gitignore`. The author's own
//! toolchain compiles; all later steps happen here, the same for all languages.

#![forbid(unsafe_code)]

mod bindings;
mod build;
pub mod component;
mod error;
pub mod languages;
mod new;
pub mod toolchain;

pub use build::{BuiltExtension, Purpose, build, output};
pub use error::Error;
pub use languages::{BUILD, LANGUAGES, Language};
pub use new::{TEMPLATES, new, sdk};
pub use toolchain::Toolchains;
