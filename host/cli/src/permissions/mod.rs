//! `acp-chain permissions`: the rules of guards about permissions.
//!
//! | file | what it is |
//! |---|---|
//! | `explain` | what rules decide about one request |
//! | `import` | rules of agents, as rules of `permissions` |
//! | `suggest` | rules made of what agents ran |
//! | `output` | how rules are printed, and written into a manifest |

mod explain;
mod import;
mod output;
mod suggest;

use crate::Result;

#[derive(Debug, clap::Subcommand)]
pub enum Permissions {
    /// Say for a permission request, or for a tool before it runs, which rule decides, and why the others do not
    Explain(explain::Explain),
    /// Translate the rules that Claude, Codex, Gemini and opencode have here, and say which cannot be taken over, and
    /// why
    Import(import::Import),
    /// Make rules of the commands that agents have recorded here, or that are in traces: ask about what acts outside,
    /// allow what is known to be harmless
    Suggest(suggest::Suggest),
}

impl Permissions {
    pub fn main(self) -> Result<()> {
        match self {
            Self::Explain(explain) => explain.main(),
            Self::Import(import) => import.main(),
            Self::Suggest(suggest) => suggest.main(),
        }
    }
}
