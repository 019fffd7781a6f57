//! The differences between outcomes of 2026-07-28 and of older versions of MCP.

use std::borrow::Cow;

use super::protocol::{Version, code, with};
use acp_chain_rpc::{Error, Message, member};

/// The type of a complete result.
const COMPLETE: &str = r#""complete""#;

/// How long a result may be cached, and for whom: the host's defaults.
const KEPT: [(&str, &str); 2] = [("ttlMs", "0"), ("cacheScope", r#""private""#)];

/// A result in the form of 2026-07-28.
pub fn newer(result: &str, cacheable: bool) -> Cow<'_, str> {
    let mut newer = Cow::Borrowed(result);
    if member(result, "resultType") != Some(COMPLETE) {
        newer = with(result, "/resultType", Some(COMPLETE)).into();
    }
    for (name, value) in KEPT.into_iter().filter(|_| cacheable) {
        if member(result, name).is_none() {
            newer = with(&newer, &format!("/{name}"), Some(value)).into();
        }
    }
    newer
}

/// A result in the form before 2026-07-28.
pub fn older(result: &str, cacheable: bool) -> Cow<'_, str> {
    let kept = KEPT.into_iter().filter(|_| cacheable);
    let names = [("resultType", COMPLETE)].into_iter().chain(kept);
    let mut older = Cow::Borrowed(result);
    for (name, _) in names {
        if member(result, name).is_some() {
            older = with(&older, &format!("/{name}"), None).into();
        }
    }
    older
}

/// An outcome in the form of 2026-07-28, which has another code for unknown resources.
pub fn newer_error(outcome: Message) -> Message {
    if outcome.is_error(code::RESOURCE_NOT_FOUND)
        && let Ok(mut error) = serde_json::from_str::<Error>(outcome.body())
    {
        error.code = code::INVALID_PARAMS;
        return Message::error(&error);
    }
    outcome
}

/// Whether a server with this answer to `server/discover` speaks 2026-07-28, if it names its versions.
pub fn speaks_stateless(discovered: &str) -> Option<bool> {
    let spoken: Vec<String> =
        serde_json::from_str(member(discovered, "supportedVersions")?).ok()?;
    let stateless = Version::Stateless.as_str();
    Some(spoken.iter().any(|version| version == stateless))
}
