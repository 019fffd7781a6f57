//! What became of a configuration.

use std::process::ExitCode;

use crate::code_if;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It launches acp-chain now.
    Changed,
    /// There was nothing to change.
    Same,
    /// What would change was printed.
    Printed,
    /// There is none, and what to type was printed.
    Typed,
    /// It no longer launches acp-chain.
    Restored,
    /// The user said no.
    Declined,
    /// It launches acp-chain in a way that `setup` does not undo.
    Left,
    /// There was an error, which was printed.
    Failed,
}

impl Outcome {
    /// Whether it is what the user asked for.
    pub fn is_wanted(self) -> bool {
        !matches!(self, Self::Declined | Self::Left | Self::Failed)
    }

    pub fn code(self) -> ExitCode {
        code_if(self.is_wanted())
    }

    /// For a summary.
    pub fn words(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Same => "nothing to change",
            Self::Printed => "would change",
            Self::Typed => "takes its agent on the command line, as printed above",
            Self::Restored => "restored",
            Self::Declined => "not changed, as you said no",
            Self::Left => "still launches acp-chain, as printed above",
            Self::Failed => "not changed, because of the error above",
        }
    }
}
