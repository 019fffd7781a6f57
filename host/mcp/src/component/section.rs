//! Items of one kind that a component has listed. Each is checked, has a unique key, and keeps the component's text.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::protocol::{array, is_object};
use acp_chain_channel::limits::MCP_LIST_COUNT as MAX_ITEMS;

/// How many items a page has.
pub const PAGE: usize = 100;

/// An item of one kind.
pub trait Item: Sized {
    /// The kind's name in error messages.
    const WORD: &'static str;

    /// Parses an object of a component, and returns the item's key, unique among its kind. `place` is the item's index in
    /// the list, for errors. `weight` is the remaining weight for schemas of the catalog.
    fn read(text: &str, place: usize, weight: &mut usize) -> Result<(Box<str>, Self), String>;
}

/// All items of one kind.
#[derive(Debug)]
pub struct Section<T> {
    /// The items by their keys.
    items: HashMap<Box<str>, Arc<T>>,
    /// The items' texts for clients. Kept apart from the items, because open calls keep items longer than the catalog.
    texts: Vec<Box<str>>,
}

impl<T> Default for Section<T> {
    fn default() -> Self {
        Self {
            items: HashMap::new(),
            texts: Vec::new(),
        }
    }
}

impl<T: Item> Section<T> {
    /// Adds an item. The error describes why it is invalid.
    pub fn add(&mut self, text: &str, place: usize, weight: &mut usize) -> Result<(), String> {
        let word = T::WORD;
        if self.texts.len() == MAX_ITEMS {
            return Err(format!(
                "{word} {place} of its list is one of more than {MAX_ITEMS}"
            ));
        }
        if !is_object(text) {
            return Err(format!("{word} {place} of its list is not an object"));
        }
        let (key, item) = T::read(text, place, weight)?;
        match self.items.entry(key) {
            Entry::Vacant(vacant) => vacant.insert(Arc::new(item)),
            Entry::Occupied(other) => {
                return Err(format!("it lists two {word}s {:?}", other.key()));
            }
        };
        self.texts.push(text.into());
        Ok(())
    }

    pub fn get(&self, key: &str) -> Option<&Arc<T>> {
        self.items.get(key)
    }

    /// The JSON array of the items on the page that starts at this index, and the start of the next page.
    pub fn page(&self, from: usize) -> Option<(String, Option<usize>)> {
        if from != 0 && (from >= self.texts.len() || !from.is_multiple_of(PAGE)) {
            return None;
        }
        let to = from.saturating_add(PAGE).min(self.texts.len());
        let page: Vec<&str> = self.texts[from..to].iter().map(|text| &**text).collect();
        let next = Some(to).filter(|to| *to < self.texts.len());
        Some((array(&page), next))
    }

    /// The total length of the texts, in bytes.
    pub fn length(&self) -> usize {
        self.texts.iter().map(|text| text.len()).sum()
    }
}
