//! Writes a value of a shape as JSON text, in any spelling that JSON allows.
//!
//! The text is one line: white space never includes a line feed.

use std::collections::BTreeMap;

use super::choices::Choices;
use super::shape::{Field, Shape};

/// From this depth on, only required members are written.
const DEPTH: usize = 8;

/// The depth of an unknown value.
const UNKNOWN_DEPTH: usize = 3;

/// Numbers that a program may change by parsing and serializing them.
pub(super) const NUMBERS: &[&str] = &[
    "0",
    "1e400",
    "-0.0",
    "-0",
    "1E+2",
    "1e-400",
    "1.0",
    "100e-2",
    "0.1000000000000000055511151231257827",
    "9007199254740993",
    "18446744073709551616",
    "-9223372036854775809",
    "1234567890123456789012345678901234567890",
    "-1234567890123456789012345678901234567890.5E-1",
];

/// Parts of strings, as spelt between the quotes.
const PIECES: &[&str] = &[
    "a",
    "plain words",
    "é",
    "漢字",
    "🦀",
    r"\u00e9",
    r"\u00E9",
    r"\/",
    "/",
    r"\n",
    r#"\""#,
    r"\\",
    r"\t\b\f\r",
    r"\u0000",
    r"\u001f",
    r"\ud83e\udd80",
    "\u{2028}",
    "\u{feff}\u{7f}",
    "}]",
    r#"\",\"id\":7,\"sessionId\":\"x\""#,
];

/// Escaped lone surrogates. They are JSON, though not Unicode text.
pub(super) const LONE: &[&str] = &[r"\ud800", r"\uDFFF", r"\udc00\ud800"];

/// Parts of session ids. Every part of a chain can decode them.
const SESSION: &[&str] = &[
    "s1",
    "sess_abc-123",
    "é",
    r"\u00e9",
    r"a\/b",
    r#"\"quoted\""#,
    r"\u0073",
    "🦀",
];

/// Names of members that are in no schema. None has a meaning in an envelope.
const UNKNOWN: &[&str] = &[
    "_x",
    "unknownField",
    "été",
    r"caf\u00e9",
    "",
    "a/b~c",
    r#"\"\\"#,
    "vendor.example/extra",
    r"\ud83e\udd80",
    r"lone\ud800",
];

/// Names inside unknown values, where names of an envelope have no meaning.
const INNER: &[&str] = &[
    "a",
    "id",
    "method",
    "params",
    "result",
    "error",
    "jsonrpc",
    "sessionId",
    "_meta",
    "é",
    r"\ud800",
];

/// Insignificant white space.
const GAPS: &[&str] = &["", " ", "", "\t", "  ", "\r", " \t "];

/// How a text treats insignificant white space.
#[derive(Clone, Copy)]
enum Spacing {
    Compact,
    Airy,
    Wild,
}

/// Writes a value of this shape, determined by the bytes.
pub(super) fn write(shape: &Shape, definitions: &BTreeMap<String, Shape>, bytes: &[u8]) -> String {
    let mut choices = Choices::new(bytes);
    let spacing = *choices.pick(&[
        Spacing::Compact,
        Spacing::Compact,
        Spacing::Airy,
        Spacing::Wild,
    ]);
    let mut writer = Writer {
        definitions,
        choices,
        spacing,
        text: String::new(),
    };
    writer.value(shape, 0);
    writer.text
}

struct Writer<'a> {
    definitions: &'a BTreeMap<String, Shape>,
    choices: Choices<'a>,
    spacing: Spacing,
    text: String,
}

impl<'a> Writer<'a> {
    fn value(&mut self, shape: &'a Shape, depth: usize) {
        match shape {
            Shape::Any => self.any(UNKNOWN_DEPTH),
            Shape::Null => self.text.push_str("null"),
            Shape::Boolean => {
                let text = *self.choices.pick(&["false", "true"]);
                self.text.push_str(text);
            }
            Shape::Number { bounds } => self.number(*bounds),
            Shape::Numeral(text) => self.text.push_str(text),
            Shape::Text { empty } => self.string(usize::from(!*empty)),
            Shape::Session => self.session(),
            Shape::Unlisted => {
                let word = *self
                    .choices
                    .pick(&["_vendor", "_vendor.example/other", "_été"]);
                self.word(word);
            }
            Shape::Word(word) => self.word(word),
            Shape::List { items, least } => {
                let count = (*least).max(self.count(depth));
                self.items(count, |writer| writer.value(items, depth + 1));
            }
            Shape::Map(values) => {
                let count = self.count(depth);
                // Each name occurs only once, as some values have a type that a reader finds by name.
                let names = &INNER[..count];
                self.members(names, |writer, name| {
                    writer.raw(name);
                    writer.colon();
                    match **values {
                        Shape::Any => writer.any(UNKNOWN_DEPTH),
                        _ => writer.value(values, depth + 1),
                    }
                });
            }
            Shape::Record(fields) => self.record(fields, depth),
            Shape::Choice(shapes) => {
                let shape = self.choices.pick(shapes);
                self.value(shape, depth);
            }
            Shape::Definition(name) => {
                let shape = &self.definitions[name];
                self.value(shape, depth);
            }
        }
    }

    /// The number of items in a list.
    fn count(&mut self, depth: usize) -> usize {
        if depth < DEPTH {
            self.choices.below(4)
        } else {
            0
        }
    }

    fn record(&mut self, fields: &'a [Field], depth: usize) {
        let mut members: Vec<Member> = Vec::new();
        for field in fields {
            if field.required || (depth < DEPTH && self.choices.once_in(2)) {
                members.push(Member::Known(field));
            }
        }
        if depth < DEPTH {
            if fields.iter().all(|field| field.name != "_meta") && self.choices.once_in(4) {
                members.push(Member::Meta);
            }
            if self.choices.once_in(3) {
                let name = *self.choices.pick(UNKNOWN);
                members.push(Member::Unknown(name));
                // JSON does not forbid duplicate names.
                if self.choices.once_in(8) {
                    members.push(Member::Unknown(name));
                }
            }
        }
        for last in (1..members.len()).rev() {
            let other = last - self.choices.below(last + 1);
            members.swap(last, other);
        }
        self.members(&members, |writer, member| match member {
            Member::Known(field) => {
                writer.word(&field.name);
                writer.colon();
                writer.value(&field.shape, depth + 1);
            }
            Member::Meta => {
                writer.word("_meta");
                writer.colon();
                writer.unknown_object(UNKNOWN_DEPTH);
            }
            Member::Unknown(name) => {
                writer.raw(name);
                writer.colon();
                writer.any(UNKNOWN_DEPTH);
            }
        });
    }

    /// A value without a schema.
    fn any(&mut self, levels: usize) {
        match self.choices.below(if levels == 0 { 5 } else { 7 }) {
            0 => self.text.push_str("null"),
            1 => self.text.push_str("true"),
            2 | 3 => self.number(None),
            4 => self.string(0),
            5 => self.unknown_object(levels),
            _ => {
                let count = self.choices.below(4);
                self.items(count, |writer| writer.any(levels - 1));
            }
        }
    }

    fn unknown_object(&mut self, levels: usize) {
        let count = self.choices.below(4);
        let names: Vec<&str> = (0..count).map(|_| *self.choices.pick(INNER)).collect();
        self.members(&names, |writer, name| {
            writer.raw(name);
            writer.colon();
            writer.any(levels.saturating_sub(1));
        });
    }

    fn number(&mut self, bounds: Option<(i64, i64)>) {
        let Some((least, most)) = bounds else {
            let text = *self.choices.pick(NUMBERS);
            return self.text.push_str(text);
        };
        let inside = |number| (least..=most).contains(&number);
        let text = match self.choices.below(8) {
            0 if inside(0) => "0".to_owned(),
            1 if inside(0) => "-0".to_owned(),
            2 if inside(100) => "1E+2".to_owned(),
            3 => most.to_string(),
            4 if inside(1) => "1".to_owned(),
            5 if inside(least + 200) => {
                let above = (least..least + 200).nth(self.choices.below(200));
                above.unwrap_or(least).to_string()
            }
            _ => least.to_string(),
        };
        self.text.push_str(&text);
    }

    fn string(&mut self, least: usize) {
        let count = least.max(self.choices.below(4));
        self.text.push('"');
        for _ in 0..count {
            let pieces = if self.choices.once_in(16) {
                LONE
            } else {
                PIECES
            };
            let piece = *self.choices.pick(pieces);
            self.text.push_str(piece);
        }
        self.text.push('"');
    }

    fn session(&mut self) {
        self.text.push('"');
        for _ in 0..=self.choices.below(3) {
            let piece = *self.choices.pick(SESSION);
            self.text.push_str(piece);
        }
        self.text.push('"');
    }

    /// A string with a meaning. Sometimes the first letter is escaped.
    fn word(&mut self, word: &str) {
        self.text.push('"');
        let mut letters = word.chars();
        match letters.clone().next() {
            Some(letter) if letter.is_ascii_alphanumeric() && self.choices.once_in(24) => {
                letters.next();
                let escape = format!("\\u{:04x}", u32::from(letter));
                self.text.push_str(&escape);
            }
            _ => {}
        }
        for letter in letters {
            if matches!(letter, '"' | '\\') {
                self.text.push('\\');
            }
            self.text.push(letter);
        }
        self.text.push('"');
    }

    /// A string, from the JSON text between its quotes.
    fn raw(&mut self, inside: &str) {
        self.text.push('"');
        self.text.push_str(inside);
        self.text.push('"');
    }

    fn items(&mut self, count: usize, mut item: impl FnMut(&mut Self)) {
        self.enclosed('[', ']', count, |writer, _| item(writer));
    }

    fn members<T>(&mut self, members: &[T], mut member: impl FnMut(&mut Self, &T)) {
        self.enclosed('{', '}', members.len(), |writer, at| {
            member(writer, &members[at]);
        });
    }

    fn enclosed(
        &mut self,
        open: char,
        close: char,
        count: usize,
        mut item: impl FnMut(&mut Self, usize),
    ) {
        self.text.push(open);
        self.gap("");
        for at in 0..count {
            if at > 0 {
                self.text.push(',');
                self.gap(" ");
            }
            item(self, at);
            self.gap("");
        }
        self.text.push(close);
    }

    fn colon(&mut self) {
        self.gap("");
        self.text.push(':');
        self.gap(" ");
    }

    /// White space. `airy` is the white space at this place in [`Spacing::Airy`].
    fn gap(&mut self, airy: &str) {
        let gap = match self.spacing {
            Spacing::Compact => "",
            Spacing::Airy => airy,
            Spacing::Wild => self.choices.pick(GAPS),
        };
        self.text.push_str(gap);
    }
}

/// A member of an object.
enum Member<'a> {
    Known(&'a Field),
    Meta,
    Unknown(&'static str),
}
