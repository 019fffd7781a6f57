//! `acp-chain dev`: what its author saves is built, and takes its place in the chain that runs, of which nobody at
//! the ends notices anything else.

mod author;
mod ends;
mod safe;
mod saves;
mod swaps;
mod trial;
