//! The strings of a body that may contain secrets: all but those that the protocol needs unchanged. They are examined
//! in place.

use std::ops::Range;

use acp_chain_proxy::{Action, Edit, Json, RawString, Step, Strings};
use acp_chain_secrets::{Coding, Effort, Marking};

/// Members that the protocol reads: names of kinds, places, and data that is not text. Members whose name ends in `Id`
/// are ids.
const NEEDED: &[&str] = &[
    "blob",
    "cwd",
    "data",
    "id",
    "kind",
    "mimeType",
    "oldPath",
    "path",
    "role",
    "sessionUpdate",
    "status",
    "type",
    "uri",
];

/// Members with free content of the agent, so that no name in them belongs to the protocol.
const FREE: &[&str] = &["_meta", "rawInput", "rawOutput"];

/// Places with free content of the agent under names of the protocol: the data of an error that ends a turn, or that
/// of a subagent.
const FREE_PLACES: [&[&str]; 2] = [
    &["update", "error", "data"],
    &["update", "state", "error", "data"],
];

/// The texts of a question that a power covers; `*` is the name of any field of its form. The other members
/// decide the meaning of an answer.
const QUESTION_TEXTS: [&[&str]; 7] = [
    &["_meta"],
    &["message"],
    &["requestedSchema", "title"],
    &["requestedSchema", "description"],
    &["requestedSchema", "properties", "*", "title"],
    &["requestedSchema", "properties", "*", "description"],
    &["requestedSchema", "properties", "*", "default"],
];

/// The maximum number of strings to change one by one, each with a pass over the body.
const FEW: usize = 16;
const PASSES: usize = 32 * 1024 * 1024;

/// The findings in a body.
#[derive(Default)]
pub(crate) struct Findings {
    changes: Vec<Change>,
    /// The kinds of secrets found.
    pub(crate) names: Vec<&'static str>,
}

/// A new text for a string.
struct Change {
    /// Its range, including quotes.
    range: Range<usize>,
    pointer: String,
    text: Json,
}

/// Examines those strings of a body that are texts.
pub(crate) fn look(
    marking: Marking,
    body: &str,
    is_text: impl Fn(&[Step]) -> bool,
    effort: &mut Effort,
) -> Result<Findings, String> {
    let mut findings = Findings::default();
    let mut strings = Strings::of(body);
    while let Some(string) = strings.next().map_err(|error| error.to_string())? {
        if is_text(strings.path()) {
            findings.look(marking, &string, Coding::Text, || strings.pointer(), effort)?;
        }
    }
    Ok(findings)
}

/// Whether the string at this path is for people and models, not for the protocol.
pub(crate) fn is_text(path: &[Step]) -> bool {
    if FREE_PLACES.iter().any(|names| begins(path, names)) {
        return true;
    }
    let mut is_text = true;
    for step in path {
        if let Step::Member(name) = step {
            let name = name.decoded();
            if FREE.contains(&&*name) {
                return true;
            }
            is_text &= !NEEDED.contains(&&*name) && !name.ends_with("Id");
        }
    }
    is_text
}

/// Whether the string at this path is a text of a question, see [`QUESTION_TEXTS`].
pub(crate) fn is_question_text(path: &[Step]) -> bool {
    QUESTION_TEXTS.iter().any(|names| begins(path, names))
}

/// Whether the string at this path is a text of a tool's result, as the agent's model reads it.
pub(crate) fn is_output(path: &[Step]) -> bool {
    begins(path, &["output"])
}

/// Whether a path leads to this place, or beneath it.
pub(crate) fn begins(path: &[Step], names: &[&str]) -> bool {
    path.len() >= names.len()
        && path.iter().zip(names).all(|(step, name)| match step {
            Step::Member(spelt) => *name == "*" || spelt.is(name),
            Step::Item(_) => false,
        })
}

impl Findings {
    /// Examines one string. A string that readers may decode differently is replaced by its decoded text.
    pub(crate) fn look(
        &mut self,
        marking: Marking,
        string: &RawString,
        coding: Coding,
        pointer: impl FnOnce() -> String,
        effort: &mut Effort,
    ) -> Result<(), String> {
        let decoded = coding.decoded(string.decoded());
        if let Some(redacted) = marking.redact(&decoded.text, effort)? {
            self.change(string, pointer(), &coding.encoded(&redacted.text));
            self.names.extend(redacted.names);
        } else if decoded.is_loose {
            self.change(string, pointer(), &coding.encoded(&decoded.text));
        }
        Ok(())
    }

    /// Replaces a string with a text.
    pub(crate) fn change(&mut self, string: &RawString, pointer: String, text: &str) {
        let range = string.range().start - 1..string.range().end + 1;
        let place = self
            .changes
            .partition_point(|change| change.range.start < range.start);
        self.changes.insert(
            place,
            Change {
                range,
                pointer,
                text: text.into(),
            },
        );
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The place of the first finding, as a JSON Pointer.
    pub(crate) fn first(&self) -> Option<&str> {
        self.changes.first().map(|change| &*change.pointer)
    }

    /// An error that names the place of a secret, if no power allows its removal.
    pub(crate) fn check(
        &self,
        method: &str,
        is_fixed: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        let mut places = self.changes.iter().map(|change| &*change.pointer);
        match places.find(|place| is_fixed(place)) {
            None => Ok(()),
            Some(place) => Err(format!(
                "{place:?} of {method:?} has a secret, and no power allows its removal; send it \
                 without the secret"
            )),
        }
    }

    /// The body with the changes.
    pub(crate) fn applied(&self, body: &str) -> String {
        applied(&self.changes, body)
    }

    /// The body with the changes, and with an empty string in place of another one.
    pub(crate) fn applied_without(&self, body: &str, string: Range<usize>) -> String {
        let place = self
            .changes
            .partition_point(|change| change.range.start < string.start);
        let (before, behind) = self.changes.split_at(place);
        let mut out = applied(before, &body[..string.start]);
        // The later changes, applied to the whole body.
        let rest = applied(behind, body);
        out.push_str(&rest[string.end..]);
        out
    }

    /// The action for a message with this body: a change to each of the strings, or, if they are many or a pointer is
    /// ambiguous because of a duplicate name, to the text of the body.
    pub(crate) fn action(self, body: &Json) -> Result<Action, String> {
        let text = body.spelling();
        let leads = |change: &Change| body.place(&change.pointer).as_ref() == Some(&change.range);
        let few = self.changes.len() <= FEW && self.changes.len() * text.len() <= PASSES;
        if self.is_empty() {
            Ok(Action::Forward)
        } else if few && self.changes.iter().all(leads) {
            let edit = |change: Change| Edit::set(change.pointer, change.text);
            Ok(Action::Edit(self.changes.into_iter().map(edit).collect()))
        } else {
            let changed = Json::try_from(self.applied(&text)).map_err(|error| error.to_string())?;
            Ok(Action::Replace(changed))
        }
    }
}

fn applied(changes: &[Change], body: &str) -> String {
    let (mut out, mut copied) = (String::with_capacity(body.len()), 0);
    for Change { range, text, .. } in changes {
        out.push_str(&body[copied..range.start]);
        out.push_str(&text.spelling());
        copied = range.end;
    }
    out + &body[copied..]
}

#[cfg(test)]
mod tests;
