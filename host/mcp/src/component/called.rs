//! What is called of a component.

use std::sync::Arc;

use super::tool::Tool;
use crate::protocol::{self, Version, string};
use acp_chain_rpc::{Error, Message, member};

/// What is called.
#[derive(Debug)]
pub(super) enum Called {
    Tool(Arc<Tool>),
    /// A resource, by its URI.
    Resource(String),
    /// A prompt, by its name.
    Prompt(String),
    Completion,
}

impl Called {
    /// Whether a request is for this.
    pub fn is(&self, method: &str, params: Option<&str>) -> bool {
        let (own, member, name) = match self {
            Self::Tool(tool) => ("tools/call", "name", &*tool.name),
            Self::Resource(uri) => ("resources/read", "uri", &**uri),
            Self::Prompt(name) => ("prompts/get", "name", &**name),
            Self::Completion => return false,
        };
        own == method && string(params, member).as_deref() == Some(name)
    }

    /// An error of the component's, for a client of this version: 2026-07-28 has another code for a
    /// resource that is not there.
    pub fn error(&self, outcome: Message, version: Version) -> Message {
        let gone = protocol::code::RESOURCE_NOT_FOUND.to_string();
        if !matches!(self, Self::Resource(_))
            || version < Version::Stateless
            || member(outcome.body(), "code") != Some(&gone)
        {
            return outcome;
        }
        match serde_json::from_str::<Error>(outcome.body()) {
            Ok(error) => Message::error(&Error {
                code: protocol::code::INVALID_PARAMS,
                ..error
            }),
            Err(_) => outcome,
        }
    }
}
