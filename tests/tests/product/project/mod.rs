//! The proxies of a project run after its user has said yes to just what it is, and before that nothing of it
//! does anything: whatever is in the repository.

mod built_in;
mod chain;
mod changed;
mod check;
mod hostile;
mod kills;
mod locator;
mod run;
mod sessions;
mod signed;
mod trust;
pub mod world;
