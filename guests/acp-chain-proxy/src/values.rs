//! Values that outlast the connection: texts under keys, which belong to the user or to a project. They take the power
//! `values.keep`. State that only a restart of the proxy needs is [saved](crate::save) instead.
//!
//! Several connections, of several editors, may store a value at once: [`update`] loses no change.
//!
//! ```
//! use acp_chain_proxy::testing::Host;
//! use acp_chain_proxy::values::{self, Keeper};
//! use acp_chain_proxy::{Action, Peer, Proxy, Request, Result, Subscription};
//! use serde_json::json;
//!
//! /// Counts the user's prompts, in all editors.
//! #[derive(Default)]
//! struct Count;
//!
//! impl Proxy for Count {
//!     const SUBSCRIPTIONS: &[Subscription] =
//!         &[Subscription::requests("session/prompt").without_body()];
//!
//!     async fn on_request(&self, _prompt: Request) -> Result {
//!         values::update(Keeper::User, "prompts", |value| {
//!             let prompts: u64 = value.and_then(|value| value.parse().ok()).unwrap_or_default();
//!             Some((prompts + 1).to_string())
//!         })
//!         .await?;
//!         Ok(Action::Forward)
//!     }
//! }
//!
//! let mut host = Host::start::<Count>(json!({})).unwrap();
//! let prompt = json!({ "sessionId": "s", "prompt": [] });
//! host.request(Peer::Client, "session/prompt", &prompt);
//! host.reconnect().unwrap();
//! host.request(Peer::Client, "session/prompt", &prompt);
//! assert_eq!(host.values(Keeper::User)["prompts"], "2");
//! ```
//!
//! A handler that waits for a value holds its message, which takes a power over that message. A future that is
//! [spawned](crate::spawn) holds none.

#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::channel::Answer;
use crate::{Error, Json, host};

/// Whose values they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper<'a> {
    /// The user's: the same in all projects.
    User,
    /// Those of the project in which the session with this id is.
    Project(&'a str),
}

/// A value, as it was loaded.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Value {
    /// The text; `None` if there is no value under the key.
    pub value: Option<String>,
    /// The version of the value, which no other value under its key has had; 0 if there is none.
    pub version: u64,
    /// The time since which the keeper has had values (RFC 3339); `None` if it has none. A proxy that remembers an
    /// earlier time sees that somebody has removed them.
    pub since: Option<String>,
}

/// What became of a value that was to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is on disk, with this version; 0 if the value is removed.
    Stored(u64),
    /// Nothing has changed: another connection has stored this value since the version was loaded.
    Conflict(Value),
}

/// How often [`update`] tries to store. Each conflict is a success of another connection, so this is as many as may
/// change a value at once.
const ATTEMPTS: usize = 64;

/// Loads the value under a key, which has 256 bytes at most.
///
/// # Errors
/// If the proxy lacks the power `values.keep`, the key is too long, or the values cannot be read.
pub async fn load(of: Keeper<'_>, key: &str) -> Result<Value, Error> {
    let loaded = Answer::to("load-value", host::load_value(of, key)).await?;
    loaded.parse().map_err(|_| malformed(&loaded))
}

/// Stores a value of 64 KiB at most under a key, or removes it (`None`), if its version is still this one: 0 if there
/// is none. Most proxies [`update`] it instead.
///
/// # Errors
/// As for [`load`], and if a limit would be exceeded or the disk is full. The earlier value stays.
pub async fn store(
    of: Keeper<'_>,
    key: &str,
    version: u64,
    value: Option<&str>,
) -> Result<Outcome, Error> {
    let sent = host::store_value(of, key, version, value);
    let stored = Answer::to("store-value", sent).await?;
    if let Some(conflict) = stored.at("/conflict") {
        return Ok(Outcome::Conflict(conflict));
    }
    let new = stored.at("/version").map(Outcome::Stored);
    new.ok_or_else(|| malformed(&stored))
}

/// Loads a value, changes it, and stores it; again with the new value if another connection has stored one meanwhile,
/// so `change` may be called up to 64 times. `None` is no value. An unchanged value is not stored.
///
/// Returns the value that is now stored. Its `since` is from before the change.
///
/// # Errors
/// As for [`store`], and if other connections have stored the value each time.
pub async fn update(
    of: Keeper<'_>,
    key: &str,
    mut change: impl FnMut(Option<&str>) -> Option<String>,
) -> Result<Value, Error> {
    let mut found = load(of, key).await?;
    for _ in 0..ATTEMPTS {
        let value = change(found.value.as_deref());
        if value == found.value {
            return Ok(found);
        }
        found = match store(of, key, found.version, value.as_deref()).await? {
            Outcome::Stored(version) => {
                return Ok(Value {
                    value,
                    version,
                    ..found
                });
            }
            Outcome::Conflict(other) => other,
        };
    }
    let why = format!("{key:?} is not stored: other connections have changed it {ATTEMPTS} times");
    Err(Error::new(Error::INTERNAL, why))
}

fn malformed(outcome: &Json) -> Error {
    Error::new(
        Error::INTERNAL,
        format!("the host's response is malformed: {outcome}"),
    )
}
