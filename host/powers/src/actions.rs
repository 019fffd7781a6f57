//! The actions on a message.

/// A set of actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions(u8);

impl Actions {
    /// Read the body.
    pub const READ: Self = Self(1);
    /// Change the body at the permitted places.
    pub const CHANGE: Self = Self(2);
    /// Stop or delay the message: a request is rejected, a notification dropped, a response replaced by an error.
    pub const REFUSE: Self = Self(4);
    /// Answer a request instead of its receiver.
    pub const ANSWER: Self = Self(8);
    /// Send messages of the proxy.
    pub const SEND: Self = Self(16);
    /// The actions that decide about a message: all but reading and sending.
    pub const DECIDE: Self = Self(2 | 4 | 8);
    /// Every action on messages of others: all but sending.
    pub const TOUCH: Self = Self(1 | 2 | 4 | 8);
    /// All actions.
    pub const ALL: Self = Self(1 | 2 | 4 | 8 | 16);

    /// The names by which a method is granted (`[proxy.methods]`). Answering and changing include refusing.
    pub const NAMES: &[(&str, Self)] = &[
        ("read", Self::READ),
        ("change", Self(2 | 4)),
        ("refuse", Self::REFUSE),
        ("answer", Self(4 | 8)),
        ("send", Self::SEND),
    ];

    /// Whether the two sets have an action in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The actions of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The smallest list of names for this set.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let shown = Self::NAMES.iter().filter(|(name, actions)| match *name {
            // `change` and `answer` include `refuse`.
            "refuse" => self.meets(Self::REFUSE) && !self.meets(Self::CHANGE.and(Self::ANSWER)),
            _ => self.0 & actions.0 & !Self::REFUSE.0 != 0,
        });
        shown.map(|(name, _)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_as_few_names_as_possible() {
        assert_eq!(Actions::ALL.names(), ["read", "change", "answer", "send"]);
        assert_eq!(Actions::REFUSE.names(), ["refuse"]);
        assert_eq!(
            Actions::READ.and(Actions::REFUSE).names(),
            ["read", "refuse"]
        );
        assert_eq!(Actions::CHANGE.names(), ["change"]);
    }
}
