//! The channel to the proxy's two neighbours: all of its calls to the host.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::host;
use crate::pending;
use crate::{Action, Error, Json, MessageId, Peer};

/// Why a call to the host failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// No power covers the call, or it is not allowed here: during the proxy's construction, or for a method reserved
    /// to the host (`initialize`, `proxy/…`, `$/…`).
    #[error("not allowed: {0}")]
    Denied(String),
    /// The message does not exist, or is settled already, possibly by the host.
    #[error("no such message, or it is settled")]
    UnknownMessage,
    /// Not JSON, or not valid for this message.
    #[error("the host rejects it: {0}")]
    Invalid(String),
    /// The proxy has too many outstanding requests, held messages or pauses, or its state is too large.
    #[error("this proxy has too much outstanding, or saves too much")]
    Full,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// The name of this proxy: its `id` in the manifest.
#[must_use]
pub fn id() -> String {
    host::id()
}

/// The time of day, of the machine's clock, which can be wrong and can go back. A component that calls this imports
/// `wasi:clocks/wall-clock`.
#[must_use]
pub fn now() -> SystemTime {
    host::now()
}

/// The key in `_meta` that the proxy may set with the power `marks.add`: `acp-chain/` and its id.
#[must_use]
pub fn mark() -> String {
    format!("acp-chain/{}", id())
}

impl Peer {
    /// Sends this neighbour a request, at once. `.await` waits for the answer; dropping the [`Answer`] before that
    /// cancels the request. If the host does not send it, the answer is an error, which is also logged.
    pub fn request(self, method: &str, params: impl Serialize) -> Answer {
        let sent = json(&params).and_then(|params| host::request(self, method, params));
        Answer::to(method, sent)
    }

    /// Sends this neighbour a notification.
    pub fn notify(self, method: &str, params: impl Serialize) -> Result<(), ChannelError> {
        host::notify(self, method, json(&params)?)
    }
}

/// The answer to one of the proxy's own requests, to be awaited.
#[must_use = "a request whose answer is dropped is withdrawn"]
pub struct Answer(AnswerState);

impl Answer {
    /// The answer to a request that was sent with this number, or that the host rejected.
    pub(crate) fn to(method: &str, sent: Result<MessageId, ChannelError>) -> Self {
        match sent {
            Ok(id) => {
                pending::expect(id);
                Self(AnswerState::For(id))
            }
            Err(refused) => {
                let message = format!("{method} was not sent: {refused}");
                log(Level::Warn, &message);
                Self(AnswerState::Refused(Error::new(Error::INTERNAL, message)))
            }
        }
    }
}

/// Sends the caller of a call a request, see [`Call::ask`](crate::Call::ask).
pub(crate) fn ask(call: MessageId, method: &str, params: &impl Serialize) -> Answer {
    let sent = json(params).and_then(|params| host::ask(call, method, params));
    Answer::to(method, sent)
}

enum AnswerState {
    For(MessageId),
    Refused(Error),
    Done,
}

impl Future for Answer {
    /// The neighbour's result or error; or an error with the code [`Error::INTERNAL`] if the host
    /// did not send the request.
    type Output = Result<Json, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &self.0 {
            AnswerState::For(id) => match pending::take(*id, context.waker()) {
                Some(outcome) => outcome,
                None => return Poll::Pending,
            },
            AnswerState::Refused(error) => Err(error.clone()),
            AnswerState::Done => return Poll::Pending,
        };
        self.0 = AnswerState::Done;
        Poll::Ready(outcome)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let AnswerState::For(id) = self.0
            && pending::abandon(id)
        {
            // Fails if the answer has reached the host meanwhile.
            let _ = host::cancel(id);
        }
    }
}

/// Waits, for 10 ms at least and an hour at most. A proxy that computes for long after a pause gets longer pauses, see
/// `channel.wake-after`.
///
/// # Errors
/// If the pause is longer than an hour, or too many pauses are outstanding.
pub async fn sleep(pause: Duration) -> Result<(), Error> {
    let milliseconds = u32::try_from(pause.as_millis()).unwrap_or(u32::MAX);
    let woken = Answer::to("wake-after", host::wake_after(milliseconds));
    woken.await.map(|_| ())
}

/// Settles a message for which a handler returned [`Action::Hold`]. Messages sent earlier leave before it.
pub fn settle(id: MessageId, action: Action) -> Result<(), ChannelError> {
    host::settle(id, action)
}

/// Gives up on a message for which a handler returned [`Action::Hold`]: it is treated as if that handler had returned
/// an `Err`.
pub fn fail(id: MessageId, reason: &str) -> Result<(), ChannelError> {
    host::fail(id, reason)
}

/// Saves this as JSON, replacing the previous state: if the proxy breaks and is restarted,
/// [`Proxy::restore`](crate::Proxy::restore) gets the last saved state. It is dropped with the connection. A call
/// that breaks saves nothing, just as it sends and settles nothing.
pub fn save(state: &(impl Serialize + ?Sized)) -> Result<(), ChannelError> {
    host::save(json(state)?)
}

/// The part of a message's body at a JSON Pointer; the message must be the one being handled, or a held one. See also
/// [`Head::read`](crate::Head::read).
pub fn read(id: MessageId, pointer: &str) -> Result<Option<Json>, ChannelError> {
    host::read(id, pointer)
}

fn json(value: &(impl Serialize + ?Sized)) -> Result<Json, ChannelError> {
    Json::of(value).map_err(|error| ChannelError::Invalid(error.to_string()))
}

/// The level of a line in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Every step.
    Trace,
    /// For the author.
    Debug,
    /// For users who look.
    Info,
    /// Something failed, and the proxy continued without it.
    Warn,
    /// The proxy could not do its work.
    Error,
}

/// Writes to the host's log. [`debug!`](crate::debug), [`info!`](crate::info) and [`warn!`](crate::warn) do so with the
/// arguments of [`format!`].
pub fn log(level: Level, text: impl fmt::Display) {
    host::log(level, &text.to_string());
}

/// Writes to the host's log at [`Level::Debug`](crate::Level::Debug), with the arguments of [`format!`].
#[macro_export]
macro_rules! debug {
    ($($text:tt)+) => {
        $crate::log($crate::Level::Debug, ::std::format_args!($($text)+))
    };
}

/// Writes to the host's log at [`Level::Info`](crate::Level::Info), with the arguments of [`format!`].
#[macro_export]
macro_rules! info {
    ($($text:tt)+) => {
        $crate::log($crate::Level::Info, ::std::format_args!($($text)+))
    };
}

/// Writes to the host's log at [`Level::Warn`](crate::Level::Warn), with the arguments of [`format!`].
#[macro_export]
macro_rules! warn {
    ($($text:tt)+) => {
        $crate::log($crate::Level::Warn, ::std::format_args!($($text)+))
    };
}
