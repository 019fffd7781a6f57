//! Contents of messages, if requested: of a turn, the prompt and the agent's answer; of a call, its arguments and its
//! result.
//!
//! Invariants: contents are masked before they are read. The text of an attribute is bounded, and so is everything kept
//! for open spans; if something is left out, an attribute marks that.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opentelemetry::KeyValue;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::bodies::Block;
use crate::mapping;

/// The longest text of an attribute, in bytes, as JSON spells it.
const LONGEST: usize = 8 << 10;

/// The maximum length of contents kept for all open spans, in bytes.
const MOST: usize = 16 << 20;

/// The cost of a part of a message, besides its text.
const PART: usize = 64;

/// The remaining bytes for contents. Clones share them.
#[derive(Clone, Debug)]
pub struct Room(Arc<AtomicUsize>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(MOST)))
    }
}

/// A span's share of the room, returned when it ends.
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

#[derive(Debug)]
pub struct Turn {
    share: Share,
    input: Slot<Vec<Part>>,
    output: Slot<Vec<Part>>,
}

/// A tool call.
#[derive(Debug)]
pub struct Call {
    share: Share,
    arguments: Slot<Option<String>>,
    result: Slot<Option<String>>,
}

/// A part of a message, as the conventions define it.
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
    /// Adds text, to the last part if that is of the same kind.
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
            input: Slot::default(),
            output: Slot::default(),
        }
    }

    /// Adds to the prompt.
    pub fn add_input(&mut self, blocks: &[Block]) {
        for block in blocks {
            let (kind, text, uri) = block.part();
            self.input.add(kind, text, uri, &mut self.share);
        }
    }

    /// Adds to the agent's answer or thoughts.
    pub fn add_output(&mut self, block: &Block, is_thought: bool) {
        let (kind, text, uri) = block.part();
        let kind = match kind {
            "text" if is_thought => "reasoning",
            kind => kind,
        };
        self.output.add(kind, text, uri, &mut self.share);
    }

    /// The attributes of an ended turn.
    pub fn attributes(&self, finish_reason: &str) -> impl Iterator<Item = KeyValue> {
        let input = self.input.attribute(mapping::INPUT, "user", None);
        let reason = Some(finish_reason);
        let output = self.output.attribute(mapping::OUTPUT, "assistant", reason);
        input.into_iter().chain(output).chain(self.share.is_cut())
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
    pub fn set_arguments(&mut self, arguments: Option<&RawValue>) {
        self.arguments.set(arguments, &mut self.share);
    }

    /// Sets its result, if present.
    pub fn set_result(&mut self, result: Option<&RawValue>) {
        self.result.set(result, &mut self.share);
    }

    pub fn attributes(&self) -> impl Iterator<Item = KeyValue> {
        let named = [
            (mapping::ARGUMENTS, &self.arguments),
            (mapping::RESULT, &self.result),
        ];
        let attributes = named.map(|(key, slot)| Some(KeyValue::new(key, slot.what.clone()?)));
        attributes.into_iter().flatten().chain(self.share.is_cut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Block {
        let mut block = Block::default();
        block.kind = "text".into();
        block.text = text.into();
        block
    }

    fn left(room: &Room) -> usize {
        room.0.load(Ordering::Relaxed)
    }

    #[test]
    fn a_text_continues_in_one_part_and_is_cut_at_the_maximum_length() {
        let room = Room::default();
        let mut turn = Turn::new(&room);
        turn.add_input(&[text("what?")]);
        turn.add_output(&text("hm"), true);
        turn.add_output(&text("a "), false);
        turn.add_output(&text("cat"), false);
        let attributes: Vec<_> = turn.attributes("end_turn").collect();
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
        assert_eq!(
            attributes,
            expected.map(|(key, text)| KeyValue::new(key, text))
        );
        for _ in 0..3 {
            turn.add_output(&text(&"\u{1}".repeat(LONGEST / 12)), false);
        }
        let attributes: Vec<_> = turn.attributes("end_turn").collect();
        assert!(attributes.contains(&KeyValue::new(mapping::CUT, true)));
        assert!(
            attributes
                .iter()
                .all(|attributes| attributes.value.as_str().len() <= LONGEST + 2 * PART)
        );
        drop(turn);
        assert_eq!(left(&room), MOST);
    }

    #[test]
    fn a_replacement_uses_the_room_of_the_replaced_text() {
        let room = Room::default();
        let mut call = Call::new(&room);
        let long = RawValue::from_string(format!("\"{}\"", "x".repeat(LONGEST))).unwrap();
        for _ in 0..10 {
            call.set_arguments(Some(&long));
            call.set_result(Some(&long));
        }
        assert_eq!(left(&room), MOST - 2 * LONGEST);
        drop(call);
        assert_eq!(left(&room), MOST);
    }

    #[test]
    fn the_contents_of_all_spans_are_bounded_together() {
        let room = Room::default();
        let long = "x".repeat(LONGEST);
        let turns: Vec<_> = (0..2 * MOST / LONGEST)
            .map(|_| {
                let mut turn = Turn::new(&room);
                turn.add_input(&[text(&long)]);
                turn
            })
            .collect();
        assert!(left(&room) < PART && turns.iter().all(|turn| turn.share.is_cut));
        drop(turns);
        assert_eq!(left(&room), MOST);
    }
}
