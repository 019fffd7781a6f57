//! `acp-chain dev`: each save is built and swapped into the running chain, and neither the client nor the agent
//! notices anything else.

mod author;
mod ends;
mod safe;
mod saves;
mod swaps;
mod trial;
