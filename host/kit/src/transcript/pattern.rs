//! JSON patterns in a transcript: the written members must be present, others are ignored.
//!
//! - An object may have more members than the pattern. `null` also matches a missing member.
//! - An array must have exactly the written elements; `"[..]"` as an element matches any number of them.
//! - `"[..]"` as a value matches any value, and within a string any part of it.
//! - `"<name>"` matches any value the first time, and later only an equal one.
//!
//! To write these characters themselves, escape the first of them as in JSON: `\u005b..]`, `\u003cname>`. Parsed
//! patterns use [`MARKS`] for both, so that no received text is taken for a pattern.

use std::collections::BTreeMap;

use super::json::{Json, MARKS, plain};
use acp_chain_channel::limits::LINE;

/// The parsed form of `[..]`.
const ANYTHING: char = MARKS[0];

/// The parsed form of a name begins with this mark.
const CAPTURE: char = MARKS[1];

/// The written form of `[..]`.
const WRITTEN: &str = "[..]";

/// The captured values, by name.
pub type Captures = BTreeMap<String, Json>;

/// The expected form of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPattern(Json);

impl JsonPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        Json::read_marked(&mark(text)).map(Self)
    }

    /// A pattern without wildcards and names.
    pub fn of(value: Json) -> Self {
        Self(value)
    }

    /// The parameters of `tools/call` for the tool `name`, with these arguments.
    #[must_use]
    pub fn of_tool(self, name: &str) -> Self {
        let name = Json::Text(name.to_owned());
        let members = [("name".to_owned(), name), ("arguments".to_owned(), self.0)];
        Self(Json::Object(members.into()))
    }

    /// The name and the arguments of the tool, if these are parameters of `tools/call`.
    pub fn tool(&self) -> Option<(&str, Self)> {
        let Json::Object(members) = &self.0 else {
            return None;
        };
        let (name, arguments) = (self.0.get("name")?.as_text()?, self.0.get("arguments")?);
        let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic());
        (is_word && members.len() == 2).then(|| (name, Self(arguments.clone())))
    }

    /// Whether it is the pattern of an object.
    pub fn is_object(&self) -> bool {
        matches!(self.0, Json::Object(_))
    }

    /// The names of the members, if it is the pattern of an object.
    pub fn members(&self) -> impl Iterator<Item = &String> {
        let members = match &self.0 {
            Json::Object(members) => Some(members.keys()),
            _ => None,
        };
        members.into_iter().flatten()
    }

    /// Whether it contains `[..]`.
    pub fn is_open(&self) -> bool {
        texts(&self.0).iter().any(|text| text.contains(ANYTHING))
    }

    /// The names in the pattern.
    pub fn names(&self) -> Vec<String> {
        let names = texts(&self.0).into_iter();
        let names = names.filter_map(|text| text.strip_prefix(CAPTURE));
        names.map(str::to_owned).collect()
    }

    /// The value, with captures in place of names; `None` if a name has no value, or if the result is longer than a
    /// message may be.
    pub fn fill(&self, known: &Captures) -> Option<Json> {
        fill(&self.0, known, &mut { LINE })
    }

    /// The captures including those of `value`; `None` if the value does not match.
    pub fn matches(&self, value: &Json, known: &Captures) -> Option<Captures> {
        let mut captured = known.clone();
        matches(&self.0, value, &mut captured).then_some(captured)
    }

    /// This pattern, with each part that does not match replaced by that of the value.
    #[must_use]
    pub fn fit(&self, value: &Json, known: &mut Captures) -> Self {
        Self(adapt(&self.0, value, known, &Json::clone))
    }

    /// This pattern, with `[..]` in place of each part that does not match.
    #[must_use]
    pub fn loosen(&self, value: &Json, known: &mut Captures) -> Self {
        let anything = |_: &Json| Json::Text(ANYTHING.into());
        Self(adapt(&self.0, value, known, &anything))
    }

    /// The text of the pattern, laid out to follow `used` characters on the line.
    pub fn lay_out(&self, used: usize) -> String {
        self.0.lay_out(used, quote)
    }
}

impl std::fmt::Display for JsonPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0.show(quote))
    }
}

/// Puts marks in place of patterns, in strings only.
fn mark(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let (before, quoted) = rest.split_at(start + 1);
        let end = end_of_text(quoted);
        let (inside, after) = quoted.split_at(end);
        marked.push_str(before);
        // The name of a member is not a pattern.
        let is_name = after.trim_start_matches('"').trim_start().starts_with(':');
        match name_in(inside) {
            _ if is_name => marked.push_str(inside),
            Some(name) => {
                marked.push(CAPTURE);
                marked.push_str(name);
            }
            None => marked.push_str(&inside.replace(WRITTEN, ANYTHING.encode_utf8(&mut [0; 4]))),
        }
        // The closing quotation mark, if the string has one.
        let end = after.len().min(1);
        marked.push_str(&after[..end]);
        rest = &after[end..];
    }
    marked.push_str(rest);
    marked
}

/// The offset of the closing quotation mark in the rest of a string.
fn end_of_text(quoted: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in quoted.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    quoted.len()
}

/// The name in a string `<name>`.
fn name_in(text: &str) -> Option<&str> {
    let name = text.strip_prefix('<')?.strip_suffix('>')?;
    super::is_name(name).then_some(name)
}

/// The written form of a string.
fn quote(text: &str) -> String {
    if let Some(name) = text.strip_prefix(CAPTURE)
        && super::is_name(name)
    {
        return format!("\"<{name}>\"");
    }
    if name_in(text).is_some() {
        return plain(text).replacen('<', "\\u003c", 1);
    }
    let literal = plain(text).replace(WRITTEN, "\\u005b..]");
    literal.replace(ANYTHING, WRITTEN)
}

/// The strings within a value.
fn texts(value: &Json) -> Vec<&str> {
    match value {
        Json::Text(text) => vec![text],
        Json::List(items) => items.iter().flat_map(texts).collect(),
        Json::Object(members) => members.values().flat_map(texts).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) => Vec::new(),
    }
}

/// Replaces names by their values; `None` if the result has no room.
fn fill(value: &Json, known: &Captures, room: &mut usize) -> Option<Json> {
    Some(match value {
        Json::Text(text) => {
            let captured = match text.strip_prefix(CAPTURE) {
                Some(name) => known.get(name)?,
                None => value,
            };
            *room = room.checked_sub(captured.to_string().len())?;
            captured.clone()
        }
        Json::List(items) => {
            let filled = items.iter().map(|item| fill(item, known, room));
            Json::List(filled.collect::<Option<_>>()?)
        }
        Json::Object(members) => {
            let members = members.iter();
            let filled =
                members.map(|(name, value)| Some((name.clone(), fill(value, known, room)?)));
            Json::Object(filled.collect::<Option<_>>()?)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    })
}

fn is_anything(pattern: &Json) -> bool {
    matches!(pattern, Json::Text(text) if text.chars().eq([ANYTHING]))
}

fn matches(pattern: &Json, value: &Json, known: &mut Captures) -> bool {
    match (pattern, value) {
        (Json::Text(text), value) if text.starts_with(CAPTURE) => {
            let name = &text[CAPTURE.len_utf8()..];
            match known.get(name) {
                Some(captured) => captured == value,
                None => {
                    known.insert(name.to_owned(), value.clone());
                    true
                }
            }
        }
        (pattern, _) if is_anything(pattern) => true,
        (Json::Text(pattern), Json::Text(text)) => {
            has_parts(text, &pattern.split(ANYTHING).collect::<Vec<_>>())
        }
        (Json::Number(one), Json::Number(other)) => {
            let is_whole = |number: &serde_json::Number| number.is_i64() || number.is_u64();
            let may_differ = !(is_whole(one) && is_whole(other));
            one == other || may_differ && one.as_f64() == other.as_f64()
        }
        (Json::List(patterns), Json::List(items)) => list_matches(patterns, items, known),
        (Json::Object(patterns), Json::Object(members)) => {
            patterns.iter().all(|(name, pattern)| {
                let value = members.get(name);
                value.map_or(*pattern == Json::Null, |value| {
                    matches(pattern, value, known)
                })
            })
        }
        (pattern, value) => pattern == value,
    }
}

/// Whether a text consists of these parts in order, with anything between them.
pub(crate) fn has_parts(text: &str, parts: &[&str]) -> bool {
    let [first, middle @ .., last] = parts else {
        return parts == [text];
    };
    let between = text.strip_prefix(first);
    let Some(mut between) = between.and_then(|text| text.strip_suffix(last)) else {
        return false;
    };
    middle.iter().all(|part| match between.split_once(part) {
        Some((_, after)) => {
            between = after;
            true
        }
        None => false,
    })
}

/// Matches an array. The elements between two `"[..]"` are searched for from the left, and the first match is taken, so
/// the number of steps is at most the product of both lengths.
fn list_matches(patterns: &[Json], items: &[Json], known: &mut Captures) -> bool {
    let parts: Vec<_> = patterns.split(is_anything).collect();
    let [first, middle @ .., last] = &parts[..] else {
        return patterns.len() == items.len() && all_match(patterns, items, known);
    };
    if first.len() + last.len() > items.len() || !all_match(first, items, known) {
        return false;
    }
    let (mut rest, end) = items[first.len()..].split_at(items.len() - first.len() - last.len());
    for part in middle {
        let mut starts = 0..=rest.len().saturating_sub(part.len());
        let found = starts.find(|start| {
            let mut tried = known.clone();
            let is_here = rest.len() >= part.len() && all_match(part, &rest[*start..], &mut tried);
            if is_here {
                *known = tried;
            }
            is_here
        });
        match found {
            Some(start) => rest = &rest[start + part.len()..],
            None => return false,
        }
    }
    all_match(last, end, known)
}

/// Whether the first elements match.
fn all_match(patterns: &[Json], items: &[Json], known: &mut Captures) -> bool {
    let mut pairs = patterns.iter().zip(items);
    pairs.all(|(pattern, item)| matches(pattern, item, known))
}

/// Replaces the parts of a pattern that a value does not match; `make` makes the replacement from the part of the
/// value.
fn adapt(pattern: &Json, value: &Json, known: &mut Captures, make: &dyn Fn(&Json) -> Json) -> Json {
    let mut captured = known.clone();
    if matches(pattern, value, &mut captured) {
        *known = captured;
        return pattern.clone();
    }
    match (pattern, value) {
        (Json::Object(patterns), Json::Object(members)) => {
            let adapted = patterns.iter().filter_map(|(name, pattern)| {
                let adapted = match members.get(name) {
                    Some(value) => adapt(pattern, value, known, make),
                    // The member is missing, as expected.
                    None if *pattern == Json::Null => Json::Null,
                    None => return None,
                };
                Some((name.clone(), adapted))
            });
            Json::Object(adapted.collect())
        }
        (Json::List(patterns), Json::List(items)) if !patterns.iter().any(is_anything) => {
            let numbered = items.iter().enumerate();
            let adapted = numbered.map(|(at, item)| match patterns.get(at) {
                Some(pattern) => adapt(pattern, item, known, make),
                None => item.clone(),
            });
            Json::List(adapted.collect())
        }
        (_, value) => make(value),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn holds(pattern: &str, value: &str) -> bool {
        let pattern = JsonPattern::read(pattern).unwrap();
        let value = Json::read(value).unwrap();
        pattern.matches(&value, &Captures::new()).is_some()
    }

    #[test]
    fn only_what_is_written_matters() {
        for (pattern, value) in [
            ("{}", r#"{"a": 1}"#),
            (r#"{"a": {"b": 1}}"#, r#"{"c": 2, "a": {"b": 1, "d": 3}}"#),
            (r#"{"a": null}"#, "{}"),
            (r#"{"a": null}"#, r#"{"a": null}"#),
            (r#"[{"a": 1}, 2]"#, r#"[{"a": 1, "b": 2}, 2]"#),
            ("1", "1.0"),
        ] {
            assert!(holds(pattern, value), "{pattern} {value}");
        }
        for (pattern, value) in [
            (r#"{"a": 1}"#, "{}"),
            (r#"{"a": 1}"#, r#"{"a": 2}"#),
            (r#"{"a": null}"#, r#"{"a": false}"#),
            (r#"{"a": "[..]"}"#, "{}"),
            (r#"{"a": "<x>"}"#, "{}"),
            ("9007199254740993", "9007199254740992"),
            ("[1]", "[1, 2]"),
            ("[1, 2]", "[1]"),
            ("[]", "[1]"),
            ("{}", "[]"),
            ("1", "\"1\""),
        ] {
            assert!(!holds(pattern, value), "{pattern} {value}");
        }
    }

    #[test]
    fn anything_is_a_value_a_stretch_of_text_or_a_run_of_elements() {
        for (pattern, value) in [
            (r#"{"a": "[..]"}"#, r#"{"a": [1]}"#),
            (r#""a[..]c[..]e""#, r#""abcde""#),
            (r#""[..]a""#, r#""aa""#),
            (r#"["[..]"]"#, "[]"),
            (r#"["[..]", 2]"#, "[1, 2]"),
            (r#"[1, "[..]"]"#, "[1, 2, 3]"),
            (r#"["[..]", 2, 3, "[..]", 5]"#, "[1, 2, 2, 3, 4, 5]"),
        ] {
            assert!(holds(pattern, value), "{pattern} {value}");
        }
        for (pattern, value) in [
            (r#""a[..]b""#, r#""ac""#),
            (r#""ab[..]b""#, r#""ab""#),
            (r#""a[..]b""#, "1"),
            (r#"["[..]", 2]"#, "[2, 1]"),
            (r#"[1, "[..]", 1]"#, "[1]"),
            (r#"["[..]", 3, "[..]", 2]"#, "[2, 3]"),
        ] {
            assert!(!holds(pattern, value), "{pattern} {value}");
        }
    }

    #[test]
    fn a_name_has_the_same_value_everywhere() {
        assert!(holds(
            r#"["<x>", "<x>", "<y>"]"#,
            r#"[{"a": 1}, {"a": 1}, 2]"#
        ));
        assert!(!holds(r#"["<x>", "<x>"]"#, "[1, 2]"));
        let pattern = JsonPattern::read(r#"{"id": "<call>", "<call>": 1}"#).unwrap();
        let value = Json::read(r#"{"id": "c-1", "<call>": 1}"#).unwrap();
        let captured = pattern.matches(&value, &Captures::new()).unwrap();
        assert_eq!(captured["call"], Json::Text("c-1".to_owned()));
        assert_eq!(pattern.fill(&captured), Some(value));
        assert_eq!(pattern.names(), ["call"]);
    }

    #[test]
    fn received_text_is_never_a_pattern() {
        for text in [
            "\"\u{10ffff}\"",
            r#""\udbff\udffex>\"}\nclient: x""#,
            "{\"\u{10fffe}x\": 1}",
        ] {
            let value = Json::read(text).unwrap();
            let pattern = JsonPattern::of(value.clone());
            assert!(!pattern.is_open() && pattern.names().is_empty(), "{text}");
            assert_eq!(JsonPattern::read(&pattern.to_string()).unwrap(), pattern);
            assert_eq!(pattern.fill(&Captures::new()), Some(value));
        }
    }

    #[test]
    fn neither_a_name_without_a_value_nor_a_long_text_can_be_sent() {
        let pattern = JsonPattern::read(r#"{"a": "<x>"}"#).unwrap();
        assert_eq!(pattern.fill(&Captures::new()), None);
        let long = Json::Text("a".repeat(LINE / 3));
        let known = Captures::from([("x".to_owned(), long)]);
        assert!(pattern.fill(&known).is_some());
        let pattern = JsonPattern::read(r#"["<x>", "<x>", "<x>"]"#).unwrap();
        assert_eq!(pattern.fill(&known), None);
    }

    #[test]
    fn a_pattern_that_does_not_match_captures_nevertheless_and_null_stays() {
        let pattern = JsonPattern::read(r#"{"id": "<x>", "v": 1, "error": null}"#).unwrap();
        let mut known = Captures::new();
        let value = Json::read(r#"{"id": "r", "v": 2}"#).unwrap();
        let fitted = pattern.fit(&value, &mut known);
        assert_eq!(
            fitted.to_string(),
            r#"{"id": "<x>", "v": 2, "error": null}"#
        );
        assert_eq!(known["x"], Json::Text("r".to_owned()));
    }

    #[test]
    fn an_escaped_pattern_is_plain_text() {
        assert!(holds(r#""\u003cx>""#, r#""<x>""#));
        assert!(!holds(r#""\u003cx>""#, r#""y""#));
        assert!(holds(r#""a\u005b..]""#, r#""a[..]""#));
        assert!(!holds(r#""a\u005b..]""#, r#""ab""#));
    }

    #[test]
    fn a_pattern_that_does_not_match_changes_just_so_far() {
        let fit = |pattern: &str, value: &str| {
            let pattern = JsonPattern::read(pattern).unwrap();
            let fitted = pattern.fit(&Json::read(value).unwrap(), &mut Captures::new());
            fitted.to_string()
        };
        let fitted = fit(
            r#"{"a": "[..]", "b": 1, "c": 2, "d": [{"e": 1}]}"#,
            r#"{"a": 1, "b": 3, "d": [{"e": 2, "f": 4}, 5], "g": 6}"#,
        );
        assert_eq!(fitted, r#"{"a": "[..]", "b": 3, "d": [{"e": 2}, 5]}"#);
    }

    fn json() -> impl Strategy<Value = Json> {
        let text = prop_oneof![
            ".*",
            Just("[..]".to_owned()),
            Just("<x>".to_owned()),
            "a\\[\\.\\.\\]b"
        ];
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(|number| Json::Number(number.into())),
            text.clone().prop_map(Json::Text),
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            let members = prop::collection::vec((text.clone(), inner.clone()), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Json::List),
                members.prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_as_the_same(value in json()) {
            let pattern = JsonPattern::of(value);
            prop_assert_eq!(&JsonPattern::read(&pattern.to_string()).unwrap(), &pattern);
            prop_assert_eq!(&JsonPattern::read(&pattern.lay_out(20)).unwrap(), &pattern);
        }

        #[test]
        fn a_value_matches_itself_and_what_is_fitted_to_it(value in json(), other in json()) {
            let none = Captures::new();
            let pattern = JsonPattern::of(other);
            prop_assert!(JsonPattern::of(value.clone()).matches(&value, &none).is_some());
            let fitted = pattern.fit(&value, &mut Captures::new());
            prop_assert!(fitted.matches(&value, &none).is_some());
        }

        #[test]
        fn nothing_panics(text in ".*", value in json()) {
            if let Ok(pattern) = JsonPattern::read(&text) {
                let _ = pattern.matches(&value, &Captures::new());
            }
        }
    }
}
