//! Excerpts of messages for reports: long ones around the relevant place.

use crate::channel::Peer;
use crate::rpc::Kind;
use crate::untrusted::quote;

/// How much of a message is shown, in bytes.
const SHOWN: usize = 400;

/// How much of it stands before the place that matters.
const BEFORE: usize = 120;

/// A line of a case: what somebody says, marked as `mark`.
pub fn line(mark: char, who: &str, what: &str, body: &str) -> String {
    line_at(mark, who, what, body, 0)
}

/// The same of two bodies that differ, around the first place where they do.
pub fn difference(who: &str, what: &str, expected: &str, came: &str) -> [String; 2] {
    let pairs = expected.bytes().zip(came.bytes());
    let at = pairs.take_while(|(one, other)| one == other).count();
    [
        line_at('-', who, what, expected, at),
        line_at('+', who, what, came, at),
    ]
}

fn line_at(mark: char, who: &str, what: &str, body: &str, at: usize) -> String {
    let mut from = match body.len() > SHOWN {
        true => at.min(body.len()).saturating_sub(BEFORE),
        false => 0,
    };
    while !body.is_char_boundary(from) {
        from -= 1;
    }
    let dots = if from > 0 { "…" } else { "" };
    let (what, body) = (quote(what, SHOWN), quote(&body[from..], SHOWN));
    format!("{mark} {who}: {what} {dots}{body}")
}

/// What a message is called in a sentence.
pub fn called(sender: Peer, kind: Kind, method: &str) -> String {
    let (sender, method) = (sender.as_str(), quote(method, SHOWN));
    match kind {
        Kind::Request => format!("the {sender}'s request `{method}`"),
        Kind::Notification => format!("the {sender}'s notification `{method}`"),
        Kind::Result => format!("the {sender}'s answer to `{method}`"),
        Kind::Error => format!("the {sender}'s error for `{method}`"),
    }
}
