//! What a component says came of a call, and whether it is that.

use std::borrow::Cow;

use serde::Deserialize;

use super::catalog::Tool;
use super::schema::{Refused, WORK};
use crate::mcp::protocol::{Version, clipped, is_object, quoted, with};
use crate::rpc::member;

/// A block of `content`. What else it needs depends on its type, and is between tool and client.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    _kind: Cow<'a, str>,
}

/// Checks what a component gave as `CallToolResult`, and makes of it what a client of this version
/// can read. The error says what is wrong.
pub fn checked<'r>(result: &'r str, tool: &Tool, version: Version) -> Result<Cow<'r, str>, String> {
    if !is_object(result) {
        return Err(String::from("it is no object"));
    }
    let Some(content) = member(result, "content") else {
        return Err(String::from("it lacks `content`"));
    };
    if let Err(error) = serde_json::from_str::<Vec<Block>>(content) {
        let error = clipped(&error.to_string());
        return Err(format!(
            "its `content` is no array of objects with a `type`: {error}"
        ));
    }
    let failed = match member(result, "isError") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(String::from("its `isError` is neither true nor false")),
    };
    let structured = member(result, "structuredContent");
    // Clients of older versions take nothing else.
    if version < Version::Stateless && structured.is_some_and(|value| !is_object(value)) {
        return Err(String::from("its `structuredContent` is no object"));
    }
    match (&tool.output, structured) {
        (Some(schema), Some(value)) if !failed => {
            // Alone, it is never refused for the work that it makes.
            if let Err(Refused::Mismatch(reason)) = schema.check(value, &mut { WORK }) {
                return Err(format!(
                    "its `structuredContent` does not match the outputSchema {reason}"
                ));
            }
        }
        (Some(_), None) if !failed => {
            return Err(String::from(
                "it lacks the `structuredContent` that the outputSchema promises",
            ));
        }
        _ => {}
    }
    match (member(result, "resultType"), version) {
        (None, Version::Stateless) => Ok(with(result, "/resultType", Some(r#""complete""#)).into()),
        (None, _) | (Some(r#""complete""#), Version::Stateless) => Ok(result.into()),
        (Some(r#""complete""#), _) => Ok(with(result, "/resultType", None).into()),
        (Some(_), _) => Err(String::from("its `resultType` is not \"complete\"")),
    }
}

/// The `CallToolResult` that tells the model that its arguments do not match (MCP 2025-11-25,
/// SEP-1303).
pub fn mismatch(reason: &str, version: Version) -> String {
    let complete = match version {
        Version::Stateless => r#","resultType":"complete""#,
        _ => "",
    };
    let text = quoted(reason);
    format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true{complete}}}"#)
}
