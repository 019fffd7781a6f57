//! Places of a body: those that may change, and those that are hidden.
//!
//! A place is a JSON Pointer (RFC 6901), and includes everything beneath it. In the patterns of the table, `*` matches
//! any one part, `**` any number of parts, and `{own}` the name under which a proxy may leave marks in `_meta`. The
//! empty pattern is the whole body. For hidden places, `**` at the end matches everything there that is not an object
//! or array, at any depth.

use std::borrow::Cow;

use foldhash::HashMap;
use serde_json::value::RawValue;

use crate::json::{Container, container};
use crate::protocol::fold;

/// The maximum depth at which bodies are compared; anything deeper may not change.
const DEEPEST: usize = 64;

/// The replacement for a hidden text.
pub const MASK: &str = "\"[hidden]\"";

/// A change at one place: its pointer, and the new value, if any.
pub type Change<'a> = (String, Option<&'a RawValue>);

/// Why two bodies differ in more than some places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// They differ at this other place.
    Differs(String),
    /// Comparing them needs too much reading.
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
    /// The places of some patterns; `own` stands for `{own}`.
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

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a pointer names one of them, or something beneath one.
    #[must_use]
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

    /// The changes that turn one body into another that differs only in these places. Everything else must have the
    /// same bytes. `budget` is how many bytes may be read, and the rest afterwards.
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

    /// The pointers to existing values at these places, including names that a lenient parser treats as equal. An
    /// object or array with two readings is named as a whole.
    #[must_use]
    pub fn find(&self, body: &RawValue) -> Vec<String> {
        let rests: Vec<Rest> = self.0.iter().map(Vec::as_slice).collect();
        let mut found = Vec::new();
        find(body, &rests, &mut String::new(), DEEPEST, &mut found);
        found
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
    /// How much deeper it may go.
    depth: usize,
    /// How much it may still read.
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
            // It is empty, like a missing one.
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
            // It appears or disappears as a whole, with its contents.
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

    /// Compares the contents, one part deeper.
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

fn find(
    body: &RawValue,
    rests: &[Rest],
    place: &mut String,
    depth: usize,
    found: &mut Vec<String>,
) {
    if done(rests) || depth == 0 {
        return found.push(place.clone());
    }
    if rests.is_empty() {
        return;
    }
    let mut look = |name: &str, value: &RawValue, place: &mut String| {
        let length = place.len();
        push(place, name);
        let name = plain(name);
        let rests = advance(rests, |wanted| plain(wanted) == name);
        find(value, &rests, place, depth - 1, found);
        place.truncate(length);
    };
    match container(body) {
        Container::Object(members) => {
            for (name, value) in members {
                look(&name, value, place);
            }
        }
        Container::Array(items) => {
            for (at, value) in items.into_iter().enumerate() {
                look(&at.to_string(), value, place);
            }
        }
        Container::Ambiguous => found.push(place.clone()),
        // No place is beneath it.
        Container::Neither if rests.iter().any(|rest| matches!(rest, [Part::Deep])) => {
            found.push(place.clone());
        }
        Container::Neither => {}
    }
}

/// A name as the most lenient parser sees it.
fn plain(name: &str) -> String {
    fold(name).replace(['_', '-'], "")
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
    fn a_mark_of_its_own_can_be_added_with_what_it_stands_in() {
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
    fn two_readings_of_one_name_may_not_change() {
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
    fn a_pointer_is_judged_like_the_change_that_it_makes() {
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
    fn what_is_hidden_is_found_at_every_depth() {
        let places = Places::new(["/m/*/env/*/value", "/**/_meta/*"], "");
        let body =
            r#"{"m":[{"env":[{"name":"A","value":"s"},{"value":2}]}],"x":{"_meta":{"k":{}}}}"#;
        assert_eq!(
            places.find(raw(body)),
            ["/m/0/env/0/value", "/m/0/env/1/value", "/x/_meta/k"]
        );
        let twice = r#"{"m":[],"m":[{"env":[{"value":1}]}]}"#;
        assert_eq!(places.find(raw(twice)), [""]);
    }

    #[test]
    fn what_is_hidden_is_found_in_whatever_shape_it_is() {
        let places = Places::new(["/mcpServers/*/env/**", "/**/_meta/*", "/**/_meta/**"], "");
        let found = |body: &str| places.find(raw(body));
        for (server, place) in [
            (r#"{"env":"s"}"#, "/env"),
            (r#"{"env":{"TOKEN":"s"}}"#, "/env/TOKEN"),
            (r#"{"env":["T=s"]}"#, "/env/0"),
            (r#"{"ENV":[{"Value":"s"}]}"#, "/ENV/0/Value"),
            (r#"{"_meta":"s"}"#, "/_meta"),
            (r#"{"_META":{"k":{"deep":1}}}"#, "/_META/k"),
        ] {
            let place = format!("/mcpServers/0{place}");
            assert_eq!(found(&format!(r#"{{"mcpServers":[{server}]}}"#)), [place]);
        }
        assert_eq!(
            found(r#"{"mcpservers":{"x":{"env":"s"}}}"#),
            ["/mcpservers/x/env"]
        );
        assert_eq!(
            found(r#"{"mcp_servers":[{"env":"s"}],"cwd":"/"}"#),
            ["/mcp_servers/0/env"]
        );
    }

    #[test]
    fn deep_bodies_are_compared_without_end_of_the_stack() {
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
