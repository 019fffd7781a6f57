//! The kinds of agents.

use serde::{Deserialize, Serialize};

/// The kind of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An archive.
    Binary,
    /// An npm package.
    Npx,
    /// A Python package.
    Uvx,
    /// The user's own command.
    #[default]
    Command,
}

impl Kind {
    /// The name in registries and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Npx => "npx",
            Self::Uvx => "uvx",
            Self::Command => "command",
        }
    }

    /// How to replace an installation whose name is taken.
    pub(crate) fn replacement(self, name: &str) -> String {
        match self {
            Self::Command => format!(
                "it is a command of your own; `acp-chain agent remove {name}` forgets it, and the name is free"
            ),
            _ => format!(
                "`acp-chain agent update {name}` looks for a newer version, and `acp-chain agent remove {name}` removes it"
            ),
        }
    }

    /// How to repair a broken installation.
    pub(crate) fn repair(self, name: &str) -> String {
        match self {
            Self::Command => format!(
                "`acp-chain agent remove {name}`, and `acp-chain agent add {name} -- COMMAND` with the new path"
            ),
            _ => format!("`acp-chain agent update {name}` installs it again"),
        }
    }
}
