//! JSON Pointers (RFC 6901): from a value to a part of it, without parsing the rest.

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Json, Node};

/// A part of a value: text, or an array or object that was parsed for a change.
pub(super) enum Part<'a> {
    Raw(&'a str),
    Changed(&'a Json),
}

impl Part<'_> {
    pub(super) fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        match self {
            Part::Raw(raw) => serde_json::from_str(raw),
            Part::Changed(json) => json.parse(),
        }
    }
}

/// The names and indices of a pointer; `None` if it is invalid.
pub(super) fn tokens(pointer: &str) -> Option<impl Iterator<Item = String>> {
    let rooted = pointer.is_empty() || pointer.starts_with('/');
    let mut escapes = pointer.split('~').skip(1);
    if !rooted || !escapes.all(|escape| escape.starts_with(['0', '1'])) {
        return None;
    }
    Some(
        pointer
            .split('/')
            .skip(1)
            .map(|token| token.replace("~1", "/").replace("~0", "~")),
    )
}

/// An array index: digits without a leading zero.
pub(super) fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with(['0', '+']);
    canonical.then(|| token.parse().ok())?
}

pub(super) fn find<'a>(json: &'a Json, pointer: &str) -> Option<Part<'a>> {
    tokens(pointer)?.try_fold(Part::from(json), |part, token| match part {
        Part::Raw(raw) if raw.starts_with('[') => {
            let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            items.get(index(&token)?).map(|item| Part::Raw(item.get()))
        }
        Part::Raw(raw) => {
            let mut object = serde_json::Deserializer::from_str(raw);
            let member = Member(&token).deserialize(&mut object).ok()?;
            member.map(|member| Part::Raw(member.get()))
        }
        Part::Changed(Json(Node::Array(items))) => items.get(index(&token)?).map(Part::from),
        Part::Changed(Json(Node::Object(members))) => members.get(&token).map(Part::from),
        Part::Changed(Json(Node::Raw(_))) => None,
    })
}

impl<'a> From<&'a Json> for Part<'a> {
    fn from(json: &'a Json) -> Self {
        match &json.0 {
            Node::Raw(raw) => Part::Raw(raw),
            Node::Array(_) | Node::Object(_) => Part::Changed(json),
        }
    }
}

/// Reads the last member of this name out of an object.
struct Member<'t>(&'t str);

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<String>()? {
            if name == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
