//! The session of a message, from the member `sessionId` of its body.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

use super::pointer::member;

/// The member's name, in its usual spelling.
const NAME: &str = r#""sessionId""#;

static NAMES: LazyLock<Finder> = LazyLock::new(|| Finder::new(NAME));

/// The escape with which the name could be spelt differently.
static ESCAPES: LazyLock<Finder> = LazyLock::new(|| Finder::new(r"\u"));

/// The session that a body names; `None` if it names none, or not as a string.
pub(super) fn session(body: &str) -> Option<Arc<str>> {
    let text = at_sight(body).unwrap_or_else(|Unclear| member(body, "sessionId"));
    let text = text.filter(|text| text.starts_with('"'))?;
    // Even undecodable names tell sessions apart.
    Some(serde_json::from_str::<Cow<str>>(text).map_or(text.into(), Arc::from))
}

/// Only reading the body tells.
#[derive(Debug, PartialEq, Eq)]
struct Unclear;

/// The text of the member, if that is known without parsing the body: the name occurs nowhere, or only at the very
/// beginning. Most bodies are like that, and some are long.
fn at_sight(body: &str) -> Result<Option<&str>, Unclear> {
    if ESCAPES.find(body.as_bytes()).is_some() {
        return Err(Unclear);
    }
    let Some(at) = NAMES.find(body.as_bytes()) else {
        return Ok(None);
    };
    let (before, rest) = (&body[..at], &body[at + NAME.len()..]);
    if before.trim_ascii() != "{" || NAMES.find(rest.as_bytes()).is_some() {
        return Err(Unclear);
    }
    let value = rest.trim_ascii_start().strip_prefix(':').ok_or(Unclear)?;
    let value = value.trim_ascii_start();
    let text = value.strip_prefix('"').ok_or(Unclear)?;
    match memchr::memchr2(b'"', b'\\', text.as_bytes()) {
        Some(end) if text.as_bytes()[end] == b'"' => Ok(Some(&value[..end + 2])),
        _ => Err(Unclear),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    #[test]
    fn the_usual_body_is_told_at_sight() {
        for (body, session) in [
            (r#"{"sessionId":"a","prompt":[]}"#, Some(r#""a""#)),
            (" {\n\"sessionId\" : \"\"}", Some(r#""""#)),
            (r#"{"stopReason":"end_turn"}"#, None),
            ("null", None),
        ] {
            assert_eq!(at_sight(body), Ok(session), "{body}");
        }
    }

    /// Values in which the name may occur anywhere, in any spelling.
    fn value() -> impl Strategy<Value = String> {
        const LEAVES: [&str; 7] = [
            r#""sessionId""#,
            r#""\"sessionId\"""#,
            r#""a\\""#,
            r#""\u0061""#,
            r#""""#,
            "1e400",
            "null",
        ];
        const NAMES: [&str; 5] = [
            r#""sessionId""#,
            r#""\u0073essionId""#,
            r#""sessionid""#,
            r#""""#,
            r#""\"sessionId""#,
        ];
        let leaf = select(&LEAVES).prop_map(str::to_owned);
        leaf.prop_recursive(3, 16, 4, |inner| {
            let members = (select(&NAMES), select(vec![":", " :\n"]), inner.clone());
            let members = members.prop_map(|(name, colon, value)| format!("{name}{colon}{value}"));
            prop_oneof![
                prop::collection::vec(members, 0..4)
                    .prop_map(|all| format!("{{{}}}", all.join(", "))),
                prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn what_is_told_at_sight_is_what_is_read(body in value()) {
            if let Ok(text) = at_sight(&body) {
                prop_assert_eq!(text, member(&body, "sessionId"));
            }
        }
    }
}
