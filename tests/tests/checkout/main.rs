//! Consistency of the checkout. The only programs that run are `cargo xtask`, which names missing tools, acp-chain's
//! help, and the checker of workflows, one of the peers.

mod book;
mod extensions;
mod languages;
mod layout;
mod prerequisites;
mod targets;
mod workflows;
