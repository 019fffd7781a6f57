//! The texts of a conversation's items, and the notes about what proxies did with them.

use acp_chain_acp::Change;
use acp_chain_trace::Line;

use super::reading::Reading;
use super::{Conversation, NOTES, Note, Part, TEXT, TEXTS, TITLE, is_end};
use crate::said::one_line;

impl Reading {
    /// Adds the text of a message that crossed.
    pub fn say(&mut self, at: usize, row: u64, line: &Line, text: &str, change: Change) {
        let Some((from, to, _)) = line.crossed() else {
            return;
        };
        let room = TEXTS.saturating_sub(self.used) / 2;
        let hops = &mut self.items[at].hops;
        if hops.len() >= NOTES {
            self.is_cut = true;
            return;
        }
        let mut put = |slot: &mut Option<String>| {
            let kept = slot.get_or_insert_default();
            if change != Change::Appends {
                self.used = self.used.saturating_sub(kept.len());
                kept.clear();
            }
            let most = room.min(TEXT.saturating_sub(kept.len()));
            let some = &text[..text.floor_char_boundary(most)];
            self.is_cut |= some.len() < text.len();
            self.used += some.len();
            kept.push_str(some);
        };
        put(&mut hops.entry(to.to_owned()).or_default().got);
        let hop = hops.entry(from.to_owned()).or_default();
        put(&mut hop.sent);
        let changed = match (&hop.got, &hop.sent) {
            (Some(got), Some(sent)) if got != sent => Some((got.clone(), sent.clone())),
            _ => None,
        };
        // What a proxy made of a text that comes in chunks is known at its end.
        if let Some((before, after)) = changed
            && change != Change::Appends
            && !is_end(from)
        {
            self.changed(at, row, from, before, after);
        }
    }

    /// Notes that a proxy changed a text, once for an item, with the newest texts.
    fn changed(&mut self, at: usize, row: u64, proxy: &str, before: String, after: String) {
        let is_it = |note: &Note| note.proxy == proxy && note.did == "change";
        if !self.items[at].notes.iter().any(is_it) {
            self.note(at, row, proxy, "change", "");
        }
        self.used += before.len() + after.len();
        if self.used > 2 * TEXTS {
            self.is_cut = true;
            return;
        }
        if let Some(note) = self.items[at].notes.iter_mut().find(|note| is_it(note)) {
            (note.before, note.after) = (Some(before), Some(after));
        }
    }

    /// Notes what a proxy did with a message of an item.
    pub fn note(&mut self, at: usize, row: u64, proxy: &str, did: &'static str, why: &str) {
        let why = one_line(why, TITLE);
        let notes = &mut self.items[at].notes;
        let alike = |note: &&mut Note| note.proxy == proxy && note.did == did && note.why == why;
        if let Some(note) = notes.iter_mut().find(alike) {
            note.count += 1;
        } else if notes.len() < NOTES {
            notes.push(Note {
                proxy: proxy.to_owned(),
                did,
                row,
                count: 1,
                why,
                before: None,
                after: None,
            });
        } else {
            self.is_cut = true;
        }
    }

    /// The whole turn, once all its lines are taken in.
    pub fn whole(mut self) -> Conversation {
        for at in 0..self.items.len() {
            let hops = std::mem::take(&mut self.items[at].hops);
            let item = &mut self.items[at];
            let shown = match item.part {
                Part::Prompt => hops.get("client").and_then(|hop| hop.sent.clone()),
                _ if item.from == "client" => hops.get("agent").and_then(|hop| hop.got.clone()),
                _ => hops.get("client").and_then(|hop| hop.got.clone()),
            };
            let from_sender = || hops.get(&item.from)?.sent.clone();
            item.text = shown.or_else(from_sender).unwrap_or_default();
            let row = item.row;
            let is_stream = matches!(item.part, Part::Message | Part::Thought | Part::User);
            let of_proxies = hops.into_iter();
            for (proxy, hop) in of_proxies.filter(|(part, _)| is_stream && !is_end(part)) {
                match (hop.got, hop.sent) {
                    (Some(got), Some(sent)) if got != sent => {
                        self.changed(at, row, &proxy, got, sent);
                    }
                    (None, Some(sent)) => self.note(at, row, &proxy, "add", &sent),
                    _ => {}
                }
            }
        }
        Conversation {
            items: self.items,
            is_cut: self.is_cut,
            rows: 0,
        }
    }
}
