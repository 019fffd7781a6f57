//! The test's configuration: the attack and its amount.

use serde::{Deserialize, Serialize};

macro_rules! modes {
    ($($(#[doc = $doc:literal])+ $mode:ident,)+) => {
        /// An attack, written in kebab-case in the configuration.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Mode {
            $($(#[doc = $doc])+ $mode,)+
            /// No attack: forwards every message.
            #[default]
            None,
        }

        impl Mode {
            /// Every attack.
            pub const ALL: &[Self] = &[$(Self::$mode),+];
        }
    };
}

modes! {
    /// Computes for ever on a prompt.
    Spin,
    /// Computes for ever on a response.
    SpinOnResponse,
    /// Holds a prompt, and computes for ever when the prompt is cancelled.
    SpinOnCancel,
    /// Computes for ever at start.
    SpinInInit,
    /// Computes for ever on a message without a session.
    SpinOverNobodys,
    /// Calls the host for ever.
    CallForEver,
    /// Asks to be called again as soon and as often as permitted, and computes in each call.
    WakeForEver,

    /// Allocates without end.
    Grow,
    /// Recurses without end.
    Recurse,

    /// Traps on every `count`th message.
    Trap,
    /// Traps at start.
    TrapInInit,
    /// Fails to start with an error.
    ErrInInit,
    /// Uses the channel at start.
    SendInInit,
    /// Saves a state on the first prompt, and traps on the second and on every start with that state.
    SaveAndTrap,
    /// Sends `count` messages, saves, and traps in the same call.
    SendAndTrap,
    /// Sends the client `count` requests on the first prompt, and traps on the second.
    AskThenTrap,

    /// Logs `count` lines of `size` bytes.
    Log,
    /// Sends `count` requests, to the client and the agent in turn, and ignores the answers.
    Ask,
    /// Sends the client `count` requests, each in a session with an id of `size` bytes.
    AskByLongNames,
    /// Sends the client `count` requests on a prompt, and as many more for each answer.
    AskAgain,
    /// Sends the client `count` notifications of `size` bytes.
    Emit,
    /// Sends the sender of a `_hostile/` notification `count` more of `size` bytes.
    Ping,
    /// Holds every message, for ever.
    Hold,
    /// Holds every notification, for ever.
    HoldNotifications,
    /// Saves `count` times `size` bytes.
    Save,
    /// Stores and loads values of `size` bytes as often as permitted, and again with each outcome.
    StoreForEver,
    /// Subscribes to `count` methods.
    Subscribe,

    /// Passes a text of `size` bytes to every function of the channel, in every place.
    Huge,
    /// Sends both neighbours a message of `size` bytes.
    Send,
    /// Replaces a prompt with one of `size` bytes.
    Replace,
    /// Fails with a reason of `size` bytes.
    HugeReason,
    /// Rejects a prompt with an error of `size` bytes.
    HugeError,
    /// Subscribes to a method of `size` bytes.
    HugeMethod,
    /// Changes the same place of a prompt `count` times.
    Edit,
    /// Sends, returns and reads `size` bytes of nested arrays.
    Nest,

    /// Uses numbers of messages that are not its own.
    Numbers,
    /// Holds a prompt, settles it in invalid ways, then correctly, then again.
    SettleTwice,
    /// Returns an action that a message of `kind` does not permit.
    Misfit,
    /// Returns invalid JSON for a message of `kind`, in the way numbered `count`.
    NotJson,
    /// Hides a line in the messages that it sends.
    Smuggle,
    /// Sends messages that only the host may send.
    Host,
    /// Moves messages into the session [`NEIGHBOUR`](crate::NEIGHBOUR).
    Move,

    /// Sends every message that it was not granted to send.
    Originate,
    /// Grants a permission request.
    AnswerPermission,
    /// Changes a permission request.
    ChangePermission,
    /// Changes the user's answer to a permission request.
    ChangeOutcome,
    /// Holds a permission request.
    HoldPermission,
    /// Answers a prompt.
    AnswerPrompt,
    /// Changes the text of a prompt.
    ChangePrompt,

    /// Logs text that looks like lines of the host, with control sequences for terminals.
    LogLines,
    /// Panics with such a text.
    PanicLines,
    /// Fails with such a reason.
    ReasonLines,
}

/// A kind of message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A message that expects an answer.
    #[default]
    Request,
    /// A message that expects no answer.
    Notification,
    /// An answer: a result or an error.
    Response,
}

/// The table from the manifest.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) mode: Mode,
    pub(crate) count: u32,
    pub(crate) size: usize,
    pub(crate) kind: Kind,
    /// Whether to attack every session.
    pub(crate) everywhere: bool,
}
