//! Rules for the extension `permissions`: [`import`] translates those of agents, and [`suggest`](fn@suggest) makes
//! rules of the calls that agents have made. [`insert`] puts them into a manifest. A [`ToolRequest`] is what rules
//! decide about, for an explanation.
//!
//! Invariants: an imported rule never allows what its source did not, as far as one call is told from another by the
//! conditions of `permissions`; so where a rule cannot be said, it is narrowed or left out, which is recorded with its
//! line. If something that denies or asks may be missing, nothing is allowed. A suggested rule allows only what a table
//! has as harmless. The crate only reads files, and runs nothing.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod claude;
mod codex;
mod command;
mod find;
mod gemini;
mod harmless;
mod node;
mod opencode;
mod path;
mod recorded;
mod request;
mod rule;
mod starlark;
mod suggest;
mod write;

pub use find::{Administrators, Folders};
pub use recorded::{Recorded, RecordedCall};
pub use request::{RequestHistory, RequestSearch, SESSION, ToolRequest};
pub use rule::{Decision, Import, Left, Rule, Source};
pub use suggest::{Seen, Suggestion, Tally, suggest};
pub use write::{Misplaced, insert};

/// An agent whose rules are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
}

/// All of them.
pub const AGENTS: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Opencode];

impl Agent {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }
}

/// Translates the rules of an agent. Files that cannot be read are recorded in the result.
pub fn import(agent: Agent, folders: &Folders) -> Import {
    let mut import = Import::default();
    match agent {
        Agent::Claude => claude::read(folders, &mut import),
        Agent::Codex => codex::read(folders, &mut import),
        Agent::Gemini => gemini::read(folders, &mut import),
        Agent::Opencode => opencode::read(folders, &mut import),
    }
    import.finished()
}

#[cfg(test)]
mod tests;
