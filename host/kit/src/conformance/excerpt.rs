//! Excerpts of messages for reports: long ones around the relevant place.

use crate::observed::CallRecord;
use acp_chain_channel::Peer;
use acp_chain_rpc::Kind;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// The maximum number of bytes of a message that are shown.
const SHOWN: usize = 400;

/// The number of bytes shown before the relevant place.
const BEFORE: usize = 120;

/// A line of a case: a message of `who`, with the mark `mark`.
pub fn line(mark: char, who: &str, what: &str, body: &str) -> String {
    line_at(mark, who, what, body, 0)
}

/// Two lines of a case: the expected and the received body, around the first place at which they differ.
pub fn difference(who: &str, what: &str, expected: &str, came: &str) -> [String; 2] {
    let pairs = expected.bytes().zip(came.bytes());
    let at = pairs.take_while(|(one, other)| one == other).count();
    [
        line_at('-', who, what, expected, at),
        line_at('+', who, what, came, at),
    ]
}

fn line_at(mark: char, who: &str, what: &str, body: &str, at: usize) -> String {
    let from = if body.len() > SHOWN {
        body.floor_char_boundary(at.min(body.len()).saturating_sub(BEFORE))
    } else {
        0
    };
    let dots = if from > 0 { "…" } else { "" };
    let (what, body) = (quote(what, SHOWN), quote(&body[from..], SHOWN));
    format!("{mark} {who}: {what} {dots}{body}")
}

/// A message, as part of a sentence.
fn describe(sender: Peer, kind: Kind, method: &str) -> String {
    let (sender, method) = (sender.as_str(), quote(method, SHOWN));
    match kind {
        Kind::Request => format!("the {sender}'s request `{method}`"),
        Kind::Notification => format!("the {sender}'s notification `{method}`"),
        Kind::Result => format!("the {sender}'s answer to `{method}`"),
        Kind::Error => format!("the {sender}'s error for `{method}`"),
    }
}

/// The message of a call, as part of a sentence.
pub fn name(call: &CallRecord) -> String {
    match &call.message {
        Some((_, method, _)) if call.is_offer => format!("a call, `{}`", quote(method, MAX_QUOTE)),
        Some((sender, method, message)) => describe(*sender, message.kind(), method),
        None if call.is_offer => "the request for its list of offers".to_owned(),
        None => "a cancellation".to_owned(),
    }
}

/// The message of a call, as a line.
pub fn shown(call: &CallRecord) -> Option<String> {
    let (sender, method, message) = call.message.as_ref()?;
    let what = match message.kind() {
        Kind::Result | Kind::Error => format!("answers `{method}` with"),
        _ => method.to_string(),
    };
    Some(line(' ', sender.as_str(), &what, message.body()))
}
