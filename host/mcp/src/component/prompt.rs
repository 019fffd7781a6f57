//! A prompt that a component has listed.

use serde::Deserialize;

use super::section::Item;
use crate::protocol::{clipped, string};
use acp_chain_rpc::member;

/// The maximum length of a prompt's name, in bytes.
const NAME: usize = 128;

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
        let name = string(text, "name").filter(|name| is_name(name));
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
