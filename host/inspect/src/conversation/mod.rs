//! A turn as a conversation: the prompt, what the agent thinks, does, asks and says, and the end, each with what the
//! proxies made of it. It is read from the lines of the turn when a page asks for it.
//!
//! | file | what it is |
//! |---|---|
//! | `reading` | which item each line belongs to |
//! | `texts` | the texts of items, and what proxies did with them |
//!
//! Invariant: its size is bounded, and it says if something was left out.

mod reading;
mod texts;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use self::reading::Reading;
use crate::log::Log;

/// The maximum number of rows that are read, of items, and of notes of an item.
const ROWS: u64 = 100_000;
const ITEMS: usize = 5000;
const NOTES: usize = 50;

/// How many rows are looked up at once.
const BATCH: usize = 1024;

/// The maximum length of all texts together, and of one at one part of the chain, in bytes.
const TEXTS: usize = 8 << 20;
const TEXT: usize = 256 << 10;

/// The maximum length of a title, in characters.
const TITLE: usize = 300;

/// A turn as a conversation.
#[derive(Debug, Serialize)]
pub struct Conversation {
    items: Vec<Item>,
    is_cut: bool,
    /// How many rows were read.
    #[serde(skip)]
    pub rows: u64,
}

/// What an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Prompt,
    Thought,
    Message,
    User,
    Tool,
    /// A report of a hook about a tool.
    Hook,
    Permission,
    Plan,
    #[default]
    Request,
    Cancel,
    End,
}

#[derive(Debug, Default, Serialize)]
struct Item {
    part: Part,
    /// The row of its first message.
    row: u64,
    /// The method, the name of a tool, or its id.
    title: String,
    /// What its receiver got: of a prompt, what the client sent.
    text: String,
    /// The status of a tool, the answer to a request, or the reason of the end.
    status: String,
    /// The part that sent it first, and the part that answered it.
    from: String,
    by: String,
    /// When it began and ended, in microseconds since 1970; -1 is unknown.
    began: i64,
    ended: i64,
    notes: Vec<Note>,
    #[serde(skip)]
    hops: BTreeMap<String, Hop>,
    /// The names of a permission's options, by their ids.
    #[serde(skip)]
    options: HashMap<String, String>,
}

/// The text that a part of the chain got and sent.
#[derive(Debug, Default)]
struct Hop {
    got: Option<String>,
    sent: Option<String>,
}

/// What a proxy did.
#[derive(Debug, Serialize)]
struct Note {
    proxy: String,
    /// A decision, `ask` for a request of its own, or `add` for a text of its own.
    did: &'static str,
    /// The first row of it, and how often it was done.
    row: u64,
    count: usize,
    why: String,
    /// The texts, if it changed them.
    before: Option<String>,
    after: Option<String>,
}

/// The conversation of the turn that begins with this row: up to the session's next prompt, or a row of the log.
pub fn conversation(log: &Log, begin: u64, end: u64) -> Conversation {
    let mut reading = Reading::default();
    let most = begin.saturating_add(ROWS);
    let end = end.min(most);
    let mut next = begin;
    while next < end && !reading.is_over {
        let (first, places) = log.places(next, BATCH);
        if places.is_empty() {
            break;
        }
        for (place, row) in places.iter().zip(first..end) {
            let text = place.read().unwrap_or_default();
            if let Ok(line) = serde_json::from_slice(&text) {
                reading.take(row, &line);
            }
        }
        next = first + places.len() as u64;
    }
    reading.is_cut |= next >= most;
    Conversation {
        rows: next - begin,
        ..reading.whole()
    }
}

/// Whether a part of the chain is an end of it.
fn is_end(part: &str) -> bool {
    matches!(part, "client" | "agent")
}

#[cfg(test)]
mod tests;
