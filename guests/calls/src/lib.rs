//! Tool calls as agents describe them, and the turns in which they run: for guards.
//!
//! | file | what it is |
//! |---|---|
//! | `request` | a permission request, an elicitation that is one, or a report of a run |
//! | `turns` | the calls of a turn, merged from updates |
//! | `gate` | whether a turn goes on, the lock behind which its calls wait, and whether a yes comes too early |
//! | `call` | a call: its titles, kinds and paths |
//! | `input` | its raw input, and `line`, a command line in it |
//! | `object` | JSON that other programs parse too |
//! | `command` | the programs that its commands run |
//! | `same` | whether it is the same as another one |
//! | `mention` | texts that may be paths |
//! | `uri` | the path in a URI |
//! | `title` | its title, safe to show |
//! | `place` | what a path means: certainly, and in any `reading` |
//! | `directory` | the working directory of a session |
//! | `name`, `fold` | names that file systems may consider equal |
//! | `protected` | names that a wildcard must not stand for |
//! | `glob`, `pattern` | globs for paths, and wildcards within a name |
//! | `verdict` | how certain a match is |
//!
//! Invariants: what cannot be read makes a call unclear, a command that cannot be parsed is in doubt, and memory is
//! bounded.

pub mod call;
pub mod command;
pub mod directory;
pub mod fold;
pub mod gate;
pub mod glob;
mod input;
mod line;
pub mod mention;
mod name;
mod object;
mod pattern;
pub mod place;
mod protected;
mod reading;
pub mod request;
pub mod same;
pub mod title;
pub mod turns;
pub mod uri;
pub mod verdict;
