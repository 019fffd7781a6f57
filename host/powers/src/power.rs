//! The definition of a power.

use acp_chain_acp::UPDATES;

use crate::{Actions, Kinds, Peer, Subject};

/// Something that a proxy may do, as a user reads it and as the host checks it.
#[derive(Debug)]
pub struct Power {
    /// Its key in grants: `what.action`.
    pub key: &'static str,
    /// What it allows, for people who do not know the protocol; to be read after `it`.
    pub words: &'static str,
    /// How dangerous that is.
    pub danger: Danger,
    /// Why, as a sentence.
    pub reason: &'static str,
    /// The power without which it is useless.
    pub needs: Option<&'static str>,
    /// What it covers, exactly.
    pub covers: &'static [Cover],
}

/// How dangerous it is to grant a power to a malicious proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    /// It does little harm.
    Low,
    /// It learns, or makes you see, what it should not.
    Medium,
    /// It can make the agent or your editor act against you.
    High,
}

impl Danger {
    /// The step, as a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Messages, and the permitted actions on them.
#[derive(Clone, Copy, Debug)]
pub struct Cover {
    /// The actions.
    pub actions: Actions,
    /// Their sender, or the side on whose behalf the proxy sends them.
    pub sender: Peer,
    /// Their kinds.
    pub kinds: Kinds,
    /// Their methods; for responses, the requests' methods.
    pub methods: &'static [&'static str],
    /// The updates, for `session/update`.
    pub updates: Updates,
    /// For [`Actions::CHANGE`]: the places of the body that may change, see [`crate::Places`].
    pub places: &'static [&'static str],
    /// For [`Actions::READ`]: the places of the body that can be read, where that is not all of it, see
    /// [`Places::part_of`](crate::Places::part_of).
    pub shown: Option<&'static [&'static str]>,
    /// Whether such messages belong to another power, and this one is about a part of them.
    pub is_aside: bool,
}

/// A set of `session/update` notifications, by `/update/sessionUpdate`.
#[derive(Clone, Copy, Debug)]
pub enum Updates {
    /// For other methods.
    None,
    /// These.
    Of(&'static [&'static str]),
    /// Updates that the table does not know.
    Unknown,
}

impl Cover {
    /// Whether it covers messages of this kind, for any method.
    #[must_use]
    pub fn is_about(&self, subject: &Subject) -> bool {
        self.sender == subject.sender
            && self.kinds.contains(subject.kind)
            && match (self.updates, subject.update) {
                (Updates::None, _) => true,
                (Updates::Of(list), Some(update)) => list.contains(&update),
                (Updates::Of(_), None) => false,
                (Updates::Unknown, update) => {
                    update.is_none_or(|update| !UPDATES.contains(&update))
                }
            }
    }
}
