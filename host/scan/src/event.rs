//! What recordings of all formats have in common.

use acp_chain_hooks as hooks;

use crate::tokens::Tokens;

/// A part of a recording, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// What follows is of this session, which worked in this folder when it was first mentioned.
    Session { id: String, cwd: Option<String> },
    /// The user's prompt: its texts.
    Prompt(Vec<String>),
    /// A tool is about to run, or has run.
    Tool(Box<hooks::Event>),
    /// The model has used these tokens.
    Used { model: String, tokens: Tokens },
    /// The agent reports this cost, in millionths.
    Cost { currency: String, amount: u64 },
}

impl Event {
    pub(crate) fn tool(event: hooks::Event) -> Self {
        Self::Tool(Box::new(event))
    }
}
