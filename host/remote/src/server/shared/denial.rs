//! Why a message may not pass, as an answer over HTTP or over a WebSocket.

use std::time::Duration;

use acp_chain_http::answer::{Answer, bare, plain};
use acp_chain_rpc::{Error, code};
use acp_chain_store::PromptState;
use hyper::StatusCode;
use serde_json::value::RawValue;

use super::super::metrics::{Figures, Refusal};
use super::super::reply::{busy_for, seconds};

/// Why a message may not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// There is no such session, or not for this user.
    Unknown,
    /// What must be known cannot be asked now, perhaps after this time.
    Unavailable(Duration),
    /// Another connection has the session, here or at another replica, for this time unless it goes on.
    Held(Duration),
    /// The agent has given a new session the name of one that another connection has.
    Reused,
    /// The user has as many sessions as may be.
    Full,
    /// The user has sent as many prompts as may be, for this time.
    Spent(Duration),
    /// The user has sent as many bytes as may be, for this time.
    SentMuch(Duration),
    /// The user has as many connections as may be, and after this time perhaps fewer.
    Connections(Duration),
    /// As many turns of the user, or of a group of theirs, run as may, and after this time perhaps fewer.
    Turns(Duration),
    /// As many turns run as may, and after this time it may be the user's.
    Busy(Duration),
    /// A prompt with this key was sent before.
    Prompted(PromptState),
    /// The message names more sessions than could be looked up.
    Many,
}

impl Denial {
    /// The label of the metric, for those that tell of a limit or a failure.
    fn refusal(self) -> Option<Refusal> {
        match self {
            Self::Unavailable(_) => Some(Refusal::Store),
            Self::Held(_) | Self::Reused => Some(Refusal::Held),
            Self::Full => Some(Refusal::Sessions),
            Self::Spent(_) => Some(Refusal::Prompts),
            Self::SentMuch(_) => Some(Refusal::Bytes),
            Self::Connections(_) => Some(Refusal::Connections),
            Self::Turns(_) => Some(Refusal::Shares),
            Self::Busy(_) => Some(Refusal::Turns),
            Self::Unknown | Self::Prompted(_) | Self::Many => None,
        }
    }

    /// Counts it, if it tells of a limit or a failure.
    pub fn counted(self, figures: &Figures) -> Self {
        if let Some(refusal) = self.refusal() {
            figures.refused(refusal);
        }
        self
    }

    /// The status of the answer over HTTP, and the code of the error.
    fn codes(self) -> (StatusCode, i64) {
        match self {
            Self::Unknown => (StatusCode::NOT_FOUND, code::INVALID_PARAMS),
            Self::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL_ERROR),
            Self::Held(_) => (StatusCode::SERVICE_UNAVAILABLE, code::INVALID_REQUEST),
            Self::Reused => (StatusCode::CONFLICT, code::INTERNAL_ERROR),
            Self::Prompted(_) => (StatusCode::CONFLICT, code::INVALID_REQUEST),
            Self::Many => (StatusCode::BAD_REQUEST, code::INVALID_REQUEST),
            Self::Full
            | Self::Spent(_)
            | Self::SentMuch(_)
            | Self::Connections(_)
            | Self::Turns(_)
            | Self::Busy(_) => (StatusCode::TOO_MANY_REQUESTS, code::INVALID_REQUEST),
        }
    }

    /// The answer over HTTP.
    pub fn answer(self) -> Answer {
        let (status, _) = self.codes();
        match self.again() {
            Some(again) => busy_for(status, self.words(), again),
            None if self == Self::Unknown => bare(status),
            None => plain(status, self.words()),
        }
    }

    /// The error in place of an answer of the chain. Its data says after how many seconds to come again.
    pub fn error(self) -> Error {
        let (_, number) = self.codes();
        let mut error = Error::new(number, format!("acp-chain: {}", self.words()));
        if let Some(again) = self.again() {
            let data = format!(r#"{{"retryAfter":{}}}"#, seconds(again));
            error.data = RawValue::from_string(data).ok();
        }
        error
    }

    /// After how long it may be otherwise, if time alone may change it.
    fn again(self) -> Option<Duration> {
        match self {
            Self::Unavailable(again)
            | Self::Held(again)
            | Self::Spent(again)
            | Self::SentMuch(again)
            | Self::Connections(again)
            | Self::Turns(again)
            | Self::Busy(again) => Some(again),
            Self::Unknown | Self::Full | Self::Prompted(_) | Self::Many | Self::Reused => None,
        }
    }

    /// Why, and what to do.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unknown => "there is no such session",
            Self::Unavailable(_) => {
                "what this server must know for that cannot be asked now; retry soon"
            }
            Self::Held(_) => "another connection has this session; end that one, or retry later",
            Self::Reused => {
                "the agent gave a new session the name of one that another connection of yours has; behind replicas with \
                 a store, agents must give each session a name of its own"
            }
            Self::Full => "your limit of open sessions is reached; close one, or end a connection",
            Self::Spent(_) => {
                "the limit of prompts in an hour is reached, yours or that of your group"
            }
            Self::SentMuch(_) => "your limit of bytes in an hour is reached",
            Self::Connections(_) => "your limit of connections is reached",
            Self::Turns(_) => {
                "as many turns run at once as you or your group may have; send the prompt again when one has ended"
            }
            Self::Busy(_) => {
                "as many turns run as this server allows; you are in line, so send the prompt again soon"
            }
            Self::Prompted(PromptState::UnderWay) => {
                "this prompt was sent before, and is not answered yet"
            }
            Self::Prompted(PromptState::Done) => {
                "this prompt was sent before, and was answered; load the session to see it"
            }
            Self::Prompted(PromptState::Lost) => {
                "this prompt was sent before, and lost when its server ended: it was not sent again; send it with another \
                 key if you want it once more"
            }
            Self::Prompted(PromptState::Doubtful) => {
                "this server's store has lost what it knew of prompts in this session: this one may have been sent; load \
                 the session to see whether it was, and send it without a key if you want it, or in a new session"
            }
            Self::Many => "a message may name 16 sessions at most",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_when_to_come_again() {
        let held = Denial::Held(Duration::from_millis(2100));
        let answer = held.answer();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers()["retry-after"], "3");
        let data = held.error().data.unwrap();
        assert_eq!(data.get(), r#"{"retryAfter":3}"#);
        let lost = Denial::Prompted(PromptState::Lost);
        assert_eq!(lost.answer().status(), StatusCode::CONFLICT);
        assert!(lost.error().data.is_none());
        assert_eq!(Denial::Unknown.answer().status(), StatusCode::NOT_FOUND);
    }
}
