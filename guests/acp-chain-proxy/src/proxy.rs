//! The part that an author writes: a type with handlers, which forward by default.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{
    Action, Error, Json, MessageId, Notification, Request, Response, Result, Subscription,
};

/// A proxy: one instance per connection, called for one message at a time.
///
/// Handlers may wait (see [`Peer::request`](crate::Peer::request)): their message is then held, other messages are
/// handled meanwhile, and the handler's final result decides about its message. State is changed through `Cell` and
/// `RefCell`; a borrow must not be kept across an `.await`, where other handlers run.
///
/// An `Err` means that the proxy could not decide: a request is answered with an error, a response
/// turns into one, a notification is dropped. With [`FailurePolicy::Bypass`] the message goes on
/// unchanged instead.
#[allow(
    async_fn_in_trait,
    reason = "a component has one thread, so no future needs to be Send"
)]
#[allow(
    unused_variables,
    reason = "the names of the parameters are part of the documentation"
)]
pub trait Proxy: Configure + 'static {
    /// The messages that the handlers see.
    const SUBSCRIPTIONS: &'static [Subscription] = &[];

    /// What happens if the proxy breaks.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Restart;

    /// Whether others rely on the proxy's decisions. A guard stands next to the agent, behind all others; no other
    /// proxy may alter what it changed, answered or sent; and ambiguous messages never reach it.
    const GUARD: bool = false;

    /// [`SUBSCRIPTIONS`](Self::SUBSCRIPTIONS) by default; override it if they depend on the configuration. If several
    /// match a message, the first decides whether the body comes with it.
    fn subscriptions(&self) -> Vec<Subscription> {
        Self::SUBSCRIPTIONS.to_vec()
    }

    /// Restores the state that an earlier instance of this connection [saved](crate::save) before it failed. Called
    /// before any message, and only if a state was saved. An `Err` prevents the restart.
    fn restore(&mut self, saved: Json) -> Result<()> {
        Err("it has no `restore`, which a proxy that saves a state needs".into())
    }

    /// Decides about a request. Forwards it by default.
    async fn on_request(&self, request: Request) -> Result {
        Ok(Action::Forward)
    }

    /// Decides about a notification. Forwards it by default.
    async fn on_notification(&self, notification: Notification) -> Result {
        Ok(Action::Forward)
    }

    /// Decides about a response. Forwards it by default.
    async fn on_response(&self, response: Response) -> Result {
        Ok(Action::Forward)
    }

    /// The sender of a held request has cancelled it, the user has stopped the turn of a held prompt or permission
    /// request (`session/cancel`, or the session is closed), or the caller of a tool has cancelled its pending call.
    /// The handler or the tool is dropped, and its own requests are cancelled; then the request is settled with the
    /// returned action. `None` lets it continue and settle the request itself; but a stopped prompt never reaches the
    /// agent. This is also called when a message was held for longer than the limit `hold-time`: then the host has
    /// settled the message itself, and the returned action is ignored.
    fn on_cancel(&self, id: MessageId) -> Option<Action> {
        Some(Action::Reject(Error::cancelled()))
    }
}

/// What happens to a proxy that breaks (it panics, or exceeds a limit on time or memory), and to its messages. The
/// user's manifest takes precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Messages to the proxy are refused until a new instance replaces it, which gets the [saved](crate::save) state.
    /// After a few restarts the proxy is given up, and treated as with `Refuse`.
    #[default]
    Restart,
    /// Messages to the proxy go on unchanged. For proxies whose work is optional.
    Bypass,
    /// Messages to the proxy are refused from then on. For guards.
    Refuse,
}

/// How a proxy is created from its table in the manifest.
///
/// A type with `Default` needs nothing else: it takes no configuration. Others name the type of their configuration,
/// best with `#[serde(deny_unknown_fields)]`, so that a misspelt key is an error that names it.
///
/// ```
/// use acp_chain_proxy::Configure;
///
/// #[derive(serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Config {
///     file: Option<String>,
/// }
///
/// struct Reader {
///     file: String,
/// }
///
/// impl Configure for Reader {
///     type Config = Config;
///
///     fn new(config: Config) -> Result<Self, String> {
///         Ok(Self { file: config.file.unwrap_or_else(|| "README.md".into()) })
///     }
/// }
/// ```
pub trait Configure: Sized {
    /// The shape of `[proxy.config]`; an empty table if the manifest has none.
    type Config: DeserializeOwned;

    /// Creates the proxy. An `Err` prevents its start, and its text is shown to the user: it should name the key, the
    /// expected value, and what to do.
    fn new(config: Self::Config) -> std::result::Result<Self, String>;
}

impl<T: Default> Configure for T {
    type Config = NoConfig;

    fn new(NoConfig {}: NoConfig) -> std::result::Result<Self, String> {
        Ok(Self::default())
    }
}

/// The configuration of a proxy that takes none: every key is refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}
