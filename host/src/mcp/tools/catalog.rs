//! The tools that a component says it has.
//!
//! What is in a catalog is checked: every tool has a name of its own and schemas that are ones. A tool
//! that is not so is left out, and the others stay. The text of each tool goes to the clients as the
//! component wrote it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::mirrors::{self, Mirror};
use super::schema::Schema;
use crate::limits;
use crate::mcp::protocol::{clipped, is_object};
use crate::rpc::member;

/// The largest catalog, in bytes.
const LARGEST: usize = limits::MCP_TOOLS;

/// The most tools that one has.
const TOOLS: usize = limits::MCP_TOOLS_COUNT;

/// The longest name of a tool, in bytes (MCP 2025-11-25, tool names).
const NAME: usize = 128;

/// What all schemas of a catalog that are checked against may weigh, in values.
const WEIGHT: usize = 25_000;

/// Of so many tools that were left out it is told why.
const TOLD: usize = 4;

/// How many tools a page of `tools/list` has.
pub const PAGE: usize = 100;

/// What a component has listed.
#[derive(Debug)]
pub struct Catalog {
    /// The JSON text of a string.
    pub instructions: Option<Box<str>>,
    tools: Vec<Arc<Tool>>,
    /// What clients see of them. Not kept by calls, which may outlive the catalog.
    texts: Vec<Box<str>>,
    places: HashMap<Box<str>, usize>,
    /// Why tools were left out: of some of them, and of how many.
    left_out: (Vec<String>, usize),
}

/// A tool.
#[derive(Debug)]
pub struct Tool {
    /// Unique in its catalog.
    pub name: Box<str>,
    /// What its arguments match.
    pub input: Schema,
    /// What `structuredContent` matches.
    pub output: Option<Schema>,
    /// The arguments that headers repeat.
    pub mirrors: Vec<Mirror>,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow, default)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

impl Catalog {
    /// What it keeps, in bytes: every text, and about as much for the schemas in it.
    pub fn weight(&self) -> usize {
        2 * self.texts.iter().map(|text| text.len()).sum::<usize>()
    }

    /// Checks what a component has listed. The error says what is wrong with which tool.
    pub fn read(listed: &str) -> Result<Self, String> {
        if listed.len() > LARGEST {
            return Err(format!("its list is larger than {} MiB", LARGEST >> 20));
        }
        let listed: Listed = serde_json::from_str(listed)
            .map_err(|error| format!("its list is none: {}", clipped(&error.to_string())))?;
        let instructions = listed.instructions.map(RawValue::get);
        if instructions.is_some_and(|text| serde_json::from_str::<String>(text).is_err()) {
            return Err(String::from("its instructions are no text"));
        }
        let mut catalog = Self {
            instructions: instructions.map(Box::from),
            tools: Vec::with_capacity(listed.tools.len()),
            texts: Vec::with_capacity(listed.tools.len()),
            places: HashMap::new(),
            left_out: (Vec::new(), 0),
        };
        let mut weight = WEIGHT;
        for (place, text) in listed.tools.iter().enumerate() {
            if let Err(reason) = catalog.add(text.get(), place, &mut weight) {
                catalog.leave_out(reason);
            }
        }
        Ok(catalog)
    }

    fn add(&mut self, text: &str, place: usize, weight: &mut usize) -> Result<(), String> {
        if self.tools.len() == TOOLS {
            return Err(format!(
                "tool {place} of its list is one of more than {TOOLS}"
            ));
        }
        let tool = Tool::read(text, place, weight)?;
        let Entry::Vacant(vacant) = self.places.entry(tool.name.clone()) else {
            return Err(format!("it lists two tools {:?}", tool.name));
        };
        vacant.insert(self.tools.len());
        self.tools.push(Arc::new(tool));
        self.texts.push(text.into());
        Ok(())
    }

    fn leave_out(&mut self, reason: String) {
        let (reasons, count) = &mut self.left_out;
        *count += 1;
        if reasons.len() < TOLD {
            reasons.push(reason);
        }
    }

    /// Why tools were left out, if any were.
    pub fn left_out(&self) -> Option<String> {
        let (reasons, count) = &self.left_out;
        let more = match count - reasons.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        (*count > 0).then(|| format!("{}{more}", reasons.join("; ")))
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.places.get(name).and_then(|at| self.tools.get(*at))
    }

    /// The JSON text of the array of tools on the page that begins at a place, and where the next
    /// one begins.
    pub fn page(&self, from: usize) -> Option<(String, Option<usize>)> {
        if from != 0 && (from >= self.tools.len() || !from.is_multiple_of(PAGE)) {
            return None;
        }
        let to = from.saturating_add(PAGE).min(self.tools.len());
        let page: Vec<&str> = self.texts[from..to].iter().map(|text| &**text).collect();
        let next = Some(to).filter(|to| *to < self.tools.len());
        Some((format!("[{}]", page.join(",")), next))
    }
}

impl Tool {
    fn read(text: &str, place: usize, weight: &mut usize) -> Result<Self, String> {
        if !is_object(text) {
            return Err(format!("tool {place} of its list is no object"));
        }
        let name: Option<String> =
            member(text, "name").and_then(|name| serde_json::from_str(name).ok());
        let Some(name) = name.filter(|name| is_name(name)) else {
            return Err(format!(
                "tool {place} of its list lacks a name of 1 to {NAME} of the characters \
                 A-Z a-z 0-9 _ - . /"
            ));
        };
        let mut schema = |field: &str| match member(text, field) {
            Some(schema) => Schema::read(schema, weight)
                .map(Some)
                .map_err(|reason| format!("the {field} of its tool {name:?} {reason}")),
            None => Ok(None),
        };
        let (input, output) = (schema("inputSchema")?, schema("outputSchema")?);
        let Some(input) = input else {
            return Err(format!("its tool {name:?} lacks an inputSchema"));
        };
        let mirrors = mirrors::read(member(text, "inputSchema").unwrap_or_default())
            .map_err(|reason| format!("the inputSchema of its tool {name:?} {reason}"))?;
        Ok(Self {
            input,
            output,
            mirrors,
            name: name.into(),
        })
    }
}

fn is_name(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    (1..=NAME).contains(&name.len()) && name.bytes().all(is_fine)
}
