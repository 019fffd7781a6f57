//! Findings of a check.

/// Something that a component does not withstand, or that its author should know.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether the check fails by it; else it is a warning.
    pub is_failure: bool,
    /// Whether there is nothing more to check then.
    pub is_last: bool,
    /// The problem, in a self-contained sentence.
    pub what: String,
    /// The shortest case that shows it, in lines: `-` is what was to come, and `+` what came.
    pub case: Vec<String>,
    /// What to do, if it is not what its check says.
    pub remedy: Option<&'static str>,
}

impl Finding {
    /// The check fails.
    pub fn failure(what: impl Into<String>) -> Self {
        Self {
            is_failure: true,
            is_last: false,
            what: what.into(),
            case: Vec::new(),
            remedy: None,
        }
    }

    /// The check holds, and yet.
    pub fn warning(what: impl Into<String>) -> Self {
        Self {
            is_failure: false,
            ..Self::failure(what)
        }
    }

    /// With the case that shows it.
    #[must_use]
    pub fn with_case(mut self, case: impl IntoIterator<Item = String>) -> Self {
        self.case.extend(case);
        self
    }

    /// With what to do about it.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &'static str) -> Self {
        self.remedy = Some(remedy);
        self
    }
}
