//! The session of a message, from the member `sessionId` of its body.

use std::sync::Arc;

use super::pointer::{decoded, member};

/// The name of the member.
pub(super) const SESSION: &str = "sessionId";

/// The session that a body names; `None` if it names none, or not as a string.
pub(super) fn session(body: &str) -> Option<Arc<str>> {
    named_by(member(body, SESSION)?)
}

/// The session that the JSON text of that member names.
pub(super) fn named_by(text: &str) -> Option<Arc<str>> {
    let text = Some(text).filter(|text| text.starts_with('"'))?;
    // Even undecodable names tell sessions apart.
    Some(decoded(text).map_or(text.into(), Arc::from))
}
