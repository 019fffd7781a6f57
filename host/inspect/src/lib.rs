//! A page that shows what a chain does. This program serves it to a browser on the same machine, from trace files and
//! from running chains.
//!
//! | file | what it is |
//! |---|---|
//! | `log` | the index of all lines: a row each, and where its text is |
//! | `row` | the columns of a row |
//! | `names` | names of methods, parts and sessions, each sent once |
//! | `file` | reads lines from a file, even while it grows |
//! | `search` | finds the rows whose bodies contain a text |
//! | `server` | HTTP, and access control |
//! | `page` | the files of the page, embedded in the program |
//! | `report` | the page with some of the lines, as one file |
//!
//! Invariants: everything in a trace is text from outside. It leaves here only as JSON or plain text, and the page
//! makes text nodes of it. A file is never held in memory as a whole; of a running chain, the newest lines are.

#![forbid(unsafe_code)]

mod file;
mod log;
mod names;
mod page;
mod report;
mod row;
mod search;
mod server;

pub use file::{Opened, follow, open};
pub use log::{Entry, Log, SourceId};
pub use server::{Format, Server, ServerError};
