//! The targets of calls to a component.

use crate::protocol::{clipped, string};

/// The target of a call.
#[derive(Debug)]
pub enum Target {
    /// A tool, by its name.
    Tool(String),
    /// A resource, by its URI.
    Resource(String),
    /// A prompt, by its name.
    Prompt(String),
    Completion,
}

impl Target {
    /// The method of the call.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tools/call",
            Self::Resource(_) => "resources/read",
            Self::Prompt(_) => "prompts/get",
            Self::Completion => "completion/complete",
        }
    }

    /// Whether a request has this target.
    pub fn is(&self, method: &str, params: Option<&str>) -> bool {
        let (member, name) = match self {
            Self::Tool(name) | Self::Prompt(name) => ("name", name),
            Self::Resource(uri) => ("uri", uri),
            Self::Completion => return false,
        };
        self.method() == method && string(params, member).as_ref() == Some(name)
    }

    /// The beginning of the error for an invalid result.
    pub fn invalid_result(&self) -> String {
        match self {
            Self::Tool(name) => format!("the result of its tool {name:?} is not a CallToolResult"),
            Self::Resource(uri) => {
                let uri = clipped(uri);
                format!("its result for {uri:?} is not a ReadResourceResult")
            }
            Self::Prompt(name) => {
                format!("the result of its prompt {name:?} is not a GetPromptResult")
            }
            Self::Completion => String::from("its completion is not a CompleteResult"),
        }
    }
}
