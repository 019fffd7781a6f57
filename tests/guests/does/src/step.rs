//! Actions on a message.

use acp_chain_proxy::{Action, Edit, Error, Peer, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::breaks::Break;

/// One action.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    /// Counts the message, and saves the count.
    Count,
    /// Answers with the count.
    RespondCount,
    /// Answers with the configured user.
    RespondUser,
    /// Loads a value, and answers with it.
    LoadValue,
    /// Stores a value, and answers with what became of it.
    StoreValue,
    /// Adds one to a value, and answers with it.
    CountValue,
    /// Logs this text.
    Log(String),
    /// Sends a notification, and logs a failure.
    Tell(OutgoingMessage),
    /// Sends a request, waits for the answer, and logs it.
    Ask(OutgoingMessage),
    /// Forwards the message, unless it has this value.
    Unless {
        pointer: String,
        is: Value,
    },
    /// Keeps the message in memory for ever.
    Keep,
    /// Parses and rewrites the whole body, if possible.
    Rewrite,
    Break(Break),
    /// Decides on the message.
    #[serde(untagged)]
    Decide(Decision),
}

/// A message to send.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutgoingMessage {
    to: Receiver,
    pub(crate) method: String,
    pub(crate) params: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Receiver {
    Client,
    Agent,
}

/// A decision on the message.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Decision {
    Edit {
        pointer: String,
        value: Value,
    },
    Replace(Value),
    Respond(Value),
    Reject(String),
    Discard,
    Hold,
    /// Fails with this reason.
    Fail(String),
}

impl OutgoingMessage {
    pub(crate) fn peer(&self) -> Peer {
        match self.to {
            Receiver::Client => Peer::Client,
            Receiver::Agent => Peer::Agent,
        }
    }
}

impl Decision {
    pub(crate) fn action(self) -> Result {
        Ok(match self {
            Self::Edit { pointer, value } => Action::Edit(vec![Edit::set(pointer, value)]),
            Self::Replace(body) => Action::Replace(body.into()),
            Self::Respond(result) => Action::Respond(result.into()),
            Self::Reject(why) => Action::Reject(Error::new(Error::INTERNAL, why)),
            Self::Discard => Action::Discard,
            Self::Hold => Action::Hold,
            Self::Fail(reason) => return Err(reason.into()),
        })
    }
}
