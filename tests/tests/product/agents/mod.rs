//! Agents are installed by name, from archives, npm and Python's index, and run behind the chain; a changed or invalid
//! agent is refused, and the installed version keeps running.

mod bad;
mod kinds;
mod real;
pub mod served;
mod stopped;
pub mod world;
