//! Contents of messages, if requested: of a turn, the prompt and the agent's answer; of a call, its arguments and its
//! result.
//!
//! Invariants: contents arrive masked. The text of an attribute is bounded, and so is everything kept for open spans;
//! if something is left out, the span says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opentelemetry::KeyValue;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::mapping;
use crate::said::Block;

/// The longest text of an attribute, in bytes, as JSON spells it.
const LONGEST: usize = 8 << 10;

/// The maximum kept for all open spans, in bytes.
const MOST: usize = 16 << 20;

/// The cost of a part of a message, besides its text.
const PART: usize = 64;

/// The remaining room.
#[derive(Clone, Debug)]
pub struct Room(Arc<AtomicUsize>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(MOST)))
    }
}

/// A span's share of the room, returned when it is done.
#[derive(Debug)]
struct Share {
    room: Room,
    taken: usize,
    is_cut: bool,
}

/// One or several texts, with their remaining length.
#[derive(Debug)]
struct Slot<T> {
    what: T,
    left: usize,
}

/// A turn.
#[derive(Debug)]
pub struct Turn {
    share: Share,
    told: Slot<Vec<Part>>,
    said: Slot<Vec<Part>>,
}

/// A tool call.
#[derive(Debug)]
pub struct Call {
    share: Share,
    arguments: Slot<Option<String>>,
    result: Slot<Option<String>>,
}

/// A part of a message, in the form of the conventions.
#[derive(Debug, Serialize)]
struct Part {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uri: String,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    parts: &'a [Part],
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
}

impl Share {
    fn of(room: &Room) -> Self {
        Self {
            room: room.clone(),
            taken: 0,
            is_cut: false,
        }
    }

    /// Takes as much of a text as there is room for.
    fn take<'t>(&mut self, text: &'t str, left: &mut usize) -> &'t str {
        let most = (*left).min(self.room.0.load(Ordering::Relaxed));
        let (mut length, mut cost) = (0, 0);
        for char in text.chars() {
            let more = spelt(char);
            if cost + more > most {
                self.is_cut = true;
                break;
            }
            (length, cost) = (length + char.len_utf8(), cost + more);
        }
        self.pay(cost, left);
        &text[..length]
    }

    fn pay(&mut self, cost: usize, left: &mut usize) {
        *left -= cost;
        self.taken += cost;
        self.room.0.fetch_sub(cost, Ordering::Relaxed);
    }

    /// Returns the room of a text that is replaced.
    fn give_back(&mut self, left: &mut usize) {
        let taken = LONGEST - *left;
        *left = LONGEST;
        self.taken -= taken;
        self.room.0.fetch_add(taken, Ordering::Relaxed);
    }

    fn is_cut(&self) -> Option<KeyValue> {
        self.is_cut.then(|| KeyValue::new(mapping::CUT, true))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.0.fetch_add(self.taken, Ordering::Relaxed);
    }
}

/// The length of a character in JSON.
fn spelt(char: char) -> usize {
    match char {
        '"' | '\\' => 2,
        '\0'..' ' => 6,
        _ => char.len_utf8(),
    }
}

impl<T: Default> Default for Slot<T> {
    fn default() -> Self {
        Self {
            what: T::default(),
            left: LONGEST,
        }
    }
}

impl Slot<Vec<Part>> {
    /// Adds text; it continues the last part if that is of the same kind.
    fn add(&mut self, kind: &'static str, text: &str, uri: &str, share: &mut Share) {
        let goes_on = |last: &&mut Part| last.kind == kind && uri.is_empty() && last.uri.is_empty();
        if let Some(last) = self.what.last_mut().filter(goes_on) {
            last.content += share.take(text, &mut self.left);
            return;
        }
        if self.left < PART || share.room.0.load(Ordering::Relaxed) < PART {
            share.is_cut = true;
            return;
        }
        share.pay(PART, &mut self.left);
        self.what.push(Part {
            kind,
            content: share.take(text, &mut self.left).to_owned(),
            uri: share.take(uri, &mut self.left).to_owned(),
        });
    }

    fn attribute(
        &self,
        key: &'static str,
        role: &'static str,
        finish_reason: Option<&str>,
    ) -> Option<KeyValue> {
        let message = Message {
            role,
            parts: &self.what,
            finish_reason,
        };
        let is_there = !self.what.is_empty();
        let text = is_there.then(|| serde_json::to_string(&[message]).ok())??;
        Some(KeyValue::new(key, text))
    }
}

impl Slot<Option<String>> {
    fn set(&mut self, json: Option<&RawValue>, share: &mut Share) {
        if let Some(json) = json {
            share.give_back(&mut self.left);
            self.what = Some(share.take(json.get(), &mut self.left).to_owned());
        }
    }
}

impl Turn {
    pub fn new(room: &Room) -> Self {
        Self {
            share: Share::of(room),
            told: Slot::default(),
            said: Slot::default(),
        }
    }

    /// The agent gets this.
    pub fn told(&mut self, blocks: &[Block]) {
        for block in blocks {
            let (kind, text, uri) = block.part();
            self.told.add(kind, text, uri, &mut self.share);
        }
    }

    /// The agent says or thinks this.
    pub fn said(&mut self, block: &Block, is_thought: bool) {
        let (kind, text, uri) = block.part();
        let kind = match kind {
            "text" if is_thought => "reasoning",
            kind => kind,
        };
        self.said.add(kind, text, uri, &mut self.share);
    }

    /// It has ended, for this reason.
    pub fn attributes(&self, finish_reason: &str) -> impl Iterator<Item = KeyValue> {
        let told = self.told.attribute(mapping::INPUT, "user", None);
        let reason = Some(finish_reason);
        let said = self.said.attribute(mapping::OUTPUT, "assistant", reason);
        told.into_iter().chain(said).chain(self.share.is_cut())
    }
}

impl Call {
    pub fn new(room: &Room) -> Self {
        Self {
            share: Share::of(room),
            arguments: Slot::default(),
            result: Slot::default(),
        }
    }

    /// Sets its arguments, if present.
    pub fn made(&mut self, arguments: Option<&RawValue>) {
        self.arguments.set(arguments, &mut self.share);
    }

    /// Sets its result, if present.
    pub fn came(&mut self, result: Option<&RawValue>) {
        self.result.set(result, &mut self.share);
    }

    pub fn attributes(&self) -> impl Iterator<Item = KeyValue> {
        let named = [
            (mapping::ARGUMENTS, &self.arguments),
            (mapping::RESULT, &self.result),
        ];
        let said = named.map(|(key, slot)| Some(KeyValue::new(key, slot.what.clone()?)));
        said.into_iter().flatten().chain(self.share.is_cut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Block<'_> {
        Block::of_text(text)
    }

    fn left(room: &Room) -> usize {
        room.0.load(Ordering::Relaxed)
    }

    #[test]
    fn a_text_goes_on_in_one_part_and_is_cut_where_it_is_too_long() {
        let room = Room::default();
        let mut turn = Turn::new(&room);
        turn.told(&[text("what?")]);
        turn.said(&text("hm"), true);
        turn.said(&text("a "), false);
        turn.said(&text("cat"), false);
        let said: Vec<_> = turn.attributes("end_turn").collect();
        let expected = [
            (
                mapping::INPUT,
                r#"[{"role":"user","parts":[{"type":"text","content":"what?"}]}]"#,
            ),
            (
                mapping::OUTPUT,
                r#"[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"a cat"}],"finish_reason":"end_turn"}]"#,
            ),
        ];
        assert_eq!(said, expected.map(|(key, text)| KeyValue::new(key, text)));
        for _ in 0..3 {
            turn.said(&text(&"\u{1}".repeat(LONGEST / 12)), false);
        }
        let said: Vec<_> = turn.attributes("end_turn").collect();
        assert!(said.contains(&KeyValue::new(mapping::CUT, true)));
        assert!(
            said.iter()
                .all(|said| said.value.as_str().len() <= LONGEST + 2 * PART)
        );
        drop(turn);
        assert_eq!(left(&room), MOST);
    }

    #[test]
    fn what_takes_the_place_of_something_takes_its_room() {
        let room = Room::default();
        let mut call = Call::new(&room);
        let long = RawValue::from_string(format!("\"{}\"", "x".repeat(LONGEST))).unwrap();
        for _ in 0..10 {
            call.made(Some(&long));
            call.came(Some(&long));
        }
        assert_eq!(left(&room), MOST - 2 * LONGEST);
        drop(call);
        assert_eq!(left(&room), MOST);
    }

    #[test]
    fn all_spans_together_keep_no_more_than_there_is_room_for() {
        let room = Room::default();
        let long = "x".repeat(LONGEST);
        let turns: Vec<_> = (0..2 * MOST / LONGEST)
            .map(|_| {
                let mut turn = Turn::new(&room);
                turn.told(&[text(&long)]);
                turn
            })
            .collect();
        assert!(left(&room) < PART && turns.iter().all(|turn| turn.share.is_cut));
        drop(turns);
        assert_eq!(left(&room), MOST);
    }
}
