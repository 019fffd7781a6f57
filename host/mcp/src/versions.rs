//! The differences between outcomes of 2026-07-28 and of older versions of MCP.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::protocol::{Version, array, code, is_cacheable, is_object, key, with, with_key};
use acp_chain_rpc::{Error, Message, member};

/// The `resultType` of a complete result.
const COMPLETE: &str = r#""complete""#;

/// The host's defaults for cacheable results: not to be cached.
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

/// A result of this method in the form before 2026-07-28. Members that older clients reject are removed: an
/// `outputSchema` that is not for objects, and a `structuredContent` that is not an object.
pub fn older<'r>(method: &str, result: &'r str) -> Cow<'r, str> {
    let kept = KEPT.into_iter().filter(|_| is_cacheable(method));
    let names = [("resultType", COMPLETE)].into_iter().chain(kept);
    let mut older = Cow::Borrowed(result);
    for (name, _) in names {
        if member(result, name).is_some() {
            older = with(&older, &format!("/{name}"), None).into();
        }
    }
    if let Some(meta) = member(result, "_meta")
        && member(meta, key::SERVER_INFO).is_some()
    {
        let rest = with_key(meta, key::SERVER_INFO, None);
        let rest = Some(&*rest).filter(|rest| *rest != "{}");
        older = with(&older, "/_meta", rest).into();
    }
    let structured = member(result, "structuredContent");
    if method == "tools/call" && structured.is_some_and(|value| !is_object(value)) {
        older = with(&older, "/structuredContent", None).into();
    }
    let tools = member(result, "tools").filter(|_| method == "tools/list");
    if let Some(tools) = tools.and_then(older_tools) {
        older = with(&older, "/tools", Some(&tools)).into();
    }
    older
}

/// Removes `outputSchema`s that are not for objects from a list of tools; `None` if there are none. In one pass, as
/// lists may be very long.
fn older_tools(tools: &str) -> Option<String> {
    let listed: Vec<&RawValue> = serde_json::from_str(tools).ok()?;
    let mut is_older = false;
    let texts = listed.into_iter().map(|tool| {
        let schema = member(tool.get(), "outputSchema");
        if schema.is_none_or(|schema| member(schema, "type") == Some(r#""object""#)) {
            return Cow::Borrowed(tool.get());
        }
        is_older = true;
        Cow::Owned(with(tool.get(), "/outputSchema", None))
    });
    let texts: Vec<_> = texts.collect();
    let texts: Vec<_> = texts.iter().map(|text| &**text).collect();
    is_older.then(|| array(&texts))
}

/// An outcome in the form of 2026-07-28, which has a different error code for unknown resources.
pub fn newer_error(outcome: Message) -> Message {
    if outcome.is_error(code::RESOURCE_NOT_FOUND)
        && let Ok(mut error) = serde_json::from_str::<Error>(outcome.body())
    {
        error.code = code::INVALID_PARAMS;
        return Message::error(&error);
    }
    outcome
}

/// Whether a server with this result of `server/discover` supports 2026-07-28. `None` if the result names no versions.
pub fn speaks_stateless(discovered: &str) -> Option<bool> {
    let spoken: Vec<String> =
        serde_json::from_str(member(discovered, "supportedVersions")?).ok()?;
    let stateless = Version::Stateless.as_str();
    Some(spoken.iter().any(|version| version == stateless))
}
