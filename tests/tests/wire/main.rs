//! Messages on their way through a chain, as both ends see them: which arrive, in which order, as which
//! bytes, and how the others fail. Most rooms play both ends themselves, or have the wild agent at one.

mod agent_process;
mod bad_input;
mod batches;
mod bridge;
mod broken;
mod cancel;
mod dry_run;
mod embedded;
mod extensions;
mod failure;
mod fuzz;
mod kept;
mod kills;
mod losses;
mod many_chains;
mod mcp;
mod native;
mod order;
mod projects;
mod slow;
mod surface;
mod transparency;
mod traps;
mod wild_agent;
