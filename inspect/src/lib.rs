//! A page that shows what a chain does: served by this program to a browser of the same machine, from traces in files
//! and from chains that run.
//!
//! | file | what it is |
//! |---|---|
//! | `log` | what is known of all lines: a row each, and where its text is |
//! | `row` | what a row says |
//! | `names` | names of methods, parts and sessions, each sent once |
//! | `file` | lines out of a file, also while it grows |
//! | `search` | the rows whose bodies have a text |
//! | `server` | HTTP, and who may speak it |
//! | `page` | the files of the page, which are in the program |
//! | `report` | the page with some of the lines, as one file |
//!
//! What always holds: all that a trace says is text from outside. It leaves here as JSON or plain text alone, and the
//! page makes text nodes of it. A file is never held in memory as a whole; of a chain that runs, the newest lines are.

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
