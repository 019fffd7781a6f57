//! A call to something that a proxy offers the agent: a tool, a resource, a prompt, or a completion.

use std::future::Future;
use std::pin::Pin;

use serde::Serialize;

use crate::channel::{self, Answer};
use crate::{Action, Error, Json, MessageId, Result, host, tasks};

/// A call to something that a proxy offers the agent.
#[derive(Clone, Debug)]
pub struct Call<A> {
    /// The host's number for this call.
    pub id: MessageId,
    /// The session that the call belongs to; `None` until the agent has named it.
    pub session: Option<String>,
    /// The arguments of the call.
    pub arguments: A,
}

/// The pointer to the caller's capabilities in the `_meta` of a call.
const CAPABILITIES: &str = "/io.modelcontextprotocol~1clientCapabilities";

impl<A> Call<A> {
    pub(crate) fn new(id: MessageId, session: Option<String>, arguments: A) -> Self {
        Self {
            id,
            session,
            arguments,
        }
    }

    /// Reports the progress of this call. `progress` must grow from one report to the next; `total` is its final value,
    /// if known; `message` is for people. A caller that did not request progress receives no reports.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        // Continue without it: only the caller would miss the report.
        if let Err(error) = host::progress(self.id, progress, total, message) {
            crate::debug!("progress was not reported: {error}");
        }
    }

    /// The call's `_meta` (MCP), an object.
    #[must_use]
    pub fn meta(&self) -> Json {
        host::meta(self.id).unwrap_or_else(|_| Json::null())
    }

    /// Whether the caller declares this capability: `elicitation`, `sampling`, `roots`.
    #[must_use]
    pub fn can(&self, capability: &str) -> bool {
        let place = format!("{CAPABILITIES}/{capability}");
        self.meta().at::<Json>(&place).is_some()
    }

    /// Sends the caller a request: MCP's `elicitation/create`, `sampling/createMessage` or `roots/list`. The caller
    /// must [support](Self::can) it. `.await` waits for the answer, as long as the call itself may take.
    ///
    /// ```
    /// use acp_chain_proxy::{Call, Result};
    /// use serde_json::json;
    ///
    /// async fn name<A>(call: &Call<A>) -> Result<Option<String>> {
    ///     let params = json!({
    ///         "message": "What is it called?",
    ///         "requestedSchema": {
    ///             "type": "object",
    ///             "properties": { "name": { "type": "string" } },
    ///             "required": ["name"],
    ///         },
    ///     });
    ///     let answer = call.ask("elicitation/create", params).await?;
    ///     Ok(answer.at("/content/name"))
    /// }
    /// ```
    pub fn ask(&self, method: &str, params: impl Serialize) -> Answer {
        channel::ask(self.id, method, &params)
    }
}

/// A protocol error with which a call fails: the caller receives it instead of a result, and the model may never see
/// it. For problems of the call itself, not of its subject.
///
/// ```
/// use acp_chain_proxy::{Call, Error, ProtocolError, Result};
///
/// async fn closed(_: Call<String>) -> Result<String> {
///     Err(ProtocolError(Error::new(Error::INTERNAL, "there is no session yet")).into())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ProtocolError(pub Error);

/// A call that a proxy has begun to serve.
pub(crate) type RunningCall<T> = Pin<Box<dyn Future<Output = Result<T>>>>;

/// Keeps the proxy of this component for one of its offers, with its type erased.
macro_rules! provider {
    ($provider:ident: $erased:ident of $offer:ident, $early:literal) => {
        thread_local! {
            static $provider: ::std::cell::RefCell<Option<Rc<dyn $erased>>> =
                const { ::std::cell::RefCell::new(None) };
        }

        /// Registers a proxy with this offer.
        pub fn started<P: $offer>(proxy: &Rc<P>) {
            $provider.set(Some(Rc::clone(proxy) as Rc<dyn $erased>));
        }

        fn provider() -> ::std::result::Result<Rc<dyn $erased>, String> {
            $provider
                .with_borrow(Clone::clone)
                .ok_or_else(|| $early.into())
        }

        #[cfg(not(target_arch = "wasm32"))]
        pub(crate) fn clear() {
            $provider.set(None);
        }
    };
}
pub(crate) use provider;

/// The protocol error for a call that the proxy cannot serve.
pub(crate) fn internal(why: String) -> Error {
    Error::new(Error::INTERNAL, why)
}

/// Runs a call as a task, like the handler of a message. `None` if the call is pending: it is settled when the task
/// finishes, and dropped when the caller cancels it.
pub(crate) fn make(
    id: MessageId,
    call: impl Future<Output = Result<Json>> + 'static,
) -> std::result::Result<Option<Json>, Error> {
    let outcome = tasks::handle(id, async move {
        match call.await {
            Ok(result) => Ok(Action::Respond(result)),
            Err(failure) => Ok(Action::Reject(match failure.downcast::<ProtocolError>() {
                Ok(error) => error.0,
                Err(failure) => Error::new(Error::INTERNAL, failure.to_string()),
            })),
        }
    });
    match outcome.map_err(internal)? {
        Action::Respond(result) => Ok(Some(result)),
        Action::Reject(error) => Err(error),
        _ => Ok(None),
    }
}
