//! The items that a component lists: tools, prompts, resources, and templates for the URIs of resources. Each is
//! checked, has a key that is unique among its kind, and keeps the component's text.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use serde::Deserialize;

use super::mirrors::{self, Mirror};
use crate::protocol::{array, clipped, is_object};
use acp_chain_channel::limits::{LONGEST_URI, MCP_LIST_COUNT};
use acp_chain_rpc::{member, text_member};
use acp_chain_schema::Schema;

/// How many items a page has.
pub const PAGE: usize = 100;

/// The maximum length of the name of a tool (MCP 2025-11-25, tool names) or a prompt, in bytes.
const NAME: usize = 128;

/// An item of one kind.
pub trait Item: Sized {
    /// The kind's name in error messages.
    const WORD: &'static str;

    /// Parses an object of a component, and returns the item's key, unique among its kind. `place` is the item's index
    /// in the list, for errors. `weight` is the remaining weight for schemas of the catalog.
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
        if self.texts.len() == MCP_LIST_COUNT {
            return Err(format!(
                "{word} {place} of its list is one of more than {MCP_LIST_COUNT}"
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

/// A tool.
#[derive(Debug)]
pub struct Tool {
    /// The schema of the arguments.
    pub input: Schema,
    /// The schema of `structuredContent`.
    pub output: Option<Schema>,
    /// The arguments that headers repeat.
    pub mirrors: Vec<Mirror>,
}

impl Item for Tool {
    const WORD: &'static str = "tool";

    fn read(text: &str, place: usize, weight: &mut usize) -> Result<(Box<str>, Self), String> {
        let name = text_member(text, "name");
        let Some(name) = name.filter(|name| is_tool_name(name)) else {
            return Err(format!(
                "tool {place} of its list lacks a name of 1 to {NAME} of the characters \
                 A-Z a-z 0-9 _ - . /"
            ));
        };
        let Some(schema) = member(text, "inputSchema") else {
            return Err(format!("its tool {name:?} lacks an inputSchema"));
        };
        let wrong = |of: &str, why: String| format!("the {of}Schema of its tool {name:?} {why}");
        let input = Schema::of_objects(schema, weight).map_err(|why| wrong("input", why))?;
        let output = member(text, "outputSchema").map(|schema| Schema::read(schema, weight));
        let output = output.transpose().map_err(|why| wrong("output", why))?;
        let mirrors = mirrors::read(schema).map_err(|why| wrong("input", why))?;
        let tool = Self {
            input,
            output,
            mirrors,
        };
        Ok((name.into(), tool))
    }
}

fn is_tool_name(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    (1..=NAME).contains(&name.len()) && name.bytes().all(is_fine)
}

/// A prompt.
#[derive(Debug)]
pub struct Prompt {
    /// The names of required arguments.
    required: Vec<Box<str>>,
}

#[derive(Deserialize)]
struct Members {
    #[serde(default)]
    arguments: Option<Vec<Argument>>,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    #[serde(default)]
    required: Option<bool>,
}

impl Item for Prompt {
    const WORD: &'static str = "prompt";

    fn read(text: &str, place: usize, _: &mut usize) -> Result<(Box<str>, Self), String> {
        let is_name =
            |name: &str| (1..=NAME).contains(&name.len()) && !name.contains(char::is_control);
        let name = text_member(text, "name").filter(|name| is_name(name));
        let name = name.ok_or_else(|| {
            format!("prompt {place} of its list lacks a name of 1 to {NAME} bytes")
        })?;
        let members: Members = serde_json::from_str(text).map_err(|error| {
            let error = clipped(&error.to_string());
            format!("the arguments of its prompt {name:?} are invalid: {error}")
        })?;
        let arguments = members.arguments.unwrap_or_default().into_iter();
        let required = arguments.filter(|argument| argument.required == Some(true));
        let required = required.map(|argument| argument.name.into()).collect();
        Ok((name.into(), Self { required }))
    }
}

impl Prompt {
    /// The first required argument that is missing.
    pub fn lacks(&self, arguments: &str) -> Option<&str> {
        let mut required = self.required.iter().map(|name| &**name);
        required.find(|name| member(arguments, name).is_none())
    }
}

/// A resource. Only its text is kept: the agent may also read unlisted resources.
#[derive(Debug)]
pub struct Resource;

/// A template for the URIs of resources.
#[derive(Debug)]
pub struct Template;

impl Item for Resource {
    const WORD: &'static str = "resource";

    fn read(text: &str, place: usize, _: &mut usize) -> Result<(Box<str>, Self), String> {
        let uri = identified(text, "uri", Self::WORD, place)?;
        if is_uri(&uri) {
            Ok((uri, Self))
        } else {
            Err(format!(
                "resource {place} of its list has a uri that does not begin with a scheme, as in \
                 `scheme:rest`, or has spaces in it"
            ))
        }
    }
}

impl Item for Template {
    const WORD: &'static str = "template";

    fn read(text: &str, place: usize, _: &mut usize) -> Result<(Box<str>, Self), String> {
        identified(text, "uriTemplate", Self::WORD, place).map(|uri| (uri, Self))
    }
}

/// The identifier of an item. An error if the item lacks it or a name.
fn identified(text: &str, key: &str, word: &str, place: usize) -> Result<Box<str>, String> {
    let uri = text_member(text, key).filter(|uri| (1..=LONGEST_URI).contains(&uri.len()));
    let uri = uri.ok_or_else(|| {
        format!("{word} {place} of its list lacks a {key} of 1 to {LONGEST_URI} bytes")
    })?;
    match text_member(text, "name") {
        Some(name) if !name.is_empty() => Ok(uri.into()),
        _ => Err(format!("its {word} {uri:?} lacks a name")),
    }
}

/// Whether a text begins with a URI scheme (RFC 3986, section 3), and has no spaces or control characters.
fn is_uri(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_fine)
    };
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(is_scheme)
        && !text.contains(|letter: char| letter.is_control() || letter.is_whitespace())
}
