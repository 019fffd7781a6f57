//! What a component says it has, of tools, of resources, or of prompts.
//!
//! What is in a catalog is checked: everything has a key of its own, and tools have schemas that are
//! ones. What is not so is left out, and the rest stays. The text of each goes to the clients as the
//! component wrote it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::prompt::Prompt;
use super::resource::{Resource, Template};
use super::section::{Item, Section};
use super::tool::Tool;
use crate::protocol::clipped;
use acp_chain_channel::limits::MCP_LIST as LARGEST;

/// What all schemas of a catalog that are checked against may weigh, in values.
const WEIGHT: usize = 25_000;

/// Of so much that was left out it is told why.
const TOLD: usize = 4;

/// What a component has listed.
#[derive(Debug, Default)]
pub struct Catalog {
    /// What the agent's model is told of all of it.
    pub instructions: Option<String>,
    /// What can be called.
    pub tools: Section<Tool>,
    /// What can be read.
    pub resources: Section<Resource>,
    /// The addresses of what can be read besides.
    pub templates: Section<Template>,
    /// What users can pick.
    pub prompts: Section<Prompt>,
    left_out: LeftOut,
}

/// Why things were left out: of some of them, and of how many.
#[derive(Debug, Default)]
struct LeftOut {
    reasons: Vec<String>,
    count: usize,
}

/// One list has some of these, and lacks the others.
#[derive(Deserialize)]
struct Listed<'a> {
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
    /// What it keeps, in bytes: every text, and about as much for the schemas and keys in it.
    pub fn weight(&self) -> usize {
        let resources = self.resources.length() + self.templates.length();
        let instructions = self.instructions.as_ref().map_or(0, String::len);
        2 * (self.tools.length() + resources + self.prompts.length()) + instructions
    }

    /// Checks what a component has listed. The error says what is wrong with the list.
    pub fn read(listed: &str) -> Result<Self, String> {
        if listed.len() > LARGEST {
            return Err(format!("its list is larger than {} MiB", LARGEST >> 20));
        }
        let listed: Listed = serde_json::from_str(listed)
            .map_err(|error| format!("its list is none: {}", clipped(&error.to_string())))?;
        let instructions = listed.instructions.map(RawValue::get);
        let instructions = instructions.filter(|text| *text != "null");
        let instructions = instructions.map(serde_json::from_str::<String>).transpose();
        let mut catalog = Self {
            instructions: instructions
                .map_err(|_| String::from("its instructions are no text"))?
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

    /// Why things were left out, if any were.
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
    /// Puts into a section what has a place there.
    fn fill<T: Item>(
        &mut self,
        section: &mut Section<T>,
        listed: &[&RawValue],
        weight: &mut usize,
    ) {
        for (place, text) in listed.iter().enumerate() {
            if let Err(reason) = section.add(text.get(), place, weight) {
                self.count += 1;
                if self.reasons.len() < TOLD {
                    self.reasons.push(reason);
                }
            }
        }
    }
}
