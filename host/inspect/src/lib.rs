//! A page that shows a chain's messages. This program serves it to a browser on the same machine, from trace files and
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
//! Invariants: the content of a trace is untrusted. It is sent only as JSON or plain text, and the page shows it only
//! as text nodes. A file is never completely in memory; of a running chain, the newest lines are.

#![forbid(unsafe_code)]

mod file;
mod log;
mod names;
mod page;
mod report;
mod row;
mod search;
mod server;

pub use file::{OpenFile, follow, open};
pub use log::{Entry, Log, SourceId};
pub use server::{Format, Server, ServerError};
