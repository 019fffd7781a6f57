//! Agents are installed by name, from archives, npm and Python's index, and run behind the chain; what is not what it was,
//! or not what it should be, is refused, and what was there before goes on.

mod bad;
mod kinds;
mod real;
mod served;
mod stopped;
mod world;
