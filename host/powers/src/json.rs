//! One level of a JSON text.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// One level of a JSON text.
pub(crate) enum Container<'t> {
    Object(Vec<(Cow<'t, str>, &'t RawValue)>),
    Array(Vec<&'t RawValue>),
    /// A string, a number, a boolean or null.
    Neither,
    /// An object with duplicate names, or a name with a lone surrogate: parsers differ.
    Ambiguous,
}

pub(crate) fn container(value: &RawValue) -> Container<'_> {
    if !value.get().starts_with(['{', '[']) {
        return Container::Neither;
    }
    let mut reader = serde_json::Deserializer::from_str(value.get());
    // The text is valid JSON, so no other error is expected.
    reader
        .deserialize_any(Level)
        .unwrap_or(Container::Ambiguous)
}

struct Level;

impl<'de> Visitor<'de> for Level {
    type Value = Container<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Container<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            let Ok(name) = serde_json::from_str::<Cow<str>>(name.get()) else {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(Container::Ambiguous);
            };
            members.push((name, value));
        }
        let names: BTreeSet<_> = members.iter().map(|(name, _)| name).collect();
        if names.len() == members.len() {
            Ok(Container::Object(members))
        } else {
            Ok(Container::Ambiguous)
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Container<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Container::Array(items))
    }
}
