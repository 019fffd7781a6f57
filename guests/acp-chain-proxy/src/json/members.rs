//! The members of a JSON object, in order; duplicate names are kept.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Json;

/// The members of a JSON object, in the order in which they were written.
#[derive(Clone, Default)]
pub struct Members(Vec<(String, Json)>);

impl Members {
    /// The value of a member. Of duplicate names the last counts, as in most parsers.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        Some(&self.0[self.place(name)?].1)
    }

    /// The value of a member, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        let place = self.place(name)?;
        Some(&mut self.0[place].1)
    }

    /// Replaces the value of a member in place, or appends the member.
    pub fn insert(&mut self, name: &str, value: Json) {
        *self.entry(name) = value;
    }

    /// Removes a member.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        let place = self.place(name)?;
        Some(self.0.remove(place).1)
    }

    /// All members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// All members in order, their values to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Json)> {
        self.0
            .iter_mut()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The value of a member, which is added as `null` if it is missing.
    pub(super) fn entry(&mut self, name: &str) -> &mut Json {
        let place = self.place(name).unwrap_or_else(|| {
            self.0.push((name.to_owned(), Json::null()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0.iter().rposition(|(key, _)| key == name)
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}
