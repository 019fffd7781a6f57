//! Projects of extensions, for their authors: [`new`](fn@new) begins one, [`build`](fn@build) makes its
//! component, and [`sdk`](fn@sdk) puts our SDK into one that has none, or an older one.
//!
//! What always holds: a project that was begun here needs no checkout of acp-chain, and nothing of ours from
//! a registry. What a build makes is in the project's folder `build`; what else the toolchain leaves, git is
//! told to ignore. The author's own toolchain compiles; whatever comes behind that is done here, for all
//! languages alike.

#![forbid(unsafe_code)]

mod bindings;
mod build;
pub mod component;
mod error;
pub mod languages;
mod new;
pub mod toolchain;

pub use build::{BUILD, Built, Purpose, build, output};
pub use error::Error;
pub use languages::{LANGUAGES, Language};
pub use new::{TEMPLATES, new, sdk};
pub use toolchain::Toolchains;
