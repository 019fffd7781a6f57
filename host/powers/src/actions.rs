//! The actions on a message.

/// A set of actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions(u8);

impl Actions {
    /// To read its body.
    pub const READ: Self = Self(1);
    /// To change it at the places that may change.
    pub const CHANGE: Self = Self(2);
    /// To stop it, or to hold it for a while: a request is refused, a notification dropped, a response turned into an
    /// error.
    pub const REFUSE: Self = Self(4);
    /// To answer a request instead of its receiver.
    pub const ANSWER: Self = Self(8);
    /// To send the proxy's own.
    pub const SEND: Self = Self(16);
    /// All but reading and sending: the actions that decide about a message.
    pub const DECIDE: Self = Self(2 | 4 | 8);
    /// Every action on somebody else's message.
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

    /// The fewest names for this set.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let shown = Self::NAMES.iter().filter(|(name, actions)| match *name {
            // `change` and `answer` include it.
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
    fn a_set_is_named_by_as_few_words_as_say_it() {
        assert_eq!(Actions::ALL.names(), ["read", "change", "answer", "send"]);
        assert_eq!(Actions::REFUSE.names(), ["refuse"]);
        assert_eq!(
            Actions::READ.and(Actions::REFUSE).names(),
            ["read", "refuse"]
        );
        assert_eq!(Actions::CHANGE.names(), ["change"]);
    }
}
