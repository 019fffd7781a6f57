//! A reader for each format. They are tolerant: members and events that they do not know are passed over, in any
//! version of an agent.

mod calls;
mod claude;
mod codex;
mod gemini;
pub(crate) mod opencode;
mod trace;

use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::fs;
use std::io::BufRead;
use std::marker::PhantomData;
use std::path::Path;

use acp_chain_rpc::well_formed;
use memchr::memmem;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::event::Event;
use crate::format::{Format, ends};
use crate::lines::Lines;

/// Reads a recording line by line.
pub(crate) trait Reader {
    /// Appends the events of a line.
    ///
    /// # Errors
    /// If the line is not JSON, or has another form than the agent writes.
    fn read(&mut self, line: &[u8], events: &mut Vec<Event>) -> serde_json::Result<()>;
}

/// The reader of a format at this path; `None` if it does not have lines.
pub(crate) fn reader(format: Format, path: &Path) -> Option<Box<dyn Reader>> {
    match format {
        Format::Claude => Some(Box::new(claude::Claude::default())),
        Format::Codex => Some(Box::new(codex::Codex::default())),
        Format::Gemini => Some(Box::new(gemini::Gemini::new(project(path)))),
        Format::Opencode => None,
        Format::Trace => Some(Box::new(trace::Trace::default())),
    }
}

/// The lines of a recording at this path. A chat of an older Gemini CLI is one value, in many lines.
pub(crate) fn lines<R: BufRead>(format: Format, path: &Path, from: R, longest: usize) -> Lines<R> {
    if format == Format::Gemini && ends(path, "json") {
        Lines::whole(from, longest)
    } else {
        Lines::new(from, longest)
    }
}

/// Reads a line. What precedes a flaw in it is read.
///
/// # Errors
/// As of [`Reader::read`].
pub(crate) fn read(
    reader: &mut dyn Reader,
    line: &[u8],
    events: &mut Vec<Event>,
) -> serde_json::Result<()> {
    reader.read(&whole(line), events)
}

/// JSON text with U+FFFD in place of escapes of halves of characters, which agents write where they cut a text.
fn whole(json: &[u8]) -> Cow<'_, [u8]> {
    let mut beginnings = [b"\\ud", b"\\uD"].into_iter();
    let may_have_some = beginnings.any(|beginning| memmem::find(json, beginning).is_some());
    if may_have_some {
        well_formed(json).into()
    } else {
        json.into()
    }
}

/// The longest name or path, in bytes. Many events of a line may have the same one.
const LONGEST_NAME: usize = 4096;

/// How many items a list may have. In memory, an item takes a hundred times as much as in the line.
const MOST_ITEMS: usize = 10_000;

/// The folder of the project to which a chat of Gemini CLI belongs. It is in a file beside the folder of the chats.
fn project(chat: &Path) -> Option<String> {
    let file = chat.parent()?.parent()?.join(".project_root");
    let about = fs::symlink_metadata(&file).ok()?;
    let is_short = about.is_file() && about.len() <= LONGEST_NAME as u64;
    let text = is_short.then(|| fs::read_to_string(&file).ok()).flatten()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A name or a path; `None` if it is too long for one.
fn short<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    Ok(name.filter(|name| name.len() <= LONGEST_NAME))
}

/// A list of at most [`MOST_ITEMS`] items. A longer one is an error.
struct List<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// Reads the items of a [`List`].
struct Items<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "a list of at most {MOST_ITEMS} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<List<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            if items.len() >= MOST_ITEMS {
                return Err(de::Error::invalid_length(items.len() + 1, &self));
            }
            items.push(item);
        }
        Ok(List(items))
    }
}

/// A string in JSON; `None` of anything else.
fn string(json: &RawValue) -> Option<String> {
    serde_json::from_str(json.get()).ok()
}

/// JSON text of a value, `null` without one.
fn text_of(json: Option<&RawValue>) -> &str {
    json.map_or("null", RawValue::get)
}

/// The texts of the result of a tool.
fn output(json: Option<&RawValue>) -> Vec<String> {
    let texts = json.and_then(|json| acp_chain_hooks::texts(json.get()));
    texts.unwrap_or_default()
}
