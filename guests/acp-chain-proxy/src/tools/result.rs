//! Results of tools: MCP's `CallToolResult`, and types that convert to it.

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::schema;
use crate::{Content, Json, ProtocolError, Result};

/// What a tool may return: text, [`Structured`] content, [`Content`] blocks, or a whole
/// [`ToolResult`].
pub trait IntoToolResult {
    /// The schema of the structured content.
    #[doc(hidden)]
    const OUTPUT_SCHEMA: Option<fn() -> Schema> = None;

    /// Converts the value to a result. An error is a failure of the tool.
    fn into_tool_result(self) -> Result<ToolResult>;
}

/// MCP's `CallToolResult`.
#[derive(Clone, Debug)]
pub struct ToolResult(Json);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    content: &'a [Content],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a Json>,
    #[serde(skip_serializing_if = "is_false")]
    is_error: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl ToolResult {
    /// A result with these blocks.
    pub fn new(content: &[Content]) -> Result<Self> {
        Self::of(content, None, false)
    }

    /// A result with these blocks, and the same content as structured data: an object.
    pub fn structured(content: &[Content], structured: &impl Serialize) -> Result<Self> {
        Self::of(content, Some(&Json::of(structured)?), false)
    }

    /// A failure of the tool, with more than a text.
    pub fn failure(content: &[Content]) -> Result<Self> {
        Self::of(content, None, true)
    }

    /// A complete `CallToolResult`, passed on as it is.
    #[must_use]
    pub fn raw(result: Json) -> Self {
        Self(result)
    }

    fn of(content: &[Content], structured: Option<&Json>, is_error: bool) -> Result<Self> {
        let result = Members {
            content,
            structured_content: structured,
            is_error,
        };
        Ok(Self(Json::of(&result)?))
    }
}

/// A value that the agent gets as structured data: an object, such as a struct or map. Its schema is the tool's
/// output schema, and its JSON is also the text for agents without support for structured content.
#[derive(Clone, Copy, Debug)]
pub struct Structured<T>(pub T);

impl<T: Serialize + JsonSchema> IntoToolResult for Structured<T> {
    const OUTPUT_SCHEMA: Option<fn() -> Schema> = Some(schema::output::<T>);

    fn into_tool_result(self) -> Result<ToolResult> {
        let structured = Json::of(&self.0)?;
        let text = Content::text(&structured.to_string());
        ToolResult::of(&[text], Some(&structured), false)
    }
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> Result<ToolResult> {
        Ok(self)
    }
}

impl IntoToolResult for Vec<Content> {
    fn into_tool_result(self) -> Result<ToolResult> {
        ToolResult::new(&self)
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self) -> Result<ToolResult> {
        ToolResult::new(&[self])
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<ToolResult> {
        Content::text(&self).into_tool_result()
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<ToolResult> {
        Content::text(self).into_tool_result()
    }
}

/// The answer to a call. A failure of the tool is a result, too, for the model.
pub(super) fn result(outcome: Result<ToolResult>) -> Result<Json> {
    let failure = match outcome {
        Ok(ToolResult(result)) => return Ok(result),
        Err(failure) => failure,
    };
    if failure.is::<ProtocolError>() {
        Err(failure)
    } else {
        Ok(ToolResult::failure(&[Content::text(&failure.to_string())])?.0)
    }
}
