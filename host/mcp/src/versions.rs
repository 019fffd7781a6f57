//! What 2026-07-28 says of outcomes that older versions of MCP do not, or say otherwise.

use std::borrow::Cow;

use super::protocol::{Version, code, with};
use acp_chain_rpc::{Error, Kind, Message, member};

/// The type of a result that is all.
const COMPLETE: &str = r#""complete""#;

/// How long a result may be kept, and for whom: what the host says where nobody says it.
const KEPT: [(&str, &str); 2] = [("ttlMs", "0"), ("cacheScope", r#""private""#)];

/// A result as 2026-07-28 has it.
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

/// A result as it was before 2026-07-28.
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

/// An outcome as 2026-07-28 has it, which has another code for a resource that is not there.
pub fn newer_error(outcome: Message) -> Message {
    let gone = code::RESOURCE_NOT_FOUND.to_string();
    if outcome.kind() == Kind::Error
        && member(outcome.body(), "code") == Some(&gone)
        && let Ok(mut error) = serde_json::from_str::<Error>(outcome.body())
    {
        error.code = code::INVALID_PARAMS;
        return Message::error(&error);
    }
    outcome
}

/// Whether a server that answered `server/discover` so speaks 2026-07-28, if it says what it speaks.
pub fn speaks_stateless(discovered: &str) -> Option<bool> {
    let spoken: Vec<String> =
        serde_json::from_str(member(discovered, "supportedVersions")?).ok()?;
    let stateless = Version::Stateless.as_str();
    Some(spoken.iter().any(|version| version == stateless))
}
