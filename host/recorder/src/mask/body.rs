//! Masks the secrets in a message's body. The rest keeps its bytes.

use std::borrow::Cow;
use std::ops::Range;

use acp_chain_acp::Change;
use acp_chain_secrets::{Coding, Effort};

use super::markers::{Edit, Markers};
use super::strings::{Scalar, ScalarKind, Step, each, leads};

/// Members whose values are always secrets: `[{ "name": …, "value": … }]`, `{ NAME: VALUE }`, or `["NAME=VALUE"]`.
const PAIRS: [&str; 2] = ["env", "headers"];

/// Members whose value is always a secret, ignoring case: headers with credentials.
const PROOFS: &[&str] = &[
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
];

/// The path to the text of a chunk: a message chunk holds a content block, a tool call's chunk wraps the block once
/// more.
const TEXTS: [&[&str]; 2] = [
    &["update", "content", "text"],
    &["update", "content", "content", "text"],
];

/// The path to a terminal's output, in Base64: to a chunk of it, and to the whole.
const OUTPUT_CHUNK: &[&str] = &["update", "data"];
const OUTPUT: &[&str] = &["update", "output", "data"];

/// The result of examining a body.
#[derive(Default)]
pub struct Body {
    /// The edits of strings with secrets, quotes included, and of numbers that are secret.
    pub edits: Vec<Edit>,
    /// The chunk of a continuing text, if the body has one.
    pub chunk: Option<Chunk>,
    /// The kind of an update.
    pub kind: String,
}

/// A chunk of a continuing text, not examined yet.
pub struct Chunk {
    /// Identifies its text: its kind and its ids.
    pub identity: String,
    /// Its range, quotes included.
    pub range: Range<usize>,
    pub text: String,
    pub coding: Coding,
}

impl Body {
    /// Examines a body. In a session update, the chunk of a continuing text is not examined.
    pub fn of(json: &str, is_update: bool, markers: &mut Markers) -> Self {
        let mut body = Self::default();
        let mut effort = Effort::default();
        let (mut identity, mut text, mut output) = (String::new(), None, None);
        each(json, |found| {
            if is_update && found.what == ScalarKind::Text {
                if let [Step::Member(update), Step::Member(name)] = found.path
                    && update == "update"
                    && !leads(found.path, OUTPUT_CHUNK)
                {
                    identity.extend([&**name, "=", &*found.text, ";"]);
                    if name == "sessionUpdate" {
                        body.kind = found.text.clone().into_owned();
                    }
                }
                let place = if TEXTS.iter().any(|names| leads(found.path, names)) {
                    Some((&mut text, Coding::Text))
                } else if leads(found.path, OUTPUT_CHUNK) {
                    Some((&mut output, Coding::Base64))
                } else {
                    None
                };
                if let Some((place, coding)) = place {
                    // Of duplicate members, the last one counts.
                    let other = place.replace((found.range, found.text));
                    if let Some((range, text)) = other {
                        body.look(range, text, coding, markers, &mut effort);
                    }
                    return;
                }
                if leads(found.path, OUTPUT) {
                    body.look(
                        found.range,
                        found.text,
                        Coding::Base64,
                        markers,
                        &mut effort,
                    );
                    return;
                }
            }
            match kind_by_name(&found) {
                Some(_) if found.text.is_empty() => {}
                Some(kind) => {
                    let marker = markers.mark(kind, &found.text);
                    body.change(found.range, &marker);
                }
                None if found.what == ScalarKind::Number => {}
                None => body.look(found.range, found.text, Coding::Text, markers, &mut effort),
            }
        });
        let is_output = body.kind == "terminal_output_chunk";
        let is_text = Change::of(&body.kind) == Change::Appends && (!is_output || output.is_none());
        for (place, coding, is_chunk) in [
            (output, Coding::Base64, is_output),
            (text, Coding::Text, is_text),
        ] {
            let Some((range, text)) = place else { continue };
            if is_chunk {
                body.chunk = Some(Chunk {
                    identity: identity.clone(),
                    range,
                    text: coding.decoded(text).text.into_owned(),
                    coding,
                });
            } else {
                body.look(range, text, coding, markers, &mut effort);
            }
        }
        body.edits.sort_by_key(|(range, _)| range.start);
        body
    }

    /// Examines one string, as it is and decoded.
    fn look(
        &mut self,
        range: Range<usize>,
        text: Cow<str>,
        coding: Coding,
        markers: &mut Markers,
        effort: &mut Effort,
    ) {
        let decoded = coding.decoded(text.clone()).text;
        if let Some(masked) = markers.masked(&decoded, effort) {
            self.change(range, &coding.encoded(&masked));
        } else if coding == Coding::Base64
            && let Some(masked) = markers.masked(&text, effort)
        {
            self.change(range, &masked);
        }
    }

    /// Replaces a string or a number by a text.
    pub fn change(&mut self, range: Range<usize>, text: &str) {
        let quoted = serde_json::Value::from(text).to_string();
        self.edits.push((range, quoted));
    }
}

/// The kind of secret that a string or a number is, by the names on its path.
fn kind_by_name(found: &Scalar) -> Option<&'static str> {
    if found.what == ScalarKind::Name {
        return None;
    }
    // A header may have several values, in a list.
    let mut path = found.path;
    while let [above @ .., Step::Item] = path {
        path = above;
    }
    let is_pairs = |name: &str| PAIRS.into_iter().find(|pairs| name == *pairs);
    match path {
        [.., Step::Member(pairs), Step::Item, Step::Member(value)] if value == "value" => {
            is_pairs(pairs)
        }
        [.., Step::Member(pairs), Step::Member(_)] if is_pairs(pairs).is_some() => is_pairs(pairs),
        [.., Step::Member(name)] => {
            let is = |proof: &&&str| name.eq_ignore_ascii_case(proof);
            is_pairs(name).or_else(|| PROOFS.iter().find(is).copied())
        }
        _ => None,
    }
}
