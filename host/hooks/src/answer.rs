//! Decisions, and how the process that an agent started for its hook ends.

use crate::wire::Answer;

/// A decision about a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes on as without a hook.
    Pass,
    /// Before a tool runs: it does not run, for this reason. Afterwards: the model gets this reason in place of the
    /// result.
    Refuse(String),
    /// Before a tool runs: it runs with this input (JSON text).
    Input(String),
    /// After a tool has run: the model gets these texts in place of those of the result, as many as there were.
    Output(Vec<String>),
}

/// The hooks of this agent have no form for a decision.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the hooks of {agent} cannot {what}")]
pub struct CannotCarryOut {
    /// The agent.
    pub agent: &'static str,
    /// What they cannot do.
    pub what: &'static str,
}

impl Answer {
    /// Exit code 0, and this on standard output.
    pub(crate) fn says(stdout: impl ToString) -> Self {
        Self {
            stdout: stdout.to_string(),
            ..Self::default()
        }
    }

    /// Exit code 2, and the reason on standard error: the form of refusal that most agents understand, also without
    /// JSON.
    pub(crate) fn blocks(reason: &str) -> Self {
        Self {
            code: 2,
            stderr: format!("{reason}\n"),
            ..Self::default()
        }
    }
}
