//! What users read before they decide: what an extension asks for, what the proxies of a project ask for, and what a
//! proxy may do. Everything is lines of text, which the command line prints.
//!
//! Invariant: all text from outside is quoted, and what is of high danger is marked with `!`.
//!
//! | file | what it is |
//! |---|---|
//! | `words` | the permissions and limits of a proxy |
//! | `short` | the permissions of several proxies in three lines |
//! | `about` | an extension, and what it asks for |
//! | `question` | a project: all of it, or what differs from an earlier consent |

#![forbid(unsafe_code)]

pub mod about;
pub mod question;
mod short;
pub mod words;
