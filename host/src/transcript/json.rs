//! JSON as people write it: members stay in their order, and it is printed on one line where it fits.

use std::fmt::{self, Display};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Number;

/// How wide a printed line may be before it is broken.
const WIDTH: usize = 120;

/// A JSON value.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object. Of two members of one name the last counts.
    Object(IndexMap<String, Json>),
}

impl Json {
    /// Reads JSON text.
    ///
    /// # Errors
    /// If it is none, or nested deeper than 127 levels.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The member of this name, if this is an object that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }

    /// The text that this is.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// This, with every text written by `quote`.
    pub(super) fn show(&self, quote: fn(&str) -> String) -> String {
        let mut out = String::new();
        self.write(&mut out, quote);
        out
    }

    /// The same over several lines where one would be too long behind `used` characters.
    pub(super) fn lay_out(&self, used: usize, quote: fn(&str) -> String) -> String {
        let mut out = String::new();
        self.write_wrapped(&mut out, used, 0, quote);
        out
    }

    fn write(&self, out: &mut String, quote: fn(&str) -> String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::Text(text) => out.push_str(&quote(text)),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    item.write(out, quote);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    out.push_str(&plain(name));
                    out.push_str(": ");
                    value.write(out, quote);
                }
                out.push('}');
            }
        }
    }

    fn write_wrapped(
        &self,
        out: &mut String,
        used: usize,
        depth: usize,
        quote: fn(&str) -> String,
    ) {
        let line = self.show(quote);
        let (open, close, parts): (_, _, Vec<(String, &Self)>) = match self {
            Self::List(items) if !items.is_empty() => {
                let items = items.iter().map(|item| (String::new(), item));
                ('[', ']', items.collect())
            }
            Self::Object(members) if !members.is_empty() => {
                let members = members.iter();
                let members = members.map(|(name, value)| (format!("{}: ", plain(name)), value));
                ('{', '}', members.collect())
            }
            _ => return out.push_str(&line),
        };
        if used + line.chars().count() <= WIDTH {
            return out.push_str(&line);
        }
        let inside = "  ".repeat(depth + 1);
        out.push(open);
        for (at, (name, value)) in parts.iter().enumerate() {
            out.push_str(if at == 0 { "\n" } else { ",\n" });
            out.push_str(&inside);
            out.push_str(name);
            let used = inside.len() + name.chars().count() + 1;
            value.write_wrapped(out, used, depth + 1, quote);
        }
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
        out.push(close);
    }
}

/// A text as JSON has it.
pub(super) fn plain(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// On one line, as it is sent.
impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.show(plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"b": 1, "a": [true, null, "x\ny"], "c": {}}"#;
        assert_eq!(Json::read(text).unwrap().to_string(), text);
    }

    #[test]
    fn what_is_too_long_is_broken_at_its_outermost_level() {
        let text = format!(r#"{{"short": [1, 2], "long": "{}"}}"#, "x".repeat(110));
        let long = Json::read(&text).unwrap();
        let expected = format!(
            "{{\n  \"short\": [1, 2],\n  \"long\": \"{}\"\n}}",
            "x".repeat(110)
        );
        assert_eq!(long.lay_out(0, plain), expected);
        assert_eq!(Json::read(&expected).unwrap(), long);
    }

    #[test]
    fn what_is_nested_too_deeply_is_an_error() {
        assert!(Json::read(&"[".repeat(100_000)).is_err());
    }
}
