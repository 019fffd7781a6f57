//! Commands about extensions: one file each, and their common parts.

pub mod add;
pub mod bundle;
pub mod gc;
pub mod info;
pub mod install;
pub mod list;
pub mod package;
pub mod publish;
pub mod remove;
pub mod update;

pub mod about;
mod candidate;
pub mod consent;
pub mod folder;
pub mod place;
