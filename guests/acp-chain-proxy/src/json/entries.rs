//! The members of an object, or the elements of an array, in place.

use std::ops::Range;

use super::find;
use super::strings::{Cursor, RawString};

/// Iterates over the entries of an object or array, in order.
pub(super) struct Entries<'j> {
    cursor: Cursor<'j>,
    pub(super) is_object: bool,
}

pub(super) struct Entry<'j> {
    /// `None` in an array.
    name: Option<RawString<'j>>,
    /// Where it begins: at its name, if it has one.
    #[cfg_attr(
        target_arch = "wasm32",
        allow(dead_code, reason = "only edits need it, which the host makes")
    )]
    pub(super) start: usize,
    pub(super) value: Range<usize>,
}

impl<'j> Entries<'j> {
    /// The entries of the value at this place; `None` if it is neither an object nor an array.
    pub(super) fn of(text: &'j str, at: usize) -> Option<Self> {
        let mut cursor = Cursor { text, at };
        let is_object = match cursor.next_but_space()? {
            b'{' => true,
            b'[' => false,
            _ => return None,
        };
        Some(Self { cursor, is_object })
    }

    /// Where the rest of the entries begins: at first, just after the opening bracket.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn at(&self) -> usize {
        self.cursor.at
    }

    /// The member of this name, or the element with this index. Of duplicate names the last counts.
    pub(super) fn named(mut self, name: &str) -> Option<Entry<'j>> {
        if self.is_object {
            self.filter(|entry| entry.is_named(name)).last()
        } else {
            self.nth(find::index(name)?)
        }
    }
}

impl<'j> Iterator for Entries<'j> {
    type Item = Entry<'j>;

    fn next(&mut self) -> Option<Entry<'j>> {
        let cursor = &mut self.cursor;
        let first = loop {
            match cursor.next_but_space()? {
                b',' => {}
                b'}' | b']' => return None,
                first => break first,
            }
        };
        let start = cursor.at - 1;
        let mut name = None;
        if self.is_object {
            (first == b'"').then_some(())?;
            name = Some(cursor.string().ok()?);
            (cursor.next_but_space()? == b':').then_some(())?;
        } else {
            cursor.at = start;
        }
        let value = cursor.value()?;
        Some(Entry { name, start, value })
    }
}

impl Entry<'_> {
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.name.is_some_and(|own| own.spells(name))
    }
}
