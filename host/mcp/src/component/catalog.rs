//! A component's list of tools, resources or prompts.
//!
//! The items of a catalog are valid: each has a unique key, and tools have valid schemas. Invalid items are left out.
//! Clients get the text of an item as the component wrote it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::items::{Item, Prompt, Resource, Section, Template, Tool};
use crate::protocol::clipped;
use acp_chain_channel::limits::MCP_LIST as LARGEST;

/// The maximum weight of all compiled schemas of a catalog, in values.
const WEIGHT: usize = 25_000;

/// How many reasons for leaving out items are reported.
const REPORTED: usize = 4;

/// The items of one list. Only one kind is present, or resources and templates.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The instructions for the agent's model.
    pub instructions: Option<String>,
    pub tools: Section<Tool>,
    pub resources: Section<Resource>,
    pub templates: Section<Template>,
    pub prompts: Section<Prompt>,
    left_out: LeftOut,
}

/// Why items were left out: the first reasons, and the number of items.
#[derive(Debug, Default)]
struct LeftOut {
    reasons: Vec<String>,
    count: usize,
}

/// A component's answer. It has only the members of the requested list.
#[derive(Deserialize)]
struct ListAnswer<'a> {
    #[serde(borrow, default)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    resources: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    templates: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    prompts: Vec<&'a RawValue>,
}

impl Catalog {
    /// The size in bytes: of the texts, and about the same again for schemas and keys.
    pub fn weight(&self) -> usize {
        let resources = self.resources.length() + self.templates.length();
        let instructions = self.instructions.as_ref().map_or(0, String::len);
        2 * (self.tools.length() + resources + self.prompts.length()) + instructions
    }

    /// Parses a component's list. The error describes why the whole list is invalid.
    pub fn read(listed: &str) -> Result<Self, String> {
        if listed.len() > LARGEST {
            return Err(format!("its list is larger than {} MiB", LARGEST >> 20));
        }
        let listed: ListAnswer = serde_json::from_str(listed)
            .map_err(|error| format!("its list is malformed: {}", clipped(&error.to_string())))?;
        let instructions = listed.instructions.map(RawValue::get);
        let instructions = instructions.filter(|text| *text != "null");
        let instructions = instructions.map(serde_json::from_str::<String>).transpose();
        let mut catalog = Self {
            instructions: instructions
                .map_err(|_| String::from("its instructions are not a string"))?
                .filter(|text| !text.is_empty()),
            ..Self::default()
        };
        let (weight, left_out) = (&mut { WEIGHT }, &mut catalog.left_out);
        left_out.fill(&mut catalog.tools, &listed.tools, weight);
        left_out.fill(&mut catalog.resources, &listed.resources, weight);
        left_out.fill(&mut catalog.templates, &listed.templates, weight);
        left_out.fill(&mut catalog.prompts, &listed.prompts, weight);
        Ok(catalog)
    }

    /// Why items were left out; `None` if none were.
    pub fn left_out(&self) -> Option<String> {
        let LeftOut { reasons, count } = &self.left_out;
        let more = match count - reasons.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        (*count > 0).then(|| format!("{}{more}", reasons.join("; ")))
    }
}

impl LeftOut {
    /// Adds the valid items to a section.
    fn fill<T: Item>(
        &mut self,
        section: &mut Section<T>,
        listed: &[&RawValue],
        weight: &mut usize,
    ) {
        for (place, text) in listed.iter().enumerate() {
            if let Err(reason) = section.add(text.get(), place, weight) {
                self.count += 1;
                if self.reasons.len() < REPORTED {
                    self.reasons.push(reason);
                }
            }
        }
    }
}
