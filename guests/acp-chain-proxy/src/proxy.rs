//! What an author writes: a type with handlers, all of which forward unless they are written.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{
    Action, Error, Json, MessageId, Notification, Request, Response, Result, Subscription,
};

/// A proxy: one instance a connection, called for one message at a time.
///
/// Handlers may wait (see [`Peer::request`](crate::Peer::request)): their message is then held,
/// other messages are handled in the meantime, and what the handler returns in the end becomes of
/// its message. State is changed through `Cell` and `RefCell`; a borrow must not be kept over an
/// `.await`, since other handlers run there.
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
    /// Which messages the handlers get to see.
    const SUBSCRIPTIONS: &'static [Subscription] = &[];

    /// What becomes of the proxy if it breaks.
    const ON_FAILURE: FailurePolicy = FailurePolicy::Restart;

    /// Whether others rely on the proxy to decide. A guard stands next to the agent, behind all others;
    /// what it changed, answered or sent, no other proxy may alter; and what readers could take for
    /// different things never comes to it.
    const GUARD: bool = false;

    /// [`SUBSCRIPTIONS`](Self::SUBSCRIPTIONS), unless the configuration has a say in it. Where
    /// several match one message, the first decides whether the body comes with it.
    fn subscriptions(&self) -> Vec<Subscription> {
        Self::SUBSCRIPTIONS.to_vec()
    }

    /// Takes up what an earlier instance of this connection [saved](crate::save) before it broke.
    /// Called before any message, and only if something was saved. An `Err` keeps the proxy from
    /// starting again.
    fn restore(&mut self, saved: Json) -> Result<()> {
        Err("it has no `restore`, which a proxy that saves a state needs".into())
    }

    /// A request passes by.
    async fn on_request(&self, request: Request) -> Result {
        Ok(Action::Forward)
    }

    /// A notification passes by.
    async fn on_notification(&self, notification: Notification) -> Result {
        Ok(Action::Forward)
    }

    /// A response passes by.
    async fn on_response(&self, response: Response) -> Result {
        Ok(Action::Forward)
    }

    /// The sender of a request that is held has withdrawn it, the user has stopped the turn of a prompt
    /// that is held (`session/cancel`), or the caller of a tool has given up its pending call. The handler
    /// or the tool is dropped, and with it its own requests are withdrawn; then the request is settled
    /// with what is returned here. None lets it go on and settle the request itself; but a prompt that
    /// was stopped never reaches the agent. It is called, too, when a message was held for longer than the
    /// limit `hold-time`: then it is the host's again, and what is returned here means nothing.
    fn on_cancel(&self, id: MessageId) -> Option<Action> {
        Some(Action::Reject(Error::cancelled()))
    }
}

/// What becomes of a proxy that breaks (it panics, or passes a limit on time or memory), and of the
/// messages that it had. The user's manifest has the last word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Its messages are refused, and a new instance takes its place, which gets what the old one
    /// [saved](crate::save). After a few times it is given up, and goes on as with `Refuse`.
    #[default]
    Restart,
    /// Its messages go on unchanged, as if there were no such proxy. For what only adds comfort.
    Bypass,
    /// Its messages are refused, and so is what it would get from now on. For what guards.
    Refuse,
}

/// How a proxy is made from its table in the manifest.
///
/// A type with `Default` needs no more: it takes no configuration. Others name the type of their
/// configuration, best with `#[serde(deny_unknown_fields)]`, so that a misspelt key is an error
/// that names it.
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

    /// Makes the proxy. An `Err` keeps it from starting, and its text is shown to the user:
    /// it names the key, what was expected, and what to do.
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
