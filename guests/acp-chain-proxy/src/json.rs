//! JSON that keeps its spelling: a value is text until a part of it is changed, and untouched parts stay byte for
//! byte, whatever numbers, escapes or unknown members they contain. Always one valid JSON value.

mod entries;
mod find;
mod members;
mod quote;
#[cfg(not(target_arch = "wasm32"))]
mod splice;
mod strings;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

#[cfg(not(target_arch = "wasm32"))]
use crate::Edit;
pub use members::Members;
pub use strings::{DEPTH, RawString, Step, Strings, StringsError};

/// A JSON value that keeps its spelling.
///
/// Reading takes a [JSON Pointer](https://www.rfc-editor.org/rfc/rfc6901) and the expected type; changing parses only
/// the objects and arrays on the way.
///
/// ```
/// use acp_chain_proxy::Json;
///
/// let mut params: Json = r#"{"sessionId":"s","max":1e400,"prompt":[{"type":"text","text":"hi"}]}"#.parse()?;
/// assert_eq!(params.at::<String>("/prompt/0/type").as_deref(), Some("text"));
/// params.edit("/prompt/0/text", |text: String| text.to_uppercase());
/// assert_eq!(
///     params.to_string(),
///     r#"{"sessionId":"s","max":1e400,"prompt":[{"type":"text","text":"HI"}]}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Json(Node);

#[derive(Clone)]
enum Node {
    /// Untouched text: one JSON value, without white space around it.
    Raw(Box<str>),
    Array(Vec<Json>),
    Object(Members),
}

impl Json {
    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(Node::Raw("null".into()))
    }

    fn from_raw(raw: Box<RawValue>) -> Self {
        Self(Node::Raw(raw.into()))
    }

    /// JSON from the host. It is not validated here, as most proxies only pass it on.
    pub(crate) fn from_host(text: String) -> Self {
        let value = text.trim_matches([' ', '\t', '\n', '\r']);
        if value.len() == text.len() {
            Self(Node::Raw(text.into()))
        } else {
            Self(Node::Raw(value.into()))
        }
    }

    /// Any value that serde can serialize as JSON.
    pub fn of(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        to_raw_value(value).map(Self::from_raw)
    }

    /// The whole value as a Rust type.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&self.spelling())
    }

    /// The part at a JSON Pointer as a Rust type; `None` if there is no part, or it has another type. A `String` cannot
    /// hold half of a surrogate pair: a proxy that refuses messages by their text reads it with [`Strings`], which
    /// replace the half.
    #[must_use]
    pub fn at<T: DeserializeOwned>(&self, pointer: &str) -> Option<T> {
        find::find(self, pointer)
    }

    /// The text with its spelling, to be examined in place (see [`Strings`]).
    #[must_use]
    pub fn spelling(&self) -> Cow<'_, str> {
        match &self.0 {
            Node::Raw(raw) => Cow::Borrowed(raw),
            Node::Array(_) | Node::Object(_) => self.to_string().into(),
        }
    }

    /// The range of the part at a JSON Pointer in the [spelling](Self::spelling); `None` if there is no part, or the
    /// value was changed.
    #[must_use]
    pub fn place(&self, pointer: &str) -> Option<Range<usize>> {
        match &self.0 {
            Node::Raw(raw) => find::place(raw, find::tokens(pointer)?),
            Node::Array(_) | Node::Object(_) => None,
        }
    }

    /// The part at a JSON Pointer, to be changed.
    pub fn at_mut(&mut self, pointer: &str) -> Option<&mut Json> {
        find::tokens(pointer)?.try_fold(self, |json, token| {
            if json.text().starts_with('[') {
                json.items_mut()?.get_mut(find::index(&token)?)
            } else {
                json.members_mut()?.get_mut(&token)
            }
        })
    }

    /// Rewrites the part at a JSON Pointer. Returns `false` and changes nothing if there is no part of the type `T`, or
    /// the new value cannot be serialized as JSON.
    pub fn edit<T: DeserializeOwned, U: Serialize>(
        &mut self,
        pointer: &str,
        change: impl FnOnce(T) -> U,
    ) -> bool {
        let Some(part) = self.at_mut(pointer) else {
            return false;
        };
        let Ok(old) = part.parse() else { return false };
        let Ok(new) = Json::of(&change(old)) else {
            return false;
        };
        *part = new;
        true
    }

    /// Applies a change to the text, by the rules of [`Edit`].
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn edited(&self, edit: &Edit) -> Result<Self, String> {
        let value = edit.value.as_ref().map(Json::spelling);
        splice::splice(&self.spelling(), &edit.pointer, value.as_deref())?
            .try_into()
            .map_err(|error: serde_json::Error| error.to_string())
    }

    /// Puts a value at a JSON Pointer, and creates objects on the way that are missing or null. Fails if anything
    /// else but an object is in the way.
    pub fn put(&mut self, pointer: &str, value: impl Serialize) -> serde_json::Result<()> {
        let blocked = || serde_json::Error::custom(format!("no place for a value at `{pointer}`"));
        let mut place = self;
        for token in find::tokens(pointer).ok_or_else(blocked)? {
            if place.text() == "null" {
                *place = Self(Node::Object(Members::default()));
            }
            place = place.members_mut().ok_or_else(blocked)?.entry(&token);
        }
        *place = Json::of(&value)?;
        Ok(())
    }

    /// The elements, if this is an array.
    pub fn items_mut(&mut self) -> Option<&mut Vec<Json>> {
        if let Node::Raw(raw) = &self.0 {
            self.0 = Node::Array(serde_json::from_str(raw).ok()?);
        }
        match &mut self.0 {
            Node::Array(items) => Some(items),
            Node::Raw(_) | Node::Object(_) => None,
        }
    }

    /// The members, if this is an object.
    pub fn members_mut(&mut self) -> Option<&mut Members> {
        if let Node::Raw(raw) = &self.0 {
            self.0 = Node::Object(serde_json::from_str(raw).ok()?);
        }
        match &mut self.0 {
            Node::Object(members) => Some(members),
            Node::Raw(_) | Node::Array(_) => None,
        }
    }

    /// The text, as far as needed to know the kind of value: all of it, or the opening bracket.
    fn text(&self) -> &str {
        match &self.0 {
            Node::Raw(raw) => raw,
            Node::Array(_) => "[",
            Node::Object(_) => "{",
        }
    }
}

impl std::str::FromStr for Json {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for Json {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        RawValue::from_string(text).map(Self::from_raw)
    }
}

impl From<Json> for String {
    fn from(json: Json) -> Self {
        match json.0 {
            Node::Raw(raw) => raw.into(),
            Node::Array(_) | Node::Object(_) => json.to_string(),
        }
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Json::of(&value).expect("a JSON value is JSON")
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self(Node::Raw(quote::quote(text).into()))
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Self(Node::Array(items))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Node::Raw(raw) => formatter.write_str(raw),
            Node::Array(_) | Node::Object(_) => {
                formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
            }
        }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl PartialEq for Json {
    /// Equal spelling.
    fn eq(&self, other: &Self) -> bool {
        self.spelling() == other.spelling()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            // Checked here, as it becomes a part of something else.
            Node::Raw(raw) => {
                let raw: &RawValue =
                    serde_json::from_str(raw).map_err(serde::ser::Error::custom)?;
                raw.serialize(serializer)
            }
            Node::Array(items) => items.serialize(serializer),
            Node::Object(members) => members.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from_raw)
    }
}

#[cfg(test)]
mod tests;
