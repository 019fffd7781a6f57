//! The calls to the host, in terms of the types of this crate. Outside a component, the host is that of
//! [`testing`](crate::testing).

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::channel::*;
#[cfg(target_arch = "wasm32")]
pub(crate) use component::*;

/// A change of something that a proxy offers the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    #[cfg(feature = "tools")]
    Tools,
    Resources,
    Prompts,
    /// The resource with this URI.
    Resource(String),
}

#[cfg(target_arch = "wasm32")]
mod component {
    use super::Change;
    use crate::bindings::acp_chain::proxy::channel;
    use crate::values::Keeper;
    use crate::{Action, ChannelError, Json, Level, MessageId, Peer};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    type Result<T> = std::result::Result<T, ChannelError>;

    pub(crate) fn request(to: Peer, method: &str, params: Json) -> Result<MessageId> {
        Ok(channel::request(to.into(), method, &String::from(params))?)
    }

    pub(crate) fn notify(to: Peer, method: &str, params: Json) -> Result<()> {
        Ok(channel::notify(to.into(), method, &String::from(params))?)
    }

    pub(crate) fn settle(id: MessageId, action: Action) -> Result<()> {
        Ok(channel::settle(id, &action.into())?)
    }

    pub(crate) fn fail(id: MessageId, reason: &str) -> Result<()> {
        Ok(channel::fail(id, reason)?)
    }

    pub(crate) fn cancel(id: MessageId) -> Result<()> {
        Ok(channel::cancel(id)?)
    }

    pub(crate) fn wake_after(milliseconds: u32) -> Result<MessageId> {
        Ok(channel::wake_after(milliseconds)?)
    }

    pub(crate) fn read(id: MessageId, pointer: &str) -> Result<Option<Json>> {
        Ok(channel::read(id, pointer)?.map(Json::from_host))
    }

    pub(crate) fn save(state: Json) -> Result<()> {
        Ok(channel::save(&String::from(state))?)
    }

    pub(crate) fn load_value(of: Keeper<'_>, key: &str) -> Result<MessageId> {
        Ok(channel::load_value(&of.into(), key)?)
    }

    pub(crate) fn store_value(
        of: Keeper<'_>,
        key: &str,
        version: u64,
        value: Option<&str>,
    ) -> Result<MessageId> {
        Ok(channel::store_value(&of.into(), key, version, value)?)
    }

    pub(crate) fn progress(
        id: MessageId,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<()> {
        Ok(channel::report_progress(id, progress, total, message)?)
    }

    pub(crate) fn meta(call: MessageId) -> Result<Json> {
        Ok(Json::from_host(channel::call_meta(call)?))
    }

    pub(crate) fn ask(call: MessageId, method: &str, params: Json) -> Result<MessageId> {
        Ok(channel::ask_caller(call, method, &String::from(params))?)
    }

    pub(crate) fn changed(change: &Change) -> Result<()> {
        Ok(match change {
            #[cfg(feature = "tools")]
            Change::Tools => channel::tools_changed(),
            Change::Resources => channel::resources_changed(),
            Change::Prompts => channel::prompts_changed(),
            Change::Resource(uri) => channel::resource_changed(uri),
        }?)
    }

    pub(crate) fn id() -> String {
        channel::proxy_id()
    }

    pub(crate) fn now() -> SystemTime {
        let time = crate::bindings::clock::wasi::clocks::wall_clock::now();
        UNIX_EPOCH + Duration::new(time.seconds, time.nanoseconds)
    }

    pub(crate) fn log(level: Level, text: &str) {
        let level = match level {
            Level::Trace => channel::Level::Trace,
            Level::Debug => channel::Level::Debug,
            Level::Info => channel::Level::Info,
            Level::Warn => channel::Level::Warn,
            Level::Error => channel::Level::Error,
        };
        channel::log(level, text);
    }

    impl From<Keeper<'_>> for channel::Keeper {
        fn from(of: Keeper<'_>) -> Self {
            match of {
                Keeper::User => Self::User,
                Keeper::Project(session) => Self::Project(session.to_owned()),
            }
        }
    }

    impl From<channel::ChannelError> for ChannelError {
        fn from(error: channel::ChannelError) -> Self {
            match error.code {
                channel::ErrorCode::Denied => Self::Denied(error.message),
                channel::ErrorCode::UnknownMessage => Self::UnknownMessage,
                channel::ErrorCode::Invalid => Self::Invalid(error.message),
                channel::ErrorCode::Full => Self::Full,
                channel::ErrorCode::Other => Self::Other(error.message),
            }
        }
    }
}
