//! A page that shows a chain's messages. This program serves it to a browser on the same machine, from trace files and
//! from running chains.
//!
//! | file | what it is |
//! |---|---|
//! | `log` | the index of all lines: a row each, and where its text is |
//! | `connection` | a connection, with the names of its ends |
//! | `row` | the columns of a row |
//! | `said` | what a message says: a row's text |
//! | `turns` | when turns begin and end |
//! | `conversation` | a turn as what was said in it, with what each proxy did |
//! | `names` | names of methods, parts and sessions, each sent once |
//! | `file` | reads lines from a file, even while it grows |
//! | `running` | reads the lines of all running chains |
//! | `search` | finds the rows whose bodies contain a text |
//! | `server` | HTTP, and access control |
//! | `page` | the files of the page, embedded in the program |
//! | `report` | the page with some of the lines, as one file |
//!
//! Invariants: the content of a trace is untrusted. It is sent only as JSON or plain text, and the page shows it only
//! as text nodes. A file is never completely in memory; of a running chain, the newest lines are.

#![forbid(unsafe_code)]

mod connection;
mod conversation;
mod file;
mod log;
mod names;
mod page;
mod report;
mod row;
mod running;
mod said;
mod search;
mod server;
mod turns;

pub use file::{OpenFile, follow, open};
pub use log::{Entry, Log, SourceId};
pub use running::follow_chains;
pub use server::{Format, Server, ServerError};
