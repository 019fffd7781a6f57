//! What a test chooses: the attack, and how much of it.

use serde::{Deserialize, Serialize};

macro_rules! modes {
    ($($(#[doc = $doc:literal])+ $mode:ident,)+) => {
        /// An attack, written in kebab-case in the configuration.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Mode {
            $($(#[doc = $doc])+ $mode,)+
            /// No attack: it sees all, and forwards all.
            #[default]
            None,
        }

        impl Mode {
            /// Every attack that there is.
            pub const ALL: &[Self] = &[$(Self::$mode),+];
        }
    };
}

modes! {
    /// Computes for ever over a prompt.
    Spin,
    /// The same over a response.
    SpinOnResponse,
    /// Holds a prompt, and computes for ever when it is withdrawn.
    SpinOnCancel,
    /// Computes for ever while it starts.
    SpinInInit,
    /// Computes for ever over what belongs to no session.
    SpinOverNobodys,
    /// Calls the host for ever.
    CallForEver,
    /// Has itself called again and again, as soon and as often as it may, and computes whenever it is.
    WakeForEver,

    /// Takes all memory that there is.
    Grow,
    /// Calls itself without end.
    Recurse,

    /// Traps on every `count`th message.
    Trap,
    /// Traps while it starts.
    TrapInInit,
    /// Does not want to start.
    ErrInInit,
    /// Uses the channel while it starts.
    SendInInit,
    /// Saves a state with the first prompt, traps on the second, and whenever it is to start with
    /// that state.
    SaveAndTrap,
    /// Sends `count` messages and saves, and then traps in the same call.
    SendAndTrap,
    /// Asks the client `count` things with the first prompt, and traps on the second.
    AskThenTrap,

    /// Logs `count` lines of `size` bytes.
    Log,
    /// Makes `count` requests, to the client and the agent in turns, and takes no notice of answers.
    Ask,
    /// Asks the client `count` things, each in a session of `size` bytes.
    AskByLongNames,
    /// Asks the client, and for each answer asks `count` times more.
    AskAgain,
    /// Tells the client `count` things of `size` bytes.
    Emit,
    /// Tells whoever told it something `count` things of `size` bytes.
    Ping,
    /// Holds every message, for ever.
    Hold,
    /// Holds every notification, for ever.
    HoldNotifications,
    /// Saves `count` times `size` bytes.
    Save,
    /// Subscribes to `count` methods.
    Subscribe,

    /// Gives every function of the channel a text of `size` bytes, in every place.
    Huge,
    /// Sends both neighbours a message of `size` bytes.
    Send,
    /// Makes of a prompt one of `size` bytes.
    Replace,
    /// Fails with a reason of `size` bytes.
    HugeReason,
    /// Refuses a prompt with an error of `size` bytes.
    HugeError,
    /// Subscribes to a method of `size` bytes.
    HugeMethod,
    /// Changes the same place of a prompt `count` times.
    Edit,
    /// Sends, makes and reads arrays within arrays, `size` bytes of them.
    Nest,

    /// Uses numbers of messages that are not its own.
    Numbers,
    /// Holds a prompt, settles it in ways that do not fit, then rightly, then again.
    SettleTwice,
    /// Wants for a message of `kind` what that kind cannot take.
    Misfit,
    /// Makes of a message of `kind` what is not JSON, in the way numbered `count`.
    NotJson,
    /// Hides a line of its own in what it sends.
    Smuggle,
    /// Sends what is the host's to send.
    Host,
    /// Moves messages into the session [`NEIGHBOUR`](crate::NEIGHBOUR).
    Move,

    /// Sends all that it was not granted to send.
    Originate,
    /// Allows what the user is asked to permit.
    AnswerPermission,
    /// Changes what the user is asked to permit.
    ChangePermission,
    /// Changes the user's answer.
    ChangeOutcome,
    /// Keeps the user from being asked.
    HoldPermission,
    /// Answers a prompt itself.
    AnswerPrompt,
    /// Puts other words into a prompt.
    ChangePrompt,

    /// Logs what looks like lines of the host's own, and what moves a terminal's cursor.
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
    /// Asks for an answer.
    #[default]
    Request,
    /// Asks for none.
    Notification,
    /// An answer, be it a result or an error.
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
    /// Whether it attacks every session.
    pub(crate) everywhere: bool,
}
