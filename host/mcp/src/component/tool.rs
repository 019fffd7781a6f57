//! A tool that a component has listed.

use super::mirrors::{self, Mirror};
use super::section::Item;
use crate::protocol::is_object;
use crate::schema::Schema;
use acp_chain_rpc::member;

/// The maximum length of a tool's name, in bytes (MCP 2025-11-25, tool names).
const NAME: usize = 128;

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
        if !is_object(text) {
            return Err(format!("tool {place} of its list is not an object"));
        }
        let name: Option<String> =
            member(text, "name").and_then(|name| serde_json::from_str(name).ok());
        let Some(name) = name.filter(|name| is_name(name)) else {
            return Err(format!(
                "tool {place} of its list lacks a name of 1 to {NAME} of the characters \
                 A-Z a-z 0-9 _ - . /"
            ));
        };
        let Some(input) = member(text, "inputSchema") else {
            return Err(format!("its tool {name:?} lacks an inputSchema"));
        };
        let input = Schema::of_objects(input, weight)
            .map_err(|reason| format!("the inputSchema of its tool {name:?} {reason}"))?;
        let output = member(text, "outputSchema").map(|schema| {
            Schema::read(schema, weight)
                .map_err(|reason| format!("the outputSchema of its tool {name:?} {reason}"))
        });
        let output = output.transpose()?;
        let mirrors = mirrors::read(member(text, "inputSchema").unwrap_or_default())
            .map_err(|reason| format!("the inputSchema of its tool {name:?} {reason}"))?;
        let tool = Self {
            input,
            output,
            mirrors,
        };
        Ok((name.into(), tool))
    }
}

fn is_name(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    (1..=NAME).contains(&name.len()) && name.bytes().all(is_fine)
}
