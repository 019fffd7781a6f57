//! JSON text split by counting only its brackets and quotes.
//!
//! For a text that is not JSON, the parts are arbitrary. Parts are slices of the text, so each part
//! also has a position.

use serde::de::IgnoredAny;

/// The white space of JSON.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Whether a text is JSON, of any depth, even with numbers and escapes that no value can represent.
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// A member of an object, or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'t> {
    /// The name as it is spelt; none for an element.
    pub name: Option<&'t str>,
    /// The value as it is spelt.
    pub value: &'t str,
}

impl Part<'_> {
    /// Whether this is the member of that name, however the name is spelt.
    pub fn is_named(&self, name: &str) -> bool {
        self.name.and_then(decoded).as_deref() == Some(name)
    }
}

/// The text that a JSON string stands for; `None` if it is not a string, or has half a surrogate pair.
pub fn decoded(string: &str) -> Option<String> {
    serde_json::from_str(string).ok()
}

/// Whether a value is an object.
pub fn is_object(value: &str) -> bool {
    value.trim_matches(SPACE).starts_with('{')
}

/// The parts of an object or array; `None` for any other value.
pub fn parts(value: &str) -> Option<Vec<Part<'_>>> {
    let value = value.trim_matches(SPACE);
    let object = is_object(value);
    if !object && !value.starts_with('[') {
        return None;
    }
    let inside = &value[1..value.len() - 1];
    if inside.trim_matches(SPACE).is_empty() {
        return Some(Vec::new());
    }
    let parts = split(inside, b',').into_iter().map(|part| {
        if object {
            let name = split(part, b':')[0];
            Part {
                name: Some(name.trim_matches(SPACE)),
                value: part[name.len() + 1..].trim_matches(SPACE),
            }
        } else {
            Part {
                name: None,
                value: part.trim_matches(SPACE),
            }
        }
    });
    Some(parts.collect())
}

/// The position of a slice in its text.
pub fn start(text: &str, slice: &str) -> usize {
    slice.as_ptr().addr() - text.as_ptr().addr()
}

/// Splits at a byte wherever it is outside strings and brackets.
fn split(text: &str, at: u8) -> Vec<&str> {
    let (mut pieces, mut begin) = (Vec::new(), 0);
    let (mut depth, mut string, mut escaped) = (0_usize, false, false);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => string = !string,
            _ if string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ if byte == at && depth == 0 => {
                pieces.push(&text[begin..index]);
                begin = index + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[begin..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_commas_in_strings_part_nothing() {
        let json = r#" { "a,:\"]" : [1, {"b":2}] ,"\u0063":"}," } "#;
        let members = parts(json).unwrap();
        let part = |name, value| Part {
            name: Some(name),
            value,
        };
        assert_eq!(
            members,
            [
                part(r#""a,:\"]""#, r#"[1, {"b":2}]"#),
                part(r#""\u0063""#, r#""},""#)
            ]
        );
        assert!(members[1].is_named("c"));
        assert_eq!(start(json, members[0].value), 14);
        let elements = parts(members[0].value).unwrap();
        assert_eq!((elements[0].value, elements[1].value), ("1", r#"{"b":2}"#));
        assert_eq!(parts("[ ]"), Some(Vec::new()));
        assert_eq!(parts("7"), None);
    }
}
