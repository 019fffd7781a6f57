//! Findings: each has a subject, its state, and the fix. All output is escaped for terminals, wherever it comes from,
//! and has no secrets that are found: findings are pasted elsewhere.

use std::fmt::Display;

use serde::Serialize;

use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};
use acp_chain_secrets::masked;

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
            says: quote(&masked(&says.to_string()), 2 * MAX_QUOTE),
            lines: Vec::new(),
            remedy: None,
        }
    }

    /// Adds the output of programs.
    pub(crate) fn with_lines<'l>(mut self, lines: impl IntoIterator<Item = &'l str>) -> Self {
        let lines = lines
            .into_iter()
            .map(|line| quote(&masked(line), MAX_QUOTE));
        self.lines = lines.collect();
        self
    }

    /// Sets the command that fixes the problem.
    pub(crate) fn run(mut self, command: impl Display) -> Self {
        self.remedy = Some(Remedy::Command(shown(&command)));
        self
    }

    /// Sets the step that fixes the problem.
    pub(crate) fn step(mut self, step: impl Display) -> Self {
        self.remedy = Some(Remedy::Step(shown(&step)));
        self
    }
}

fn shown(text: &dyn Display) -> String {
    Untrusted::new(masked(&text.to_string())).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_finding_has_a_secret() {
        let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let command = format!("agent --token {token}");
        let finding = Finding::problem(format!("`{command}` ended"))
            .with_lines([command.as_str()])
            .run(&command);
        let all = serde_json::to_string(&finding).unwrap();
        assert_eq!(all.matches("[redacted: ").count(), 3, "{all}");
        assert!(!all.contains(&token), "{all}");
        let finding = Finding::note("it waits").step(&command);
        let Some(Remedy::Step(step)) = finding.remedy else {
            panic!("there is a step");
        };
        assert!(
            step.starts_with("agent --token ") && !step.contains(&token),
            "{step}"
        );
    }
}
