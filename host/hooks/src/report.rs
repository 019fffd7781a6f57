//! The report of an agent's hook, as it arrives: JSON text, of which single places are read.

use acp_chain_rpc::{MemberNames, look_through_all, resolve, value_at};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Why a report cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedReport {
    /// It is not JSON, or parsers could read it differently.
    #[error("the agent's hook reported something that is not unambiguous JSON")]
    Json,
    /// It has no such event.
    #[error("the agent's hook reported the event {0:?}, which is unknown")]
    Event(String),
    /// A member is missing.
    #[error("the agent's hook reported no {0}")]
    Missing(&'static str),
    /// A list is too long.
    #[error("the agent's hook reported too many {0}")]
    TooMany(&'static str),
}

/// The members with the input and the output of a tool, in the reports of all agents.
const OF_TOOLS: MemberNames = MemberNames {
    inputs: &["input", "toolArgs", "tool_input"],
    outputs: &["output", "toolResult", "tool_output", "tool_response"],
    variables: &[],
    objects: &[],
    lists: &[],
    either: &[],
    open: &[],
    is_of_protocol: false,
};

/// A report.
#[derive(Clone, Copy)]
pub(crate) struct Report<'r>(&'r str);

impl<'r> Report<'r> {
    pub(crate) fn new(text: &'r str) -> Result<Self, MalformedReport> {
        let valid: Result<&RawValue, _> = serde_json::from_str(text);
        valid.map_err(|_| MalformedReport::Json)?;
        look_through_all(text, OF_TOOLS).map_err(|_| MalformedReport::Json)?;
        Ok(Self(text.trim()))
    }

    /// The JSON text at the first of these pointers with a value other than null.
    pub(crate) fn at(self, pointers: &[&str]) -> Option<&'r str> {
        let mut values = pointers
            .iter()
            .filter_map(|pointer| resolve(self.0, pointer).ok().flatten());
        values.find(|value| *value != "null")
    }

    /// The value at the first of these pointers with one of this type.
    pub(crate) fn value<T: DeserializeOwned>(self, pointers: &[&str]) -> Option<T> {
        pointers
            .iter()
            .find_map(|pointer| value_at(self.0, pointer))
    }
}
