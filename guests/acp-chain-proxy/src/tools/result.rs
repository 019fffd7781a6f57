//! What a tool gives: MCP's `CallToolResult`, and what can become one.

use std::fmt;

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::schema;
use crate::{Action, Error, Json, Result};

/// What a tool may return: text, [`Structured`] content, [`Content`] blocks, or a whole
/// [`ToolResult`].
pub trait IntoToolResult {
    /// The schema of its structured content.
    #[doc(hidden)]
    const OUTPUT_SCHEMA: Option<fn() -> Schema> = None;

    /// The result. An error is the tool's failure.
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
    /// These blocks.
    pub fn new(content: &[Content]) -> Result<Self> {
        Self::of(content, None, false)
    }

    /// These blocks, and beside them what they say as data: an object.
    pub fn structured(content: &[Content], structured: &impl Serialize) -> Result<Self> {
        Self::of(content, Some(&Json::of(structured)?), false)
    }

    /// The tool's failure, with more than a text.
    pub fn failure(content: &[Content]) -> Result<Self> {
        Self::of(content, None, true)
    }

    /// A result that is a `CallToolResult` already.
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

/// A block of content.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Content(Json);

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        data: &'a str,
        #[serde(rename = "mimeType")]
        mime_type: &'a str,
    },
    Audio {
        data: &'a str,
        #[serde(rename = "mimeType")]
        mime_type: &'a str,
    },
    ResourceLink {
        uri: &'a str,
        name: &'a str,
    },
}

impl Content {
    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::block(&Block::Text { text })
    }

    /// An image: its bytes in Base64, and their type, like `image/png`.
    #[must_use]
    pub fn image(data: &str, mime_type: &str) -> Self {
        Self::block(&Block::Image { data, mime_type })
    }

    /// A sound: its bytes in Base64, and their type, like `audio/wav`.
    #[must_use]
    pub fn audio(data: &str, mime_type: &str) -> Self {
        Self::block(&Block::Audio { data, mime_type })
    }

    /// A link to something that the agent may read by itself.
    #[must_use]
    pub fn link(uri: &str, name: &str) -> Self {
        Self::block(&Block::ResourceLink { uri, name })
    }

    /// Any other block.
    #[must_use]
    pub fn raw(block: Json) -> Self {
        Self(block)
    }

    fn block(block: &Block) -> Self {
        // Texts in a fixed form can always be written.
        Self(Json::of(block).unwrap_or_else(|_| Json::null()))
    }
}

/// A value that the agent gets as data: an object, as structs and maps are. Its schema is the tool's
/// output schema, and its JSON is also the text that is read by agents that know no structured content.
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

/// An error of the protocol, where a tool fails with it: the caller gets it in place of a result, and
/// the model may never see it. For what is wrong with the call itself, and not with what it is about.
///
/// ```
/// use acp_chain_proxy::{Call, Error, NoArguments, ProtocolError, Result};
///
/// async fn closed(_: Call<NoArguments>) -> Result<String> {
///     Err(ProtocolError(Error::new(Error::INTERNAL, "there is no session yet")).into())
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProtocolError(pub Error);

impl fmt::Display for ProtocolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for ProtocolError {}

/// What becomes of a call whose tool came to this.
pub(super) fn action(outcome: Result<ToolResult>) -> Result {
    let failure = match outcome {
        Ok(ToolResult(result)) => return Ok(Action::Respond(result)),
        Err(failure) => failure,
    };
    match failure.downcast::<ProtocolError>() {
        Ok(error) => Ok(Action::Reject(error.0)),
        Err(failure) => {
            let ToolResult(result) = ToolResult::failure(&[Content::text(&failure.to_string())])?;
            Ok(Action::Respond(result))
        }
    }
}
