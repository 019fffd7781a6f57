//! What a message says without its secrets. All else of it keeps its spelling.

use std::borrow::Cow;
use std::ops::Range;

use acp_chain_secrets::{Coding, Effort};

use super::markers::{Edit, Markers};
use super::strings::{Found, Step, each, leads};

/// Members whose values are secrets whatever they look like: `[{ "name": …, "value": … }]`, or `{ NAME: VALUE }`.
const PAIRS: [&str; 2] = ["env", "headers"];

/// The same for single members, whatever their case: headers that prove who asks.
const PROOFS: &[&str] = &[
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
];

/// Where the text of a chunk is: a chunk of a message holds a block of content, one of a tool call holds the block
/// wrapped once more.
const TEXTS: [&[&str]; 2] = [
    &["update", "content", "text"],
    &["update", "content", "content", "text"],
];

/// Where terminals have their output, as Base64: in a piece of it, and as a whole.
const OUTPUT_CHUNK: &[&str] = &["update", "data"];
const OUTPUT: &[&str] = &["update", "output", "data"];

/// What a body comes to.
#[derive(Default)]
pub struct Body {
    /// For strings that have secrets, with their quotes.
    pub edits: Vec<Edit>,
    /// If it is a piece of a running text.
    pub chunk: Option<Chunk>,
    /// The kind of an update.
    pub kind: String,
}

/// A piece of a running text, which is not looked at yet.
pub struct Chunk {
    /// What sets its running text apart from others: its kind and its ids.
    pub identity: String,
    /// Where it stands, with its quotes.
    pub range: Range<usize>,
    pub text: String,
    pub coding: Coding,
}

impl Body {
    /// Looks at a body; at that of an update of a session, a text that goes on is left to be looked at.
    pub fn of(json: &str, is_update: bool, markers: &mut Markers) -> Self {
        let mut body = Self::default();
        let mut effort = Effort::default();
        let (mut identity, mut text, mut output) = (String::new(), None, None);
        each(json, |found| {
            if is_update && !found.is_name {
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
                    // Of two the last one counts.
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
                None => body.look(found.range, found.text, Coding::Text, markers, &mut effort),
            }
        });
        let is_output = body.kind == "terminal_output_chunk";
        let is_text = body.kind.ends_with("_chunk") && (!is_output || output.is_none());
        for (place, coding, is_chunk) in [
            (output, Coding::Base64, is_output),
            (text, Coding::Text, is_text),
        ] {
            let Some((range, text)) = place else { continue };
            match coding.decoded(text.clone()).filter(|_| is_chunk) {
                Some(decoded) => {
                    body.chunk = Some(Chunk {
                        identity: identity.clone(),
                        range,
                        text: decoded.into_owned(),
                        coding,
                    });
                }
                None => body.look(range, text, coding, markers, &mut effort),
            }
        }
        body.edits.sort_by_key(|(range, _)| range.start);
        body
    }

    /// Looks at one string, as it is, and as what it stands for.
    fn look(
        &mut self,
        range: Range<usize>,
        text: Cow<str>,
        coding: Coding,
        markers: &mut Markers,
        effort: &mut Effort,
    ) {
        if let Some(decoded) = coding.decoded(text.clone())
            && let Some(masked) = markers.masked(&decoded, effort)
        {
            self.change(range, &encoded(coding, &masked));
        } else if coding == Coding::Base64
            && let Some(masked) = markers.masked(&text, effort)
        {
            self.change(range, &masked);
        }
    }

    /// Puts a text in the place of a string.
    pub fn change(&mut self, range: Range<usize>, text: &str) {
        let quoted = serde_json::Value::from(text).to_string();
        self.edits.push((range, quoted));
    }
}

/// The string for a text.
pub fn encoded(coding: Coding, text: &str) -> Cow<'_, str> {
    coding.encoded(text)
}

/// The kind of secret that a string is by the names on the way to it.
fn kind_by_name(found: &Found) -> Option<&'static str> {
    if found.is_name {
        return None;
    }
    let is_pairs = |name: &str| PAIRS.into_iter().find(|pairs| name == *pairs);
    match found.path {
        [.., Step::Member(pairs), Step::Item, Step::Member(value)] if value == "value" => {
            is_pairs(pairs)
        }
        [.., Step::Member(pairs), Step::Member(_)] if is_pairs(pairs).is_some() => is_pairs(pairs),
        [.., Step::Member(name)] => {
            let is = |proof: &&&str| name.eq_ignore_ascii_case(proof);
            PROOFS.iter().find(is).copied()
        }
        _ => None,
    }
}
