//! Checks that every parser reads a message in the same way.
//!
//! JSON leaves open what duplicate names mean, and some parsers ignore case. A guard must read a message as the peers
//! do that it protects.
//!
//! The work is bounded by the length of a text, the memory by [`LARGEST`]. Long texts should be checked
//! [`aside`](crate::aside).

use std::borrow::Cow;

use acp_chain_powers::fold;
use foldhash::{HashSet, HashSetExt};

use super::Message;
use super::entries::end_of_string;
use super::pointer::{decoded, like};

/// Why parsers may read a message differently.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ambiguity {
    /// The message has a field that resembles one of JSON-RPC's.
    #[error("it has a field that some readers take for one of JSON-RPC's")]
    Envelope,
    /// An object has names that some parsers do not distinguish, or that cannot be decoded.
    #[error(
        "two members of one object have names that some readers do not tell apart, or a name cannot be read"
    )]
    Names,
    /// The message is nested too deep to be checked.
    #[error("it is nested more than {DEEPEST} deep")]
    Deep,
    /// The message has too many bytes outside of strings to be checked.
    #[error("it is too large to be checked: it has more than {LARGEST} bytes beside its texts")]
    Large,
}

/// How deep a message may be nested. Many parsers stop at 128.
const DEEPEST: usize = 128;

/// How many bytes a message may have outside of strings: comparing names takes many times their length.
const LARGEST: usize = 8 * 1024 * 1024;

/// Checks a message: an error if parsers may read any part of it differently.
pub fn canonical(message: &Message) -> Result<(), Ambiguity> {
    if message.is_ambiguous() {
        return Err(Ambiguity::Envelope);
    }
    look_through(message.body())
}

/// Checks the names of all objects in a JSON text: an error if parsers may read them differently, or the text is nested
/// too deep or too large.
pub fn look_through(text: &str) -> Result<(), Ambiguity> {
    let bytes = text.as_bytes();
    // The open containers: an object with its names so far, or an array.
    let mut open: Vec<Option<Names>> = Vec::new();
    let (mut at, mut names_next) = (0, false);
    let mut in_strings = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            _ if at - in_strings > LARGEST => return Err(Ambiguity::Large),
            b'{' | b'[' if open.len() == DEEPEST => return Err(Ambiguity::Deep),
            b'{' => open.push(Some(Names::default())),
            b'[' => open.push(None),
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                let end = end_of_string(bytes, at);
                if let Some(Some(names)) = open.last_mut()
                    && names_next
                    && !text.get(at..end).is_some_and(|name| names.add(name))
                {
                    return Err(Ambiguity::Names);
                }
                // The quotes count as outside.
                in_strings += (end - at).saturating_sub(2);
                (at, names_next) = (end, false);
                continue;
            }
            _ => {}
        }
        names_next = match byte {
            b'{' => true,
            b',' => matches!(open.last(), Some(Some(_))),
            _ => names_next && byte.is_ascii_whitespace(),
        };
        at += 1;
    }
    Ok(())
}

/// Whether readers may disagree about the kind of update in the params of a `session/update`.
#[must_use]
pub fn is_unclear_update(params: &str) -> bool {
    let is_unclear =
        |found: &[(&str, bool)]| found.len() > 1 || found.iter().any(|(_, is_exact)| !is_exact);
    let updates: Vec<_> = like(params, "update").collect();
    let kinds = |update| like(update, "sessionUpdate").collect::<Vec<_>>();
    is_unclear(&updates) || updates.iter().any(|(update, _)| is_unclear(&kinds(update)))
}

/// The names of one object. Most objects have few.
#[derive(Default)]
struct Names<'t> {
    few: Vec<Cow<'t, str>>,
    many: Option<HashSet<Cow<'t, str>>>,
}

impl<'t> Names<'t> {
    const FEW: usize = 16;

    /// Adds a name, as JSON text. Returns false if the object has it already, or it cannot be decoded.
    fn add(&mut self, text: &'t str) -> bool {
        let name = match decoded(text) {
            Some(Cow::Borrowed(name)) => fold(name),
            Some(Cow::Owned(name)) => fold(&name).into_owned().into(),
            None => return false,
        };
        if let Some(many) = &mut self.many {
            return many.insert(name);
        }
        if self.few.contains(&name) {
            return false;
        }
        self.few.push(name);
        if self.few.len() > Self::FEW {
            let mut many = HashSet::with_capacity(2 * Self::FEW);
            many.extend(self.few.drain(..));
            self.many = Some(many);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(line: &str) -> Result<(), Ambiguity> {
        canonical(&Message::parse(line.to_owned().into()).unwrap())
    }

    #[test]
    fn an_update_is_clear_if_all_readers_find_one_kind() {
        for clear in [
            r#"{"sessionId":"a","update":{"sessionUpdate":"plan","x":{"SessionUpdate":1}}}"#,
            r#"{"update":{}}"#,
            "{}",
            "[]",
        ] {
            assert!(!is_unclear_update(clear), "{clear}");
        }
        for unclear in [
            r#"{"update":{"SessionUpdate":"tool_call","sessionUpdate":"plan"}}"#,
            r#"{"update":{"sessionUpdate":"tool_call","sessionUpdate":"plan"}}"#,
            r#"{"update":{"SessionUpdate":"tool_call"}}"#,
            r#"{"update":{"sessionUpdate":"plan"},"Update":{"sessionUpdate":"tool_call"}}"#,
            r#"{"update":{"sessionUpdate":"plan","\ud800":"tool_call"}}"#,
        ] {
            assert!(is_unclear_update(unclear), "{unclear}");
        }
    }

    #[test]
    fn ambiguous_messages_are_not_canonical() {
        let params =
            |params: &str| format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#);
        for (line, expected) in [
            (params(r#"{"a":[{"b":1,"c":2.5e400}]}"#), Ok(())),
            (params(r#"{"a":"\ud800\r"}"#), Ok(())),
            (
                params(r#"{"sessionId":1,"SessionId":2}"#),
                Err(Ambiguity::Names),
            ),
            (
                params(r#"{"sessionId":1,"ſessionId":2}"#),
                Err(Ambiguity::Names),
            ),
            (params(r#"[{"a":1,"\u0061":2}]"#), Err(Ambiguity::Names)),
            (params(r#"{"a":1,"a":1}"#), Err(Ambiguity::Names)),
            (params(r#"{"\ud800":1}"#), Err(Ambiguity::Names)),
            (params("{\r\"a\":1}"), Ok(())),
            (
                params(&format!("{}1{}", "[".repeat(129), "]".repeat(129))),
                Err(Ambiguity::Deep),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","Params":{}}"#.to_owned(),
                Err(Ambiguity::Envelope),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","paramſ":{}}"#.to_owned(),
                Err(Ambiguity::Envelope),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","\ud800":{}}"#.to_owned(),
                Err(Ambiguity::Envelope),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","meta":{}}"#.to_owned(),
                Ok(()),
            ),
        ] {
            assert_eq!(judged(&line), expected, "{line}");
        }
        let long = "x".repeat(LARGEST);
        assert_eq!(judged(&params(&format!("\"{long}\""))), Ok(()));
        for large in [
            format!("[{}1]", "1,".repeat(LARGEST / 2)),
            format!("[{}1]", " ".repeat(LARGEST)),
            format!("[1{}]", "0".repeat(LARGEST)),
            format!("[{}1]", "\"\",".repeat(LARGEST / 3 + 1)),
        ] {
            assert_eq!(judged(&params(&large)), Err(Ambiguity::Large));
        }
        let many: Vec<_> = (0..40).map(|n| format!(r#""n{n}":1"#)).collect();
        assert_eq!(judged(&params(&format!("{{{}}}", many.join(",")))), Ok(()));
        assert_eq!(
            judged(&params(&format!(r#"{{{},"N7":1}}"#, many.join(",")))),
            Err(Ambiguity::Names)
        );
    }
}
