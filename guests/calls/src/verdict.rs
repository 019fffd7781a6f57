//! Whether a condition of a rule matches a call.

/// Whether something matches. The order is that of certainty, so that `min` is "and", and `max` is "or".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    No,
    /// The text is ambiguous.
    Maybe,
    Yes,
}

impl Match {
    pub fn sure(matches: bool) -> Self {
        if matches { Self::Yes } else { Self::No }
    }

    pub fn perhaps(may_match: bool) -> Self {
        if may_match { Self::Maybe } else { Self::No }
    }
}
