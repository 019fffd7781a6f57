//! The session of a message, from the member `sessionId` of its body.

use std::sync::Arc;

use super::pointer::{decoded, like, member};

/// The name of the member.
pub(super) const SESSION: &str = "sessionId";

/// The session that a body names; `None` if there is none, or its name is not a string.
pub(super) fn session(body: &str) -> Option<Arc<str>> {
    named_by(member(body, SESSION)?)
}

/// All sessions that some reader may take a body to name.
pub(super) fn sessions(body: &str) -> Vec<Arc<str>> {
    let named = like(body, SESSION);
    named.filter_map(|(value, _)| named_by(value)).collect()
}

/// The session that the JSON text of the member's value names.
pub(super) fn named_by(text: &str) -> Option<Arc<str>> {
    let text = Some(text).filter(|text| text.starts_with('"'))?;
    // Names that cannot be decoded distinguish sessions, too.
    Some(decoded(text).map_or(text.into(), Arc::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_that_some_reader_finds_is_found() {
        let body = r#"{"sessionId":"a","SessionId":"b","x":{"sessionId":"no"},"\u0073essionId":"c","\ud800":"d","sessionId":7}"#;
        let found: Vec<_> = sessions(body);
        assert_eq!(
            found.iter().map(|name| &**name).collect::<Vec<_>>(),
            ["a", "b", "c", "d"]
        );
        assert!(sessions("[]").is_empty() && sessions("null").is_empty());
    }
}
