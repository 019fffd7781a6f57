//! Findings of a check.

use super::report::Verdict;

/// A failure of a component, or a warning for its author.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The verdict on the check: failed, or a warning.
    pub verdict: Verdict,
    /// Whether later checks are skipped.
    pub is_last: bool,
    /// The problem, in a self-contained sentence.
    pub what: String,
    /// The shortest case that shows the problem, in lines: `-` is the expected message, and `+` the actual one.
    pub case: Vec<String>,
    /// The remedy, if it differs from the check's.
    pub remedy: Option<&'static str>,
}

impl Finding {
    /// The check fails.
    pub fn failure(what: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Failed,
            is_last: false,
            what: what.into(),
            case: Vec::new(),
            remedy: None,
        }
    }

    /// The check passes, with a warning.
    pub fn warning(what: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Warning,
            ..Self::failure(what)
        }
    }

    /// With the case that shows it.
    #[must_use]
    pub fn with_case(mut self, case: impl IntoIterator<Item = String>) -> Self {
        self.case.extend(case);
        self
    }

    /// With a remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &'static str) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

/// The findings of a check that stops at the first.
pub fn first(checked: Result<(), Finding>) -> Vec<Finding> {
    checked.err().into_iter().collect()
}
