//! The definition of a power.

use acp_chain_acp::UPDATES;

use crate::{Actions, Kinds, Peer, Subject};

/// A permission of a proxy, in the form shown to users and in the form that the host checks.
#[derive(Debug)]
pub struct Power {
    /// The key in grants: `what.action`.
    pub key: &'static str,
    /// What the power allows, for readers who do not know the protocol; to be read after `it`.
    pub words: &'static str,
    pub danger: Danger,
    /// The reason for `danger`, as a sentence without capital and full stop.
    pub reason: &'static str,
    /// The power that must be granted, too.
    pub needs: Option<&'static str>,
    /// The covered messages.
    pub covers: &'static [Cover],
}

/// How dangerous it is to grant a power to a malicious proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    /// The proxy can do little harm.
    Low,
    /// The proxy can learn, or show to the user, what it should not.
    Medium,
    /// The proxy can make the agent or the editor act against the user.
    High,
}

impl Danger {
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
    pub actions: Actions,
    /// The sender, or the side on whose behalf the proxy sends.
    pub sender: Peer,
    pub kinds: Kinds,
    /// For responses, the methods of the requests.
    pub methods: &'static [&'static str],
    /// The kinds of updates, for `session/update`.
    pub updates: Updates,
    /// For [`Actions::CHANGE`]: the places of the body that may change, see [`crate::Places`].
    pub places: &'static [&'static str],
    /// For [`Actions::READ`]: the places of the body that can be read, see [`Places::part_of`](crate::Places::part_of);
    /// `None` for the whole body.
    pub shown: Option<&'static [&'static str]>,
    /// Whether the messages mainly belong to another power, and this one covers a part of them.
    pub is_aside: bool,
}

/// A set of `session/update` notifications, by `/update/sessionUpdate`.
#[derive(Clone, Copy, Debug)]
pub enum Updates {
    /// For other methods.
    None,
    /// The updates of these kinds.
    Of(&'static [&'static str]),
    /// Those that an agent replays.
    Replayed(&'static [&'static str]),
    /// Updates of kinds that are not in the protocol.
    Unknown,
}

impl Cover {
    /// Whether it covers messages of this sender, kind and update, regardless of the method.
    pub fn is_about(&self, subject: &Subject) -> bool {
        self.sender == subject.sender
            && self.kinds.has(subject.kind)
            && match (self.updates, subject.update) {
                (Updates::None, _) => true,
                (Updates::Of(list), Some(update)) => list.contains(&update),
                (Updates::Replayed(list), Some(update)) => {
                    subject.is_replayed && list.contains(&update)
                }
                (Updates::Of(_) | Updates::Replayed(_), None) => false,
                (Updates::Unknown, update) => {
                    update.is_none_or(|update| !UPDATES.contains(&update))
                }
            }
    }
}
