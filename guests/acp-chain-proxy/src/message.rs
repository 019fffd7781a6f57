//! Messages that pass through a proxy, and actions on them.

use acp_chain_acp::{Life, UPDATE};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Json;

/// The host's number for one message at this proxy. Never used twice, and below 2^53.
pub type MessageId = u64;

/// A neighbour of this proxy in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// The predecessor: the side of the editor.
    Client,
    /// The successor: the side of the agent.
    Agent,
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Error {
    /// The code, see JSON-RPC 2.0 §5.1 and the protocol's `ErrorCode`.
    pub code: i32,
    /// One sentence for a human.
    pub message: String,
    /// Further data, in any form.
    pub data: Option<Json>,
}

impl Error {
    /// The code of JSON-RPC's internal error.
    pub const INTERNAL: i32 = -32603;
    /// The code of a cancelled request.
    pub const CANCELLED: i32 = -32800;

    /// An error without data.
    #[must_use]
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The answer to a cancelled request.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(Self::CANCELLED, "Request cancelled")
    }
}

/// The properties of a message of any kind.
#[derive(Clone, Debug)]
pub struct Head {
    /// The host's number for this message.
    pub id: MessageId,
    /// The neighbour that sent the message.
    pub sender: Peer,
    /// The method; for a response, that of the request.
    pub method: String,
    /// The session that the message names, if any.
    pub session: Option<String>,
    /// The size of the body in bytes.
    pub size: u64,
}

impl Head {
    /// The part of the body at a JSON Pointer, read from the host's copy: for messages without their body. `None` if
    /// there is no part, it has another type, or the host refuses because the call has read too much.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self, pointer: &str) -> Option<T> {
        crate::channel::read(self.id, pointer).ok()??.parse().ok()
    }

    /// Whether the message is the update by which the agent ends its work in a session, from version 2 on (v2, Prompt
    /// Lifecycle). Reads the body.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let is = |pointer: &str, text| self.read::<String>(pointer).as_deref() == Some(text);
        self.method == UPDATE
            && is("/update/sessionUpdate", "state_update")
            && is("/update/state", "idle")
    }
}

impl Response {
    /// Whether the response ends the turn of a prompt: with an error, or, in version 1, with a stop reason. From
    /// version 2 on, a result only confirms that the agent has the prompt, and an [update](Head::is_idle) ends the
    /// turn. Reads the body.
    #[must_use]
    pub fn ends_turn(&self) -> bool {
        Life::of(&self.head.method) == Life::Prompts
            && (self.outcome.is_err() || self.head.read::<String>("/stopReason").is_some())
    }
}

/// A request to decide about.
#[derive(Clone, Debug)]
pub struct Request {
    /// Number, sender, method, session, size.
    pub head: Head,
    /// The body; `null` if the request has none or the subscription is without body.
    pub params: Json,
}

/// A notification to decide about.
#[derive(Clone, Debug)]
pub struct Notification {
    /// Number, sender, method, session, size.
    pub head: Head,
    /// The body; `null` if the notification has none or the subscription is without body.
    pub params: Json,
}

/// A response to decide about. Answers to the proxy's own requests come through [`Answer`](crate::Answer) instead.
#[derive(Clone, Debug)]
pub struct Response {
    /// The number is that of the request, if the proxy saw the request.
    pub head: Head,
    /// The result or the error; a result is `null` if the subscription is without body.
    pub outcome: Result<Json, Error>,
}

impl Request {
    /// The parameters as a Rust type, for instance (with the feature `typed`) one of the protocol's.
    ///
    #[cfg_attr(feature = "typed", doc = "```")]
    #[cfg_attr(not(feature = "typed"), doc = "```text")]
    /// use acp_chain_proxy::{Action, Proxy, Request, Result, schema::v1::PromptRequest};
    ///
    /// #[derive(Default)]
    /// struct Quiet;
    ///
    /// impl Proxy for Quiet {
    ///     async fn on_request(&self, request: Request) -> Result {
    ///         let prompt: PromptRequest = request.parse()?;
    ///         if prompt.prompt.is_empty() {
    ///             return Err("there is nothing in this prompt".into());
    ///         }
    ///         Ok(Action::Forward)
    ///     }
    /// }
    /// ```
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        self.params.parse()
    }

    /// Rewrites one part of the parameters and sends the request on; unchanged if there is no part of the type `T`. The
    /// rest stays byte for byte.
    #[must_use]
    pub fn rewrite<T: DeserializeOwned, U: Serialize>(
        &self,
        pointer: &str,
        change: impl FnOnce(T) -> U,
    ) -> Action {
        Action::rewrite(&self.params, pointer, change)
    }
}

impl Notification {
    /// The parameters as a Rust type, for instance one of the `schema` module.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        self.params.parse()
    }

    /// Rewrites one part of the parameters and sends the notification on; unchanged if there is no part of the type
    /// `T`. The rest stays byte for byte.
    #[must_use]
    pub fn rewrite<T: DeserializeOwned, U: Serialize>(
        &self,
        pointer: &str,
        change: impl FnOnce(T) -> U,
    ) -> Action {
        Action::rewrite(&self.params, pointer, change)
    }
}

/// A change to one place of a body, which the host makes.
///
/// The place is a [JSON Pointer](https://www.rfc-editor.org/rfc/rfc6901) to a value. Its last part may name a new
/// member, which is then added to the object, or be `-`, which appends an element to the array. A pointer to no valid
/// place is an error of the proxy.
///
/// ```
/// use acp_chain_proxy::{Action, Edit};
/// use serde_json::json;
///
/// let block = json!({ "type": "text", "text": "Be brief." });
/// Action::Edit(vec![Edit::set("/prompt/-", block), Edit::remove("/_meta")]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The place to change, a JSON Pointer.
    pub pointer: String,
    /// The new value; `None` removes the existing one.
    pub value: Option<Json>,
}

impl Edit {
    /// Replaces or adds a value, and creates the objects that are missing on the way.
    #[must_use]
    pub fn set(pointer: impl Into<String>, value: impl Into<Json>) -> Self {
        Self {
            pointer: pointer.into(),
            value: Some(value.into()),
        }
    }

    /// Removes the value.
    #[must_use]
    pub fn remove(pointer: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            value: None,
        }
    }
}

/// What to do with a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Goes on unchanged, byte for byte.
    Forward,
    /// Goes on with these changes to its body, made one after the other. The rest stays byte for byte. The body need
    /// not have been seen. Not for error responses.
    Edit(Vec<Edit>),
    /// Goes on with this body instead of its own. A response goes on as this result.
    Replace(Json),
    /// Requests: answered here with this result, and never sent on.
    Respond(Json),
    /// Requests: answered here with this error. Responses: go on as this error.
    Reject(Error),
    /// Notifications: dropped.
    Discard,
    /// Kept by the host until the proxy calls [`settle`](crate::settle). Not needed for waiting: a handler that awaits
    /// something holds its message without this. Later messages pass a held one, but a response waits for earlier held
    /// notifications of its session and direction: a proxy that holds notifications must subscribe to that response,
    /// and settle them when it comes.
    Hold,
}

impl Action {
    fn rewrite<T: DeserializeOwned, U: Serialize>(
        body: &Json,
        pointer: &str,
        change: impl FnOnce(T) -> U,
    ) -> Self {
        let new = body.at(pointer).map(|old| Json::of(&change(old)));
        match new {
            Some(Ok(new)) => Self::Edit(vec![Edit::set(pointer, new)]),
            Some(Err(_)) | None => Self::Forward,
        }
    }
}
