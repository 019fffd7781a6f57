//! A tool that a component has listed.

use super::mirrors::{self, Mirror};
use super::section::Item;
use crate::protocol::string;
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
        let name = string(text, "name");
        let Some(name) = name.filter(|name| is_name(name)) else {
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

fn is_name(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    (1..=NAME).contains(&name.len()) && name.bytes().all(is_fine)
}
