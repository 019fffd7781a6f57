//! The proxies of a project run only after its user has agreed to its exact content. Before that, nothing in the
//! repository has an effect.

mod built_in;
mod chain;
mod changed;
mod check;
mod hostile;
mod kills;
mod locator;
mod receipts;
mod run;
mod sessions;
mod signed;
mod trust;
mod values;
pub mod world;
