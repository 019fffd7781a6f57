//! Findings: each has a subject, its state, and the fix. All output is escaped for terminals, wherever it comes from.

use std::fmt::Display;

use serde::Serialize;

use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The state of a finding's subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There is nothing to do.
    Fine,
    /// Everything works, but the user should know this.
    Note,
    /// Something does not work.
    Problem,
}

/// The fix.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Remedy {
    /// A shell command.
    Command(String),
    /// An instruction to the user.
    Step(String),
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub state: State,
    pub says: String,
    /// The output of programs, line by line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

impl Finding {
    pub(crate) fn fine(says: impl Display) -> Self {
        Self::new(State::Fine, &says)
    }

    pub(crate) fn note(says: impl Display) -> Self {
        Self::new(State::Note, &says)
    }

    pub(crate) fn problem(says: impl Display) -> Self {
        Self::new(State::Problem, &says)
    }

    fn new(state: State, says: &dyn Display) -> Self {
        Self {
            state,
            says: Untrusted::within(says, 2 * MAX_QUOTE).to_string(),
            lines: Vec::new(),
            remedy: None,
        }
    }

    /// Adds the output of programs.
    pub(crate) fn with_lines<'l>(mut self, lines: impl IntoIterator<Item = &'l str>) -> Self {
        let lines = lines.into_iter().map(|line| quote(line, MAX_QUOTE));
        self.lines = lines.collect();
        self
    }

    /// Sets the command that fixes the problem.
    pub(crate) fn run(mut self, command: impl Display) -> Self {
        self.remedy = Some(Remedy::Command(Untrusted::new(command).to_string()));
        self
    }

    /// Sets the step that fixes the problem.
    pub(crate) fn step(mut self, step: impl Display) -> Self {
        self.remedy = Some(Remedy::Step(Untrusted::new(step).to_string()));
        self
    }
}
