//! Too long, too deep, too often.

use crate::bindings::acp_chain::proxy::channel::{self, Level};
use crate::bindings::acp_chain::proxy::types::{Action, Change, Edit, MessageId, Peer, RpcError};
use crate::stored;
use crate::tally::Tally;

/// A text of that many bytes.
pub(crate) fn huge(size: usize) -> String {
    "x".repeat(size)
}

/// A JSON string of that many bytes, at least two. Made in place, as memory may not suffice for two copies.
fn string(size: usize) -> String {
    let mut text = String::with_capacity(size);
    text.push('"');
    text.extend(std::iter::repeat_n("x", size.saturating_sub(2)));
    text.push('"');
    text
}

/// A prompt with this `_meta` in its text block.
fn prompt(meta: &str) -> String {
    let (session, text) = (crate::ATTACKED, "echo changed");
    let begin =
        format!(r#"{{"sessionId":"{session}","prompt":[{{"type":"text","text":"{text}","_meta":"#);
    [&begin, meta, "}]}"].concat()
}

fn error(text: &str) -> RpcError {
    RpcError {
        code: 1,
        message: text.to_owned(),
        data: None,
    }
}

/// Each call has at most one text, because the limit on a whole call is not under attack here.
#[inline(never)]
pub(crate) fn everywhere(id: MessageId, size: usize) -> Action {
    let mut tally = Tally::default();
    let text = huge(size);
    tally.count(channel::read(id, &text));
    tally.count(channel::read(id, &format!("/{text}")));
    tally.count(channel::request(Peer::Agent, &text, "{}"));
    tally.count(channel::notify(Peer::Client, &text, "{}"));
    tally.count(channel::notify(Peer::Agent, "_hostile/huge", &text));
    tally.count(channel::save(&text));
    stored::everywhere(&text, &mut tally);
    for action in [
        Action::Reject(error(&text)),
        Action::Replace(text.clone()),
        Action::Respond(text.clone()),
        Action::Edit(vec![Edit {
            pointer: text.clone(),
            change: Change::Remove,
        }]),
    ] {
        tally.count(channel::settle(id, &action));
    }
    tally.say("huge");
    // This leaves no room in the log.
    channel::log(Level::Error, &text);
    Action::Forward
}

#[inline(never)]
pub(crate) fn send(size: usize) -> Action {
    let (mut tally, params) = (Tally::default(), string(size));
    for to in [Peer::Client, Peer::Agent] {
        tally.count(channel::notify(to, "_hostile/big", &params));
        tally.count(channel::request(to, "_hostile/big", &params));
    }
    tally.say("send");
    Action::Forward
}

#[inline(never)]
pub(crate) fn replace(size: usize) -> Action {
    Action::Replace(prompt(&string(size)))
}

pub(crate) fn reject(size: usize) -> Action {
    Action::Reject(error(&huge(size)))
}

#[inline(never)]
pub(crate) fn edit(count: u32) -> Action {
    let edit = Edit {
        pointer: "/prompt/0/text".to_owned(),
        change: Change::Set("\"echo edited\"".to_owned()),
    };
    // The first edits keep the prompt short.
    let mut edits = vec![
        Edit {
            pointer: "/_meta".to_owned(),
            change: Change::Set("{}".to_owned()),
        };
        count as usize
    ];
    edits.push(edit);
    Action::Edit(edits)
}

#[inline(never)]
pub(crate) fn nest(id: MessageId, size: usize) -> Action {
    let mut tally = Tally::default();
    let nested = format!("{}{}", "[".repeat(size / 2), "]".repeat(size / 2));
    tally.count(channel::notify(Peer::Agent, "_hostile/nested", &nested));
    tally.count(channel::read(id, &"/0".repeat(size / 2)));
    tally.say("nest");
    Action::Replace(prompt(&nested))
}
