//! The stored values of the fake host's user, and the responses to a proxy's requests for them.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value as JsonValue, json};

use super::line::{self, LINE};
use super::message::head;
use super::{Host, channel};
use crate::values::{Keeper, Outcome, Value};
use crate::{ChannelError, Error, Json, MessageId, Peer, Response, instance};

/// The longest key, and the longest value, in bytes.
const LONGEST_KEY: usize = 256;
const LONGEST_VALUE: usize = 64 * 1024;

/// The time since which each keeper has had values. Tests have no date.
const SINCE: &str = "2026-01-01T00:00:00Z";

/// All stored values, and the responses that are due.
#[derive(Default)]
pub(super) struct Stored {
    /// By the session of the project; `None` is the user.
    keepers: BTreeMap<Option<String>, KeeperValues>,
    /// Why requests fail.
    refusal: Option<String>,
    due: VecDeque<(MessageId, &'static str, Result<Json, Error>)>,
}

#[derive(Default)]
struct KeeperValues {
    /// The newest version.
    last: u64,
    /// The values with their versions, by their keys.
    all: BTreeMap<String, (String, u64)>,
}

impl Host {
    /// The stored values of the user or a project, by their keys. Each session is in a project of its own here.
    #[must_use]
    pub fn values(&self, of: Keeper<'_>) -> BTreeMap<String, String> {
        LINE.with_borrow(|line| {
            let keeper = line.values.keepers.get(&name(of)).into_iter();
            let all = keeper.flat_map(|keeper| &keeper.all);
            all.map(|(key, (value, _))| (key.clone(), value.clone()))
                .collect()
        })
    }

    /// Stores a value as another connection of the same user does; `None` removes it.
    pub fn put_value(&mut self, of: Keeper<'_>, key: &str, value: Option<&str>) {
        put(of, key, value);
    }

    /// Fails all requests for values from now on, for this reason.
    pub fn refuse_values(&mut self, reason: &str) {
        LINE.with_borrow_mut(|line| line.values.refusal = Some(reason.to_owned()));
    }

    /// Serves requests for values again.
    pub fn accept_values(&mut self) {
        LINE.with_borrow_mut(|line| line.values.refusal = None);
    }
}

impl Stored {
    fn load(&self, of: Keeper<'_>, key: &str) -> Value {
        let Some(keeper) = self.keepers.get(&name(of)) else {
            return Value::default();
        };
        let (value, version) = keeper.all.get(key).cloned().unzip();
        Value {
            value,
            version: version.unwrap_or_default(),
            since: Some(SINCE.to_owned()),
        }
    }

    fn store(&mut self, of: Keeper<'_>, key: &str, version: u64, value: Option<&str>) -> Outcome {
        let found = self.load(of, key);
        if found.version == version {
            Outcome::Stored(self.put(of, key, value))
        } else {
            Outcome::Conflict(found)
        }
    }

    /// Stores or removes a value. Returns its version.
    fn put(&mut self, of: Keeper<'_>, key: &str, value: Option<&str>) -> u64 {
        let Some(value) = value else {
            if let Some(keeper) = self.keepers.get_mut(&name(of)) {
                keeper.all.remove(key);
            }
            return 0;
        };
        let keeper = self.keepers.entry(name(of)).or_default();
        keeper.last += 1;
        let new = (value.to_owned(), keeper.last);
        keeper.all.insert(key.to_owned(), new);
        keeper.last
    }
}

fn name(of: Keeper<'_>) -> Option<String> {
    match of {
        Keeper::User => None,
        Keeper::Project(session) => Some(session.to_owned()),
    }
}

pub(crate) fn put(of: Keeper<'_>, key: &str, value: Option<&str>) {
    LINE.with_borrow_mut(|line| line.values.put(of, key, value));
}

pub(crate) fn load_value(of: Keeper<'_>, key: &str) -> Result<MessageId, ChannelError> {
    request("load-value", key, None, |stored| {
        as_json(&stored.load(of, key))
    })
}

pub(crate) fn store_value(
    of: Keeper<'_>,
    key: &str,
    version: u64,
    value: Option<&str>,
) -> Result<MessageId, ChannelError> {
    request("store-value", key, value, |stored| {
        match stored.store(of, key, version, value) {
            Outcome::Stored(version) => json!({ "version": version }),
            Outcome::Conflict(found) => json!({ "conflict": as_json(&found) }),
        }
    })
}

fn as_json(value: &Value) -> JsonValue {
    json!({ "value": value.value, "version": value.version, "since": value.since })
}

/// Carries a request out. The response comes after the host's call in which the proxy sends the request.
fn request(
    method: &'static str,
    key: &str,
    value: Option<&str>,
    outcome: impl FnOnce(&mut Stored) -> JsonValue,
) -> Result<MessageId, ChannelError> {
    channel::granted("values.keep")?;
    check_lengths(key, value)?;
    let id = line::next_id();
    LINE.with_borrow_mut(|line| {
        let stored = &mut line.values;
        let response = match stored.refusal.clone() {
            Some(reason) => Err(Error::new(Error::INTERNAL, reason)),
            None => Ok(outcome(stored).into()),
        };
        stored.due.push_back((id, method, response));
    });
    Ok(id)
}

/// The real host does not send a request whose key or value is too long.
fn check_lengths(key: &str, value: Option<&str>) -> Result<(), ChannelError> {
    if key.len() > LONGEST_KEY {
        let why = format!("the key of a stored value may have {LONGEST_KEY} B");
        return Err(ChannelError::Invalid(why));
    }
    if value.is_some_and(|value| value.len() > LONGEST_VALUE) {
        return Err(ChannelError::Full);
    }
    Ok(())
}

/// Sends the proxy the responses that are due.
pub(super) fn respond() {
    while let Some((id, method, outcome)) = LINE.with_borrow_mut(|line| line.values.due.pop_front())
    {
        let head = head(id, Peer::Client, method, None, &outcome);
        let _ = instance::on_response(Response { head, outcome });
    }
}
