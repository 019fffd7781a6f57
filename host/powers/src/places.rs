//! Places of a body: those that may change, and those that are shown.
//!
//! A place is a JSON Pointer (RFC 6901). In the patterns of the table, `*` matches one part, `**` any number of parts,
//! and `{own}` the name under which the proxy may add marks in `_meta`. A place that may change includes everything
//! beneath it, and the empty pattern is the whole body. A place that is shown includes everything beneath it only if
//! its pattern ends in `**`.

use std::borrow::Cow;

use foldhash::HashMap;
use serde_json::value::RawValue;

use crate::json::{Container, container};

/// The maximum depth at which bodies are compared; anything deeper may not change.
const DEEPEST: usize = 64;

/// The replacement for a hidden text.
pub const MASK: &str = "\"[hidden]\"";

/// A change at one place: its pointer, and the new value, if any.
pub type Change<'a> = (String, Option<&'a RawValue>);

/// Why a comparison of two bodies failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The bodies differ at this place, which may not change.
    Differs(String),
    /// The budget is exhausted.
    TooMuch,
}

/// A set of places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places<'a>(Vec<Vec<Part<'a>>>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part<'a> {
    Name(Cow<'a, str>),
    Any,
    Deep,
}

/// The rest of a pattern.
type Rest<'p, 'a> = &'p [Part<'a>];

impl<'a> Places<'a> {
    /// Parses patterns; `own` replaces `{own}`.
    pub fn new(patterns: impl IntoIterator<Item = &'a str>, own: &'a str) -> Self {
        let patterns = patterns.into_iter().map(|pattern| {
            let parts = pattern.split('/').skip(1);
            let parts = parts.map(|part| match part {
                "*" => Part::Any,
                "**" => Part::Deep,
                "{own}" => Part::Name(own.into()),
                name => Part::Name(name.into()),
            });
            parts.collect()
        });
        Self(patterns.collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a pointer is to one of the places, or beneath one.
    pub fn contain(&self, pointer: &str) -> bool {
        let mut rests: Vec<Rest> = self.0.iter().map(Vec::as_slice).collect();
        for part in pointer.split('/').skip(1) {
            if done(&rests) {
                return true;
            }
            let name = part.replace("~1", "/").replace("~0", "~");
            rests = advance(&rests, |wanted| wanted == name);
        }
        done(&rests)
    }

    /// The changes from one body to another that differs only in these places. Everything else must have the same
    /// bytes. `budget` is the number of bytes that may be read, and is reduced accordingly.
    pub fn compare<'t>(
        &self,
        old: &'t RawValue,
        new: &'t RawValue,
        budget: &mut usize,
    ) -> Result<Vec<Change<'t>>, Mismatch> {
        let rests: Vec<Rest> = self.0.iter().map(Vec::as_slice).collect();
        let mut comparison = Comparison {
            place: String::new(),
            depth: DEEPEST,
            budget,
            changes: Vec::new(),
        };
        comparison.values(Some(old), Some(new), &rests)?;
        Ok(comparison.changes)
    }

    /// The JSON text of a body with only these places. Of everything else, names, `true`, `false` and `null` remain: a
    /// string or number becomes [`MASK`], an object or array becomes empty, and so does an ambiguous object.
    pub fn part_of(&self, body: &RawValue) -> String {
        let rests: Vec<Rest> = self.0.iter().map(Vec::as_slice).collect();
        let mut part = String::new();
        write_part(body, &rests, DEEPEST, &mut part);
        part
    }
}

/// Whether one of the patterns ends here.
fn done(rests: &[Rest]) -> bool {
    rests.iter().any(|rest| rest.is_empty())
}

/// The rests of patterns, advanced by one part.
fn advance<'p, 'a>(rests: &[Rest<'p, 'a>], is_name: impl Fn(&str) -> bool) -> Vec<Rest<'p, 'a>> {
    let mut next = Vec::new();
    for rest in rests {
        let mut rest = *rest;
        // `**` may match nothing, or more.
        while let [Part::Deep, behind @ ..] = rest {
            next.push(rest);
            rest = behind;
        }
        match rest {
            [Part::Any, behind @ ..] => next.push(behind),
            [Part::Name(wanted), behind @ ..] if is_name(wanted) => next.push(behind),
            _ => {}
        }
    }
    next
}

/// A comparison at its current place.
struct Comparison<'t, 'b> {
    place: String,
    /// The remaining depth.
    depth: usize,
    /// The remaining number of bytes that may be read.
    budget: &'b mut usize,
    changes: Vec<Change<'t>>,
}

impl<'t> Comparison<'t, '_> {
    fn values(
        &mut self,
        old: Option<&'t RawValue>,
        new: Option<&'t RawValue>,
        rests: &[Rest],
    ) -> Result<(), Mismatch> {
        self.spend(old)?;
        self.spend(new)?;
        if old.map(RawValue::get) == new.map(RawValue::get) {
            return Ok(());
        }
        if done(rests) {
            self.changes.push((self.place.clone(), new));
            return Ok(());
        }
        if rests.is_empty() || self.depth == 0 {
            return Err(self.differs());
        }
        let before = self.changes.len();
        match (old.map(container), new.map(container)) {
            (Some(Container::Object(old)), Some(Container::Object(new))) => {
                self.objects(&old, &new, rests)?;
            }
            (None, Some(Container::Object(new))) => self.objects(&[], &new, rests)?,
            // `null` is treated like a missing object.
            (Some(Container::Neither), Some(Container::Object(new)))
                if old.is_some_and(|old| old.get() == "null") =>
            {
                self.objects(&[], &new, rests)?;
            }
            (Some(Container::Object(old)), None) => self.objects(&old, &[], rests)?,
            (Some(Container::Array(old)), Some(Container::Array(new)))
                if old.len() == new.len() =>
            {
                for (at, (old, new)) in old.iter().zip(&new).enumerate() {
                    self.step(&at.to_string(), Some(old), Some(new), rests)?;
                }
            }
            _ => return Err(self.differs()),
        }
        if old.is_none_or(|old| old.get() == "null") || new.is_none() {
            // An added or removed object is one change.
            self.changes.truncate(before);
            self.changes.push((self.place.clone(), new));
        }
        Ok(())
    }

    fn objects(
        &mut self,
        old: &Members<'t>,
        new: &Members<'t>,
        rests: &[Rest],
    ) -> Result<(), Mismatch> {
        let by_name = |members: &Members<'t>| -> HashMap<String, &'t RawValue> {
            let named = members.iter();
            named
                .map(|(name, value)| (name.to_string(), *value))
                .collect()
        };
        let (olds, news) = (by_name(old), by_name(new));
        let added = new.iter().filter(|(name, _)| !olds.contains_key(&**name));
        for (name, _) in old.iter().chain(added) {
            let (old, new) = (olds.get(&**name), news.get(&**name));
            self.step(name, old.copied(), new.copied(), rests)?;
        }
        Ok(())
    }

    /// Compares a member or an item.
    fn step(
        &mut self,
        name: &str,
        old: Option<&'t RawValue>,
        new: Option<&'t RawValue>,
        rests: &[Rest],
    ) -> Result<(), Mismatch> {
        let length = self.place.len();
        push(&mut self.place, name);
        self.depth -= 1;
        self.values(old, new, &advance(rests, |wanted| wanted == name))?;
        self.depth += 1;
        self.place.truncate(length);
        Ok(())
    }

    fn spend(&mut self, value: Option<&RawValue>) -> Result<(), Mismatch> {
        let bytes = value.map_or(0, |value| value.get().len());
        let left = self.budget.checked_sub(bytes);
        *self.budget = left.ok_or(Mismatch::TooMuch)?;
        Ok(())
    }

    fn differs(&self) -> Mismatch {
        Mismatch::Differs(self.place.clone())
    }
}

type Members<'t> = [(Cow<'t, str>, &'t RawValue)];

fn write_part(value: &RawValue, rests: &[Rest], depth: usize, part: &mut String) {
    let is_known = depth > 0 && !rests.is_empty();
    match container(value) {
        Container::Object(members) => {
            part.push('{');
            let known = members.iter().filter(|_| is_known);
            for (at, (name, value)) in known.enumerate() {
                part.push_str(if at > 0 { "," } else { "" });
                // A string always serializes.
                part.push_str(&serde_json::to_string(name).unwrap_or_default());
                part.push(':');
                let rests = advance(rests, |wanted| wanted == name);
                write_part(value, &rests, depth - 1, part);
            }
            part.push('}');
        }
        Container::Array(items) => {
            part.push('[');
            for (at, value) in items.iter().filter(|_| is_known).enumerate() {
                part.push_str(if at > 0 { "," } else { "" });
                let name = at.to_string();
                let rests = advance(rests, |wanted| wanted == name);
                write_part(value, &rests, depth - 1, part);
            }
            part.push(']');
        }
        Container::Ambiguous => part.push_str("{}"),
        Container::Neither => {
            let is_shown = rests.iter().any(|rest| matches!(rest, [] | [Part::Deep]));
            let is_word = matches!(value.get(), "true" | "false" | "null");
            part.push_str(if is_shown || is_word {
                value.get()
            } else {
                MASK
            });
        }
    }
}

/// Extends a pointer by one part.
fn push(place: &mut String, name: &str) {
    place.push('/');
    place.push_str(&name.replace('~', "~0").replace('/', "~1"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    fn compared(patterns: &[&str], old: &str, new: &str) -> Result<Vec<(String, String)>, String> {
        let places = Places::new(patterns.iter().copied(), "acp-chain/me");
        let changes = places
            .compare(raw(old), raw(new), &mut (1 << 30))
            .map_err(|mismatch| match mismatch {
                Mismatch::Differs(place) => place,
                Mismatch::TooMuch => panic!("too much"),
            })?;
        let changes = changes
            .into_iter()
            .map(|(place, value)| (place, value.map_or("", RawValue::get).to_owned()));
        Ok(changes.collect())
    }

    #[test]
    fn only_the_places_may_differ() {
        let old = r#"{"sessionId":"s","prompt":[{"text":"a"}],"n":1.0}"#;
        for (patterns, new, expected) in [
            (
                &["/prompt"][..],
                r#"{"sessionId":"s","prompt":7,"n":1.0}"#,
                Ok("/prompt"),
            ),
            (
                &["/prompt"],
                r#"{"n":1.0,"prompt":[],"sessionId":"s"}"#,
                Ok("/prompt"),
            ),
            (&["/prompt"], r#"{"sessionId":"s","n":1.0}"#, Ok("/prompt")),
            (
                &["/prompt"],
                r#"{"sessionId":"s","prompt":[],"n":1}"#,
                Err("/n"),
            ),
            (
                &["/prompt"],
                r#"{"sessionId":"t","prompt":[],"n":1.0}"#,
                Err("/sessionId"),
            ),
            (
                &["/prompt"],
                r#"{"sessionId":"s","prompt":[],"n":1.0,"x":0}"#,
                Err("/x"),
            ),
            (&["/prompt"], r#"{"sessionId":"s","prompt":[]}"#, Err("/n")),
            (&["/prompt"], "[]", Err("")),
            (
                &["/prompt/*/text"],
                r#"{"sessionId":"s","prompt":[{"text":"b"}],"n":1.0}"#,
                Ok("/prompt/0/text"),
            ),
            (
                &["/prompt/*/text"],
                r#"{"sessionId":"s","prompt":[{"text":"b","x":1}],"n":1.0}"#,
                Err("/prompt/0/x"),
            ),
            (
                &["/prompt/*/text"],
                r#"{"sessionId":"s","prompt":[],"n":1.0}"#,
                Err("/prompt"),
            ),
            (
                &["/prompt/*/text"],
                r#"{"sessionId":"s","prompt":{"0":{"text":"b"}},"n":1.0}"#,
                Err("/prompt"),
            ),
            (&[""], "[]", Ok("")),
            (&[], "[]", Err("")),
        ] {
            let changes = compared(patterns, old, new);
            let places = changes.map(|changes| {
                changes
                    .into_iter()
                    .map(|(place, _)| place)
                    .collect::<Vec<_>>()
                    .join(" ")
            });
            assert_eq!(places.as_deref().map_err(String::as_str), expected, "{new}");
        }
    }

    #[test]
    fn a_mark_can_be_added_together_with_its_parent() {
        let patterns = ["/_meta/{own}"];
        let new = r#"{"a":1,"_meta":{"acp-chain/me":true}}"#;
        let changes = compared(&patterns, r#"{"a":1}"#, new).unwrap();
        let meta = (r"/_meta".to_owned(), r#"{"acp-chain/me":true}"#.to_owned());
        assert_eq!(changes, [meta]);
        let other = r#"{"a":1,"_meta":{"acp-chain/me":true,"x":1}}"#;
        assert_eq!(
            compared(&patterns, r#"{"a":1}"#, other),
            Err("/_meta/x".to_owned())
        );
        let changes = compared(
            &patterns,
            r#"{"_meta":{"x":1}}"#,
            r#"{"_meta":{"x":1,"acp-chain/me":2}}"#,
        );
        assert_eq!(changes.unwrap()[0].0, "/_meta/acp-chain~1me");
    }

    #[test]
    fn objects_with_duplicate_names_may_not_change() {
        let patterns = ["/prompt"];
        for (old, new) in [
            (r#"{"prompt":1,"prompt":2}"#, r#"{"prompt":1,"prompt":3}"#),
            (r#"{"a":1,"prompt":2}"#, r#"{"a":1,"prompt":2,"prompt":3}"#),
            (
                r#"{"a":1,"prompt":2}"#,
                r#"{"a":1,"prompt":2,"\u0070rompt":3}"#,
            ),
        ] {
            assert_eq!(compared(&patterns, old, new), Err(String::new()), "{new}");
        }
    }

    #[test]
    fn pointers_to_the_places_or_beneath_them_are_contained() {
        let places = Places::new(
            ["/prompt", "/a/*/text", "/**/_meta", "/_own/{own}"],
            "acp-chain/me",
        );
        for pointer in [
            "/prompt",
            "/prompt/0/text",
            "/prompt/-",
            "/a/3/text",
            "/a/x/text/y",
            "/_meta",
            "/b/c/_meta/d",
            "/_own/acp-chain~1me",
            "/pro\u{6d}pt",
        ] {
            assert!(places.contain(pointer), "{pointer}");
        }
        for pointer in [
            "",
            "/",
            "/a",
            "/a/3",
            "/promptx",
            "/a/3/texts",
            "/b",
            "/_own/acp-chain",
            "/Prompt",
        ] {
            assert!(!places.contain(pointer), "{pointer}");
        }
    }

    #[test]
    fn a_part_has_the_shown_places_and_the_shape_of_the_rest() {
        let places = Places::new(
            ["/cwd", "/m/*/name", "/c/fs", "/_meta/{own}/**"],
            "acp-chain/me",
        );
        let part = |body: &str| places.part_of(raw(body));
        for (body, expected) in [
            (
                r#"{"cwd":"/p","n":1e400}"#,
                r#"{"cwd":"/p","n":"[hidden]"}"#,
            ),
            (
                r#"{"CWD":"/p","b":true,"z":null}"#,
                r#"{"CWD":"[hidden]","b":true,"z":null}"#,
            ),
            (
                r#"{"cwd":{"a":"s","b":false}}"#,
                r#"{"cwd":{"a":"[hidden]","b":false}}"#,
            ),
            (
                r#"{"m":[{"name":"a","env":[{"value":"s"}],"url":"s","o":{"k":{}}}]}"#,
                r#"{"m":[{"name":"a","env":[],"url":"[hidden]","o":{}}]}"#,
            ),
            (
                r#"{"m":{"x":{"name":"a"}},"n":[[1]]}"#,
                r#"{"m":{"x":{"name":"a"}},"n":[]}"#,
            ),
            (
                r#"{"c":{"fs":{"r":true,"t":"s"},"x":{"y":1}}}"#,
                r#"{"c":{"fs":{"r":true,"t":"[hidden]"},"x":{}}}"#,
            ),
            (
                r#"{"_meta":{"k":"s","acp-chain/me":{"a":[1,{"b":"c"}]}}}"#,
                r#"{"_meta":{"k":"[hidden]","acp-chain/me":{"a":[1,{"b":"c"}]}}}"#,
            ),
            (r#"{"m":[],"m":[{"name":"a"}]}"#, "{}"),
            (r#""s""#, MASK),
            ("[7]", r#"["[hidden]"]"#),
        ] {
            assert_eq!(part(body), expected, "{body}");
        }
    }

    #[test]
    fn deep_bodies_do_not_overflow_the_stack() {
        let deep = |leaf: &str| {
            format!(
                "{}{leaf}{}",
                r#"{"a":"#.repeat(100_000),
                "}".repeat(100_000)
            )
        };
        let (old, new) = (deep("1"), deep("2"));
        assert!(compared(&["/**/_meta"], &old, &new).is_err());
    }
}
