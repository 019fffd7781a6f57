//! The targets of calls to a component.

use crate::protocol::{clipped, string};

/// The target of the call.
#[derive(Debug)]
pub enum Called {
    /// A tool, by its name.
    Tool(String),
    /// A resource, by its URI.
    Resource(String),
    /// A prompt, by its name.
    Prompt(String),
    Completion,
}

impl Called {
    /// Its method.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tools/call",
            Self::Resource(_) => "resources/read",
            Self::Prompt(_) => "prompts/get",
            Self::Completion => "completion/complete",
        }
    }

    /// Whether a request is for this.
    pub fn is(&self, method: &str, params: Option<&str>) -> bool {
        let (member, name) = match self {
            Self::Tool(name) | Self::Prompt(name) => ("name", name),
            Self::Resource(uri) => ("uri", uri),
            Self::Completion => return false,
        };
        self.method() == method && string(params, member).as_ref() == Some(name)
    }

    /// Names the result that MCP defines for it.
    pub fn gave(&self) -> String {
        match self {
            Self::Tool(name) => format!("its tool {name:?} gave is no CallToolResult"),
            Self::Resource(uri) => {
                let uri = clipped(uri);
                format!("it gave of {uri:?} is no ReadResourceResult")
            }
            Self::Prompt(name) => format!("its prompt {name:?} gave is no GetPromptResult"),
            Self::Completion => String::from("it completed is no CompleteResult"),
        }
    }
}
