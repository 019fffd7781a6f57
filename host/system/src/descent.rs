//! From which processes another one descends.

use serde::{Deserialize, Serialize};

use crate::files::Identity;

/// How a process is related to a running program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Descent {
    /// The program has started it, directly or not: the process itself, its parent and so on, the program last.
    Below(Vec<Ancestor>),
    /// The program has not started it, or one of both has ended.
    Apart,
    /// The system does not tell.
    Unknown,
}

/// A process between another one and the program that has started both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    /// Its id.
    pub id: u32,
    /// When it started, in ticks of the system: the id may have been that of others before.
    pub start: u64,
    /// Its program; `None` if the system does not tell.
    pub program: Option<Identity>,
    /// Whether it is a shell.
    pub is_shell: bool,
    /// Whether it is a shell that runs commands which it was given, and no script.
    pub takes_commands: bool,
    /// Whether one of its arguments is the command in question.
    pub has_command: bool,
}
