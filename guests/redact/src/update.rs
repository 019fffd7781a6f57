//! The content of a session update, read in one pass.

use std::borrow::Cow;

use acp_chain_proxy::acp::Change;
use acp_chain_proxy::{RawString, Step, Strings};
use acp_chain_secrets::{Coding, DecodedText, Effort, Marking};

use crate::body::{self, Findings};

/// The places of a chunk's text: a chunk of a message contains a block of content, one of a tool call contains a
/// wrapped block.
const TEXTS: [&[&str]; 2] = [
    &["update", "content", "text"],
    &["update", "content", "content", "text"],
];

/// The places of a terminal's output, as Base64: as a piece, and as a whole.
const OUTPUT_CHUNK: &[&str] = &["update", "data"];
const OUTPUT: &[&str] = &["update", "output", "data"];

pub(crate) struct Update<'u> {
    pub(crate) kind: String,
    /// The session of a subagent that it reports.
    pub(crate) child: Option<String>,
    /// Whether the agent reports that it is idle (version 2).
    pub(crate) is_idle: bool,
    /// The secrets in it, except those of the running text.
    pub(crate) findings: Findings,
    /// Present if it is a piece of a running text.
    pub(crate) chunk: Option<Chunk<'u>>,
}

/// A piece of a running text.
pub(crate) struct Chunk<'u> {
    /// Distinguishes its running text from others: its kind and its ids.
    pub(crate) identity: String,
    /// The pointer to the text in the parameters.
    pub(crate) pointer: String,
    pub(crate) string: RawString<'u>,
    pub(crate) decoded: DecodedText<'u>,
    pub(crate) coding: Coding,
}

impl<'u> Update<'u> {
    pub(crate) fn of(marking: Marking, params: &'u str) -> Result<Self, String> {
        let (mut kind, mut child, mut is_idle) = (String::new(), None, false);
        let (mut identity, mut text, mut output) = (String::new(), None, None);
        let mut findings = Findings::default();
        let mut effort = Effort::default();
        let mut strings = Strings::of(params);
        while let Some(string) = strings.next().map_err(|error| error.to_string())? {
            let path = strings.path();
            if let [Step::Member(update), Step::Member(name)] = path
                && update.is("update")
                && !leads(path, OUTPUT_CHUNK)
            {
                // Other members, such as a time, may differ from chunk to chunk of one text.
                let decoded = name.decoded();
                if name.is("sessionUpdate") || decoded.ends_with("Id") {
                    identity.extend([&*decoded, "=", &*string.decoded(), ";"]);
                }
                if name.is("sessionUpdate") {
                    kind = string.decoded().into_owned();
                } else if name.is("sessionId") {
                    child = Some(string.decoded().into_owned());
                } else if name.is("state") {
                    is_idle = string.decoded() == "idle";
                }
            }
            let (place, coding) = if TEXTS.iter().any(|names| leads(path, names)) {
                (Some(&mut text), Coding::Text)
            } else if leads(path, OUTPUT) {
                (None, Coding::Base64)
            } else if leads(path, OUTPUT_CHUNK) {
                (Some(&mut output), Coding::Base64)
            } else if body::is_text(path) {
                (None, Coding::Text)
            } else {
                continue;
            };
            let Some(running) = place else {
                findings.look(marking, &string, coding, || strings.pointer(), &mut effort)?;
                continue;
            };
            // Of the running text, if this turns out to be a chunk; of duplicates the last one counts.
            if let Some((other, pointer)) = running.replace((string, strings.pointer())) {
                findings.look(marking, &other, coding, || pointer, &mut effort)?;
            }
        }
        let mut chunk = None;
        let outputs = kind == "terminal_output_chunk";
        let appends = Change::of(&kind) == Change::Appends;
        for (found, coding, is_chunk) in [
            (output, Coding::Base64, outputs),
            (text, Coding::Text, appends),
        ] {
            let Some((string, pointer)) = found else {
                continue;
            };
            if !is_chunk || chunk.is_some() {
                findings.look(marking, &string, coding, || pointer, &mut effort)?;
                continue;
            }
            chunk = Some(Chunk {
                identity: identity.clone(),
                pointer,
                string,
                decoded: coding.decoded(string.decoded()),
                coding,
            });
        }
        Ok(Self {
            is_idle: is_idle && kind == "state_update",
            kind,
            child,
            findings,
            chunk,
        })
    }

    /// The parameters with an empty text, and without the other secrets.
    pub(crate) fn without_text(&self, params: &str, chunk: &Chunk) -> String {
        self.findings.applied_without(params, chunk.string.range())
    }
}

impl Chunk<'_> {
    /// The string with this text.
    pub(crate) fn spelt<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.coding.encoded(text)
    }
}

fn leads(path: &[Step], names: &[&str]) -> bool {
    path.len() == names.len() && body::begins(path, names)
}
