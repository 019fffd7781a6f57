//! What is called of a component.

use crate::protocol::{clipped, string};

/// What is called.
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
    /// By which method.
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

    /// Which result is to be what MCP has for it.
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
