//! The host's side of tools: lists them, and calls them.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::calls::CallKind;
use super::offers::{begin, done, granted, took, values};
use super::{Host, json};
use crate::MessageId;
use crate::host::Change;
use crate::tools::calls;

/// A proxy's tools for a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    /// How to use the tools together.
    pub instructions: Option<String>,
    /// Each a `Tool` of MCP.
    pub tools: Vec<Value>,
}

impl Host {
    /// Lists the tools for a session. An error if the host would reject the list.
    pub fn list_tools(&mut self, session: Option<&str>) -> Result<Catalog, String> {
        granted().map_err(|error| error.to_string())?;
        let catalog = calls::list(session)?;
        let tools = values(&catalog.tools)?;
        let mut names = BTreeSet::new();
        for tool in &tools {
            let name = tool["name"].as_str().unwrap_or_default();
            if name.is_empty() || !names.insert(name) {
                return Err(format!("the tool name `{name}` is duplicate or empty"));
            }
            for schema in ["inputSchema", "outputSchema"] {
                if tool
                    .get(schema)
                    .is_some_and(|schema| schema["type"] != "object")
                {
                    return Err(format!(
                        "the `{schema}` of the tool `{name}` is not the schema of an object"
                    ));
                }
            }
        }
        Ok(Catalog {
            instructions: catalog.instructions,
            tools,
        })
    }

    /// Calls a tool, which must exist. Returns the number of the call. Unlike the real host, does not check the
    /// arguments against the tool's schema.
    pub fn call_tool(
        &mut self,
        session: Option<&str>,
        name: &str,
        arguments: impl Serialize,
    ) -> MessageId {
        let catalog = self.list_tools(session);
        let tools = catalog.expect("tools that can be listed").tools;
        let tool = tools.iter().find(|tool| tool["name"] == name);
        let tool = tool.unwrap_or_else(|| panic!("there is no tool `{name}`"));
        let structured = tool.get("outputSchema").is_some();
        let call = begin(CallKind::Tool { structured }, session, json(arguments));
        done(call.id, calls::call(name, call))
    }

    /// Whether the proxy reported a change of its tools since the last call.
    pub fn tools_changed(&mut self) -> bool {
        took(|change| *change == Change::Tools)
    }
}
