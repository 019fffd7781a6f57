//! JSON values that keep the order of members, and are printed on one line if they fit.

use std::fmt::{self, Display};

use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Number;

/// The maximum width of a printed line.
const WIDTH: usize = 120;

/// Marks for patterns within strings: noncharacters (Unicode 23.7), which no text needs. In received text, U+FFFD
/// replaces them.
pub(super) const MARKS: [char; 2] = ['\u{10ffff}', '\u{10fffe}'];

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
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
    /// An object. Of duplicate members the last counts.
    Object(IndexMap<String, Json>),
}

impl Json {
    /// Parses JSON text.
    ///
    /// # Errors
    /// If it is not JSON, or nested deeper than 127 levels.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Parses JSON text, keeping [`MARKS`] in strings.
    pub(super) fn read_marked(text: &str) -> Result<Self, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let json = Read { has_marks: true }.deserialize(&mut reader)?;
        reader.end().map(|()| json)
    }

    /// The member of this name; `None` if it is missing, or if this is not an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }

    /// The string; `None` if this is another value.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value on one line, with every string written by `quote`.
    pub(super) fn show(&self, quote: fn(&str) -> String) -> String {
        let mut out = String::new();
        self.write(&mut out, quote);
        out
    }

    /// The value with every string written by `quote`: on one line if that fits after `used` characters, else on
    /// several.
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
            Self::List(_) | Self::Object(_) => {
                let (open, close, parts) = self.parts();
                out.push(open);
                for (at, (name, value)) in parts.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    out.push_str(name);
                    value.write(out, quote);
                }
                out.push(close);
            }
        }
    }

    /// The brackets of an array or an object, and its values, with the names of members before them. Other values have
    /// no parts.
    fn parts(&self) -> (char, char, Vec<(String, &Self)>) {
        match self {
            Self::List(items) => {
                let items = items.iter().map(|item| (String::new(), item));
                ('[', ']', items.collect())
            }
            Self::Object(members) => {
                let members = members.iter();
                let members = members.map(|(name, value)| (format!("{}: ", plain(name)), value));
                ('{', '}', members.collect())
            }
            _ => (' ', ' ', Vec::new()),
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
        let (open, close, parts) = self.parts();
        if parts.is_empty() || used + line.chars().count() <= WIDTH {
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

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Read { has_marks: false }.deserialize(reader)
    }
}

/// Reads a value, in one pass at any depth.
#[derive(Clone, Copy)]
struct Read {
    has_marks: bool,
}

impl Read {
    fn text(self, mut text: String) -> String {
        if !self.has_marks && text.contains(MARKS) {
            text = text.replace(MARKS, "\u{fffd}");
        }
        text
    }
}

impl<'de> DeserializeSeed<'de> for Read {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Json, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Read {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        let number = Number::from_f64(number);
        number
            .map(Json::Number)
            .ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(self.text(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = IndexMap::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(self)?;
            object.insert(self.text(name), value);
        }
        Ok(Json::Object(object))
    }
}

/// A string in JSON.
pub fn plain(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes the value on one line, as it is sent.
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
        // Room is counted once per value, not once per level.
        let deep = format!(
            "{}{}1{}",
            "[".repeat(120),
            "1,".repeat(100_000),
            "]".repeat(120)
        );
        assert!(Json::read(&deep).is_ok());
    }
}
