//! A component's list of tools, resources or prompts.
//!
//! The items of a catalog are checked: each has a unique key, and tools have valid schemas. Faulty items are left
//! out, and the rest stays. Clients get the text of each as the component wrote it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::prompt::Prompt;
use super::resource::{Resource, Template};
use super::section::{Item, Section};
use super::tool::Tool;
use crate::protocol::clipped;
use acp_chain_channel::limits::MCP_LIST as LARGEST;

/// The maximum weight of all compiled schemas of a catalog, in values.
const WEIGHT: usize = 25_000;

/// How many reasons for leaving something out are reported.
const TOLD: usize = 4;

/// The items that a component has listed.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The instructions for the agent's model.
    pub instructions: Option<String>,
    /// The tools.
    pub tools: Section<Tool>,
    /// The resources.
    pub resources: Section<Resource>,
    /// The templates of further resources.
    pub templates: Section<Template>,
    /// The prompts, which users can pick.
    pub prompts: Section<Prompt>,
    left_out: LeftOut,
}

/// Why items were left out: the first reasons, and how many there are.
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
    /// Its size in bytes: every text, and about as much for the schemas and keys in it.
    pub fn weight(&self) -> usize {
        let resources = self.resources.length() + self.templates.length();
        let instructions = self.instructions.as_ref().map_or(0, String::len);
        2 * (self.tools.length() + resources + self.prompts.length()) + instructions
    }

    /// Checks a component's list. The error says what is wrong with it.
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

    /// Why items were left out, if any were.
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
                if self.reasons.len() < TOLD {
                    self.reasons.push(reason);
                }
            }
        }
    }
}
