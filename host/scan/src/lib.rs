//! Reads what agents have recorded of their sessions on this machine, and traces of ours, plays it through a chain
//! without starting anything, and reports what would have happened.
//!
//! | file | what it is |
//! |---|---|
//! | `format` | the formats of recordings, and where agents keep them |
//! | `find` | finds recordings in folders |
//! | `readers` | a reader for each format: all yield the same events |
//! | `lines` | lines of bounded length |
//! | `commands` | the commands in recordings, without a chain |
//! | `tokens` | what was used, and what it costs |
//! | `player` | plays events as proxies would see them live |
//! | `words` | what is read out of calls and questions for a report |
//! | `run` | plays recordings side by side |
//! | `findings` | what came of it, bounded |
//! | `report` | the same as text, as JSON and as a page |
//!
//! Invariants: recordings are hostile. Nothing is written, started or sent. No file is kept in memory as a whole, links
//! are not followed, and what is kept of recordings is bounded. A report has no secret that the default rules of
//! `acp-chain-secrets` find, except in names of files.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod commands;
mod event;
mod find;
mod findings;
mod format;
mod lines;
mod masks;
mod player;
mod readers;
pub mod report;
mod run;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

pub use commands::{Unreadable, commands};
pub use find::{Recording, find};
pub use format::{Format, Home};
pub use masks::Masks;
pub use report::Report;
pub use run::{Plan, ScanError, scan};
pub use tokens::{Prices, Tokens};
