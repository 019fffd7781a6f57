//! Reads JSON that other programs parse too. Parsers differ about duplicate names, similar spellings of a name, and
//! lone surrogates: here all variants count, and make the value unclear.

use std::fmt;

use acp_chain_proxy::Strings;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::fold::fold;

/// The members of an object, in order, duplicates included.
#[derive(Default)]
pub struct Object<'a>(Vec<(String, &'a RawValue)>);

impl Object<'_> {
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }
}

/// Reads values, and records whether any of them is ambiguous or malformed.
#[derive(Default)]
pub struct Reader {
    pub unclear: bool,
}

impl Reader {
    /// The members of an object; empty if it is something else.
    pub fn object<'a>(&mut self, json: &'a str) -> Object<'a> {
        self.or_unclear(serde_json::from_str(json).ok())
    }

    /// The elements of an array; empty if it is something else.
    pub fn items<'a>(&mut self, json: &'a str) -> Vec<&'a str> {
        let items: Vec<&RawValue> = self.or_unclear(serde_json::from_str(json).ok());
        items.into_iter().map(RawValue::get).collect()
    }

    /// All values of a member, except nulls.
    pub fn all<'a>(&mut self, object: &Object<'a>, name: &str) -> Vec<&'a str> {
        let members = object.0.iter();
        let found: Vec<_> = members
            .filter(|(given, _)| is_read_as(given, name))
            .collect();
        self.unclear |= found.len() > 1 || found.iter().any(|(given, _)| given != name);
        let values = found.iter().map(|(_, value)| value.get());
        values.filter(|value| *value != "null").collect()
    }

    /// All texts of a member.
    pub fn texts(&mut self, object: &Object, name: &str) -> Vec<String> {
        let values = self.all(object, name);
        let texts = values.into_iter().map(|value| self.text(value));
        texts.flatten().collect()
    }

    /// All texts of an array of texts.
    pub fn texts_of(&mut self, json: &str) -> Vec<String> {
        let items = self.items(json).into_iter();
        items.filter_map(|item| self.text(item)).collect()
    }

    /// All texts in a value, down to a depth.
    pub fn every_text(&mut self, json: &str, depth: usize) -> Vec<String> {
        let values: Vec<_> = match json.as_bytes().first() {
            Some(b'"') => return self.text(json).into_iter().collect(),
            Some(b'[') if depth > 0 => self.items(json),
            Some(b'{') if depth > 0 => {
                let object = self.object(json).0.into_iter();
                object.map(|(_, value)| value.get()).collect()
            }
            _ => return Vec::new(),
        };
        let values = values.into_iter();
        values
            .flat_map(|value| self.every_text(value, depth - 1))
            .collect()
    }

    /// A text, with U+FFFD for undecodable parts; `None` if it is something else.
    pub fn text(&mut self, json: &str) -> Option<String> {
        self.unclear |= serde_json::from_str::<String>(json).is_err();
        decoded(json)
    }

    fn or_unclear<T: Default>(&mut self, read: Option<T>) -> T {
        self.unclear |= read.is_none();
        read.unwrap_or_default()
    }
}

/// Whether some parser reads `given` as the member `name`.
fn is_read_as(given: &str, name: &str) -> bool {
    if given.is_ascii() {
        given.eq_ignore_ascii_case(name)
    } else {
        fold(given) == fold(name)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<&RawValue, _>()? {
                    members.push((decoded(name.get()).unwrap_or_default(), value));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

/// The text of a string, even of one that is not valid Unicode; `None` if it is something else.
fn decoded(json: &str) -> Option<String> {
    let string = Strings::of(json).next().ok()?;
    let string = string.filter(|_| json.starts_with('"'))?;
    Some(string.decoded().into_owned())
}
