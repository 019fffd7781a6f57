//! The properties of a message without its body.

/// A neighbour in the chain, and so a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// The predecessor: the side of the editor.
    Client,
    /// The successor: the side of the agent.
    Agent,
}

impl Peer {
    /// The neighbour on the other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }

    /// The name in logs, traces and errors.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Agent => "agent",
        }
    }
}

/// The kind of a message, by its fields (JSON-RPC 2.0 §4 and §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `method` and `id`: requires one answer.
    Request,
    /// `method` without `id`.
    Notification,
    /// `id` and `result`.
    Result,
    /// `id` and `error`.
    Error,
}

impl Kind {
    /// Whether this is a result or an error.
    pub const fn is_response(self) -> bool {
        matches!(self, Self::Result | Self::Error)
    }
}

bitflags::bitflags! {
    /// A set of kinds.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Kinds: u8 {
        /// Requests.
        const REQUEST = 1;
        /// Notifications.
        const NOTIFICATION = 2;
        /// Responses that succeed.
        const RESULT = 4;
        /// Responses that fail.
        const ERROR = 8;
        /// Responses of both sorts.
        const RESPONSE = 4 | 8;
    }
}

impl Kinds {
    /// Whether a kind is in the set.
    pub const fn has(self, kind: Kind) -> bool {
        self.contains(match kind {
            Kind::Request => Self::REQUEST,
            Kind::Notification => Self::NOTIFICATION,
            Kind::Result => Self::RESULT,
            Kind::Error => Self::ERROR,
        })
    }
}

/// The properties by which powers distinguish messages.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The sender, or the side on whose behalf the message is sent.
    pub sender: Peer,
    pub kind: Kind,
    /// For a response, the method of the request.
    pub method: &'a str,
    /// The kind of a `session/update`; `None` for other methods, or if it is malformed.
    pub update: Option<&'a str>,
    /// Whether it arrives while its session, which has a history, is being opened: the agent may replay that.
    pub is_replayed: bool,
}
