//! The actions on a message.

bitflags::bitflags! {
    /// A set of actions.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Actions: u8 {
        /// Read the body.
        const READ = 1;
        /// Change the body at the permitted places.
        const CHANGE = 2;
        /// Stop or delay the message: a request is rejected, a notification dropped, a response replaced by an error.
        const REFUSE = 4;
        /// Answer a request instead of its receiver.
        const ANSWER = 8;
        /// Send messages of the proxy.
        const SEND = 16;
        /// The actions that decide about a message: all but reading and sending.
        const DECIDE = 2 | 4 | 8;
        /// Every action on messages of others: all but sending.
        const TOUCH = 1 | 2 | 4 | 8;
    }
}

impl Actions {
    /// The names by which a method is granted (`[proxy.methods]`). Answering and changing include refusing.
    pub const NAMES: &[(&str, Self)] = &[
        ("read", Self::READ),
        ("change", Self::CHANGE.union(Self::REFUSE)),
        ("refuse", Self::REFUSE),
        ("answer", Self::ANSWER.union(Self::REFUSE)),
        ("send", Self::SEND),
    ];

    /// The smallest list of names for this set.
    pub fn names(self) -> Vec<&'static str> {
        let shown = Self::NAMES.iter().filter(|(name, actions)| match *name {
            // `change` and `answer` include `refuse`.
            "refuse" => self.contains(*actions) && !self.intersects(Self::CHANGE | Self::ANSWER),
            _ => self.intersects(*actions - Self::REFUSE),
        });
        shown.map(|(name, _)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_as_few_names_as_possible() {
        assert_eq!(Actions::all().names(), ["read", "change", "answer", "send"]);
        assert_eq!(Actions::REFUSE.names(), ["refuse"]);
        assert_eq!(
            (Actions::READ | Actions::REFUSE).names(),
            ["read", "refuse"]
        );
        assert_eq!(Actions::CHANGE.names(), ["change"]);
    }
}
