//! The content of a session update, read in one pass.

use std::borrow::Cow;

use acp_chain_proxy::acp::Change;
use acp_chain_proxy::{RawString, Step, Strings};
use acp_chain_secrets::{Coding, DecodedText, Effort, Marking};

use crate::body::{self, Findings};
use crate::streams;

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

pub(crate) struct Chunk<'u> {
    /// Distinguishes its running text from others: its kind and its ids.
    identity: String,
    pub(crate) pointer: String,
    pub(crate) string: RawString<'u>,
    pub(crate) decoded: DecodedText<'u>,
    coding: Coding,
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
                identity.extend([&*name.decoded(), "=", &*string.decoded(), ";"]);
                if name.is("sessionUpdate") {
                    kind = string.decoded().into_owned();
                } else if name.is("sessionId") {
                    child = Some(string.decoded().into_owned());
                } else if name.is("state") {
                    is_idle = string.decoded() == "idle";
                }
            }
            if TEXTS.iter().any(|names| leads(path, names)) {
                // Of the running text, if this turns out to be a chunk; of duplicates the last one counts.
                if let Some((other, pointer)) = text.replace((string, strings.pointer())) {
                    findings.look(marking, &other, Coding::Text, || pointer, &mut effort)?;
                }
            } else if leads(path, OUTPUT) {
                findings.look(
                    marking,
                    &string,
                    Coding::Base64,
                    || strings.pointer(),
                    &mut effort,
                )?;
            } else if leads(path, OUTPUT_CHUNK) {
                // Of duplicates the last one counts, as above.
                if let Some((other, pointer)) = output.replace((string, strings.pointer())) {
                    findings.look(marking, &other, Coding::Base64, || pointer, &mut effort)?;
                }
            } else if body::is_text(path) {
                findings.look(
                    marking,
                    &string,
                    Coding::Text,
                    || strings.pointer(),
                    &mut effort,
                )?;
            }
        }
        let mut chunk = None;
        if let Some((string, pointer)) = output {
            if kind == "terminal_output_chunk" {
                let decoded = Coding::Base64.decoded(string.decoded());
                chunk = Some(Chunk {
                    identity: identity.clone(),
                    pointer,
                    string,
                    decoded,
                    coding: Coding::Base64,
                });
            } else {
                findings.look(marking, &string, Coding::Base64, || pointer, &mut effort)?;
            }
        }
        if let Some((string, pointer)) = text {
            let decoded = Coding::Text.decoded(string.decoded());
            if Change::of(&kind) == Change::Appends && chunk.is_none() {
                chunk = Some(Chunk {
                    identity,
                    pointer,
                    string,
                    decoded,
                    coding: Coding::Text,
                });
            } else {
                findings.look(marking, &string, Coding::Text, || pointer, &mut effort)?;
            }
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
    pub(crate) fn piece(&self) -> streams::Chunk<'_> {
        streams::Chunk {
            identity: self.identity.clone(),
            pointer: self.pointer.clone(),
            text: &self.decoded.text,
            coding: self.coding,
        }
    }

    /// The string with this text.
    pub(crate) fn spelt<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.coding.encoded(text)
    }
}

fn leads(path: &[Step], names: &[&str]) -> bool {
    path.len() == names.len()
        && path.iter().zip(names).all(|(step, name)| match step {
            Step::Member(spelt) => spelt.is(name),
            Step::Item(_) => false,
        })
}
