//! Clients for people in a terminal: each plays the client of a chain, and shows what the chain does. What they say
//! goes to a [`Screen`]; the command line is not known here.
//!
//! | file | what it is |
//! |---|---|
//! | `turns` | turns with an agent that the user types: `acp-chain try` |
//! | `trial` | turns with a built-in agent: `acp-chain dev` without an agent |
//! | `demo` | two scripted turns: `acp-chain demo` |
//! | `typed` | the common parts: typed lines, messages, and the picture of what the chain did |
//! | `screen` | where texts for the user go, and how they fit |
//! | `error` | why a client cannot go on |

#![forbid(unsafe_code)]

pub mod demo;
mod error;
mod screen;
pub mod trial;
pub mod turns;
pub mod typed;

pub use error::Error;
pub use screen::{Screen, columns, fitted, hung, wrapped};

type Result<T, E = Error> = std::result::Result<T, E>;
