//! What is kept of a recording while it is read: the calls of tools whose results have not been read yet, and the ids
//! that were seen. Both are bounded, however long ids are: of an id, its hash is kept.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use acp_chain_hooks::{self as hooks, Moment};

use crate::event::Event;

/// How much is kept of open items, in bytes. Past it, all are forgotten.
const MOST: usize = 32 << 20;

/// How much an item takes beside its texts, in bytes, at most.
const ITEM: usize = 512;

/// How many ids are kept. Past it, all are forgotten.
const MOST_IDS: usize = 1 << 20;

/// An id of any length in eight bytes. A recording that makes two alike only miscounts itself.
pub(super) fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Items that go on, by their ids.
pub(super) struct Open<T> {
    /// Each with its size.
    items: HashMap<u64, (T, usize)>,
    size: usize,
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self {
            items: HashMap::new(),
            size: 0,
        }
    }
}

impl<T> Open<T> {
    /// Keeps an item whose texts have this length, in place of an earlier one with this id.
    pub(super) fn put(&mut self, id: &str, item: T, texts: usize) {
        self.take(id);
        let size = texts + ITEM;
        if self.size + size > MOST {
            self.items.clear();
            self.size = 0;
        }
        self.size += size;
        self.items.insert(hash(id), (item, size));
    }

    pub(super) fn take(&mut self, id: &str) -> Option<T> {
        let (item, size) = self.items.remove(&hash(id))?;
        self.size -= size;
        Some(item)
    }
}

#[derive(Default)]
pub(super) struct OpenCalls(Open<hooks::Event>);

impl OpenCalls {
    /// A call that begins, if it has an id.
    pub(super) fn begin(&mut self, call: &hooks::Event) {
        if let Some(id) = &call.call {
            self.0.put(id, call.clone(), texts(call));
        }
    }

    /// The call with this id, as it ends.
    pub(super) fn end(
        &mut self,
        id: &str,
        output: Vec<String>,
        failed: bool,
    ) -> Option<hooks::Event> {
        Some(ended(self.0.take(id)?, output, failed))
    }
}

/// A call as it ends.
fn ended(begun: hooks::Event, output: Vec<String>, failed: bool) -> hooks::Event {
    hooks::Event {
        moment: Moment::AfterTool,
        output,
        failed,
        ..begun
    }
}

/// A call that is known only once it has ended: its begin and its end.
pub(super) fn whole_call(begun: hooks::Event, output: Vec<String>, failed: bool) -> [Event; 2] {
    [begun.clone(), ended(begun, output, failed)].map(Event::tool)
}

/// The length of the texts of a call that begins.
fn texts(call: &hooks::Event) -> usize {
    let others = [&call.call, &call.subagent, &call.server, &call.cwd];
    let others = others.into_iter().flatten().map(String::len);
    call.tool.len() + call.input.len() + others.sum::<usize>()
}

/// Ids that were seen.
#[derive(Default)]
pub(super) struct SeenIds(HashSet<u64>);

impl SeenIds {
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.contains(&hash(id))
    }

    /// Whether an id is new. It is not from now on.
    pub(super) fn is_new(&mut self, id: &str) -> bool {
        if self.has(id) {
            return false;
        }
        if self.0.len() >= MOST_IDS {
            self.0.clear();
        }
        self.0.insert(hash(id))
    }
}

#[cfg(test)]
mod tests {
    use acp_chain_hooks::recorded;

    use super::*;

    #[test]
    fn an_open_item_is_taken_once_and_in_its_last_state() {
        let mut open = Open::default();
        open.put("a", 1, 10);
        open.put("a", 2, 20);
        assert_eq!(open.size, 20 + ITEM);
        assert_eq!((open.take("a"), open.take("a")), (Some(2), None));
        assert_eq!(open.size, 0);
    }

    #[test]
    fn calls_that_never_end_are_forgotten_however_large_they_are() {
        let mut calls = OpenCalls::default();
        for number in 0..100 {
            let call = hooks::Event {
                call: Some(number.to_string()),
                cwd: Some("x".repeat(1 << 20)),
                ..recorded("", "tool", "null")
            };
            calls.begin(&call);
        }
        assert!(calls.0.size <= MOST, "{}", calls.0.size);
        assert!(calls.end("0", Vec::new(), false).is_none());
        let last = calls.end("99", vec!["done".to_owned()], true);
        let last = last.map(|call| (call.moment, call.output, call.failed));
        let expected = (Moment::AfterTool, vec!["done".to_owned()], true);
        assert_eq!(last, Some(expected));
    }
}
