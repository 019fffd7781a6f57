use proptest::prelude::*;
use proptest::sample::select;
use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::super::pointer::{member, resolve};
use super::*;

/// The members of an object, found by another reader.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(&'de RawValue, &'de RawValue)>;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

fn by_another_reader(line: &str) -> Result<Outline, Flaw> {
    let mut reader = serde_json::Deserializer::from_str(line);
    let members = reader.deserialize_map(Members);
    let members = members.and_then(|members| reader.end().map(|()| members));
    let mut outline = Outline::default();
    for (name, value) in members.map_err(|_| Flaw::NoObject)? {
        let name = decoded(name.get());
        let Some(which) = name.as_deref().and_then(position) else {
            outline.is_ambiguous |= name.is_none_or(|name| resembles_field(&name));
            continue;
        };
        if which == PARAMS {
            let kind = resolve(value.get(), "/update/sessionUpdate").expect("a pointer");
            outline.update = kind.map(|text| span(line, text));
        }
        let field = Field {
            value: span(line, value.get()),
            session: member(value.get(), SESSION).map(|text| span(line, text)),
        };
        if outline.fields[usize::from(which)].replace(field).is_some() {
            return Err(Flaw::Twice(which));
        }
    }
    Ok(outline)
}

fn span(line: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - line.as_ptr().addr();
    start..start + part.len()
}

/// Reads a line that arrives in pieces of these lengths, in turn.
fn in_pieces(line: &str, lengths: &[usize]) -> Result<Outline, Flaw> {
    let mut scanner = Scanner::default();
    let (mut end, mut lengths) = (0, lengths.iter().cycle());
    while end < line.len() {
        end = line.ceil_char_boundary(end + lengths.next().unwrap_or(&1));
        scanner.read(&line[..end]);
    }
    scanner.finish()
}

fn assert_same(line: &str, one: &Result<Outline, Flaw>, other: &Result<Outline, Flaw>) {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one.fields, other.fields, "{line}");
            assert_eq!(one.update, other.update, "{line}");
            assert_eq!(one.is_ambiguous, other.is_ambiguous, "{line}");
        }
        // A line may be malformed after a duplicate field.
        (Err(_), Err(Flaw::NoObject)) => {}
        (one, other) => assert_eq!(
            (one.as_ref().err(), other.as_ref().err()),
            (other.as_ref().err(), one.as_ref().err()),
            "{line}"
        ),
    }
}

const TOKENS: [&str; 47] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\t",
    "\r",
    "\n",
    "\u{b}",
    "\u{feff}",
    "é",
    "\"",
    "\\",
    "7",
    "-",
    "0",
    "-0.5e+30",
    "1E9",
    "01",
    "1.",
    ".5",
    "1e",
    "+1",
    "true",
    "false",
    "null",
    "nul",
    "nulll",
    "\"\"",
    "\"id\"",
    "\"jsonrpc\"",
    "\"i\\u0064\"",
    "\"Method\"",
    "\"params\"",
    "\"sessionId\"",
    "\"\\u0073essionId\"",
    "\"update\"",
    "\"sessionUpdate\"",
    "\"session\\u0055pdate\"",
    "\"\\ud800\"",
    "\"\\x\"",
    "\"\\u00g0\"",
    "\"a\nb\"",
    "\"日本語 and \\\"more\\\\ \\n 🦀\"",
    "\"\u{7f}\u{80}\"",
];

fn value() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[ -~é日🦀]{0,80}".prop_map(|text| serde_json::Value::from(text).to_string()),
        (0..400_usize).prop_map(|len| format!("\"{}\"", "x".repeat(len))),
    ];
    let leaf = prop_oneof![
        text,
        select(&["0", "-1.5e-7", "true", "false", "null", "1e400"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let names = select(&[
            "sessionId",
            "\\u0073essionId",
            "update",
            "sessionUpdate",
            "id",
            "",
            "result",
            "Result",
            "re\\u0073ult",
            "\\ud800",
            "params",
            "a name that is rather long",
        ]);
        let members = (names, select(&[":", " :", ": "]), inner.clone());
        let members = members.prop_map(|(name, colon, value)| format!("\"{name}\"{colon}{value}"));
        let commas = select(&[",", " , ", ",\r\n"]);
        prop_oneof![
            (prop::collection::vec(members, 0..5), commas.clone())
                .prop_map(|(all, comma)| format!("{{{}}}", all.join(comma))),
            (prop::collection::vec(inner, 0..5), commas)
                .prop_map(|(all, comma)| format!("[{}]", all.join(comma))),
        ]
    })
}

/// Lines that are JSON, and lines that were damaged.
pub fn line() -> impl Strategy<Value = String> {
    let changed = (
        value(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        select(&TOKENS),
    );
    let changed = changed.prop_map(|(line, from, to, token)| {
        let place =
            |index: prop::sample::Index| line.floor_char_boundary(index.index(line.len() + 1));
        let (from, to) = (place(from), place(to));
        let short = from.min(to)..from.max(to).min(line.ceil_char_boundary(from.min(to) + 3));
        [
            &line[..short.start],
            token,
            &line[short.end.max(short.start)..],
        ]
        .concat()
    });
    let tokens = prop::collection::vec(select(&TOKENS), 0..12);
    prop_oneof![3 => value(), 3 => changed, 1 => tokens.prop_map(|tokens| tokens.concat())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn another_reader_finds_the_same_outline(line in line()) {
        assert_same(&line, &Outline::of(&line), &by_another_reader(&line));
    }

    #[test]
    fn the_result_does_not_depend_on_the_pieces_of_a_line(
        line in line(),
        lengths in prop::collection::vec(1..20_usize, 1..8),
    ) {
        let whole = Outline::of(&line);
        for lengths in [&lengths[..], &[1]] {
            let pieces = in_pieces(&line, lengths);
            prop_assert_eq!(whole.as_ref().err(), pieces.as_ref().err());
            assert_same(&line, &pieces, &whole);
        }
    }

    #[test]
    fn the_end_of_a_string_is_found(text in "[ -~]{0,200}", at in any::<prop::sample::Index>(), end in 0..0x80_u8) {
        let mut text = text.into_bytes();
        let at = at.index(text.len() + 1);
        text.insert(at, end);
        let expected = text.iter().position(|byte| is_special(*byte));
        prop_assert_eq!(plain(&text), expected.unwrap_or(text.len()));
    }
}

#[test]
fn objects_and_arrays_are_distinguished_at_any_depth() {
    for depth in [1, 2, 62, 63, 64, 65, 127, 128, 129, 1000] {
        let opens = "[{\"a\":".repeat(depth);
        let line = format!("{{\"a\":{opens}0{}}}", "}]".repeat(depth));
        assert!(Outline::of(&line).is_ok(), "{depth}");
        let wrong = format!("{{\"a\":{opens}0{}]}}}}", "}]".repeat(depth - 1));
        assert_eq!(Outline::of(&wrong).unwrap_err(), Flaw::NoObject, "{depth}");
    }
}
