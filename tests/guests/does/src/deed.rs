//! What can be done with a message.

use acp_chain_proxy::{Action, Edit, Error, Peer, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::breaks::Break;

/// One thing to do.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Deed {
    /// Counts, and saves the count.
    Count,
    /// Answers with the count.
    RespondCount,
    /// Answers with who the user is.
    RespondUser,
    /// Says this.
    Log(String),
    /// Sends a notification, and says so if it cannot.
    Tell(Sent),
    /// Sends a request, waits for the answer, and says it.
    Ask(Sent),
    /// Lets the message go on, unless this is in it.
    Unless { pointer: String, is: Value },
    /// Never forgets the message.
    Keep,
    /// Reads the whole body, and writes it anew, if it can.
    Rewrite,
    /// Breaks.
    Break(Break),
    /// Decides, and does nothing more.
    #[serde(untagged)]
    Decide(Decision),
}

/// A message of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sent {
    to: Neighbour,
    pub(crate) method: String,
    pub(crate) params: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Neighbour {
    Client,
    Agent,
}

/// What becomes of the message.
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
    /// It cannot decide, for this reason.
    Fail(String),
}

impl Sent {
    pub(crate) fn peer(&self) -> Peer {
        match self.to {
            Neighbour::Client => Peer::Client,
            Neighbour::Agent => Peer::Agent,
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
