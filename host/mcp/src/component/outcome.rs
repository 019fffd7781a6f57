//! Checks a component's result of a call.

use std::borrow::Cow;

use serde::Deserialize;

use super::items::Tool;
use super::operation::Target;
use crate::protocol::{array, clipped, is_cacheable, is_object, object, quoted};
use crate::versions;
use acp_chain_rpc::member;
use acp_chain_schema::{CheckError, Schema, WORK};

/// A block of `content`. Its other members depend on the type, and are not checked.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    _kind: Cow<'a, str>,
}

/// The contents of a resource, as text or as Base64 bytes.
#[derive(Deserialize)]
struct Contents<'a> {
    #[serde(rename = "uri", borrow)]
    _uri: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    blob: Option<Cow<'a, str>>,
}

/// A message of a prompt.
#[derive(Deserialize)]
struct PromptMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(rename = "content", borrow)]
    _content: Block<'a>,
}

/// Possible values of an argument.
#[derive(Deserialize)]
struct Completion<'a> {
    #[serde(borrow)]
    values: Vec<Cow<'a, str>>,
    #[serde(rename = "total", default)]
    _total: Option<u64>,
    #[serde(rename = "hasMore", default)]
    _has_more: Option<bool>,
}

/// The maximum number of values of a completion (MCP, `CompleteResult`).
const VALUES: usize = 100;

/// Checks a component's result of a call, and completes it. The error describes why it is invalid.
pub fn checked<'r>(
    result: &'r str,
    of: &Target,
    tool: Option<&Tool>,
) -> Result<Cow<'r, str>, String> {
    if !is_object(result) {
        return Err(String::from("it is not an object"));
    }
    match of {
        Target::Tool(_) => {
            let schema = tool.and_then(|tool| tool.output.as_ref());
            check_tool(result, schema)?;
        }
        Target::Resource(_) => {
            let contents: Vec<Contents> = part(result, "contents", "objects with a `uri`")?;
            let mut contents = contents.iter();
            if !contents.all(|one| one.text.is_some() != one.blob.is_some()) {
                let wrong = "its `contents` are not each either a `text` or a `blob`";
                return Err(String::from(wrong));
            }
        }
        Target::Prompt(_) => {
            let what = "objects with a `role` and a `content`";
            let said: Vec<PromptMessage> = part(result, "messages", what)?;
            let mut roles = said.iter().map(|said| &*said.role);
            if !roles.all(|role| matches!(role, "user" | "assistant")) {
                let wrong = "a `role` in its `messages` is neither \"user\" nor \"assistant\"";
                return Err(String::from(wrong));
            }
        }
        Target::Completion => {
            let completion = member(result, "completion");
            let completion = completion.ok_or_else(|| String::from("it lacks `completion`"))?;
            let completion: Completion = serde_json::from_str(completion).map_err(|error| {
                let error = clipped(&error.to_string());
                format!("its `completion` has no array of strings `values`: {error}")
            })?;
            if completion.values.len() > VALUES {
                return Err(format!("its `completion` has more than {VALUES} values"));
            }
        }
    }
    if member(result, "resultType").is_some_and(|kind| kind != r#""complete""#) {
        return Err(String::from("its `resultType` is not \"complete\""));
    }
    Ok(versions::newer(result, is_cacheable(of.method())))
}

/// An array in a result.
fn part<'r, T: Deserialize<'r>>(result: &'r str, name: &str, what: &str) -> Result<Vec<T>, String> {
    let array = member(result, name).ok_or_else(|| format!("it lacks `{name}`"))?;
    serde_json::from_str(array).map_err(|error| {
        let error = clipped(&error.to_string());
        format!("its `{name}` is not an array of {what}: {error}")
    })
}

fn check_tool(result: &str, schema: Option<&Schema>) -> Result<(), String> {
    part::<Block>(result, "content", "objects with a `type`")?;
    let failed = match member(result, "isError") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(String::from("its `isError` is neither true nor false")),
    };
    let structured = member(result, "structuredContent");
    match (schema, structured) {
        (Some(schema), Some(value)) if !failed => {
            // A single result always gets the full budget.
            match schema.check(value, &mut { WORK }) {
                Err(CheckError::Mismatch(reason)) => Err(format!(
                    "its `structuredContent` does not match the outputSchema {reason}"
                )),
                _ => Ok(()),
            }
        }
        (Some(_), None) if !failed => Err(String::from(
            "it lacks the `structuredContent` that the outputSchema promises",
        )),
        _ => Ok(()),
    }
}

/// The `CallToolResult` that reports mismatched arguments to the model (MCP 2025-11-25, SEP-1303).
pub fn mismatch(reason: &str) -> String {
    let text = quoted(reason);
    let block = [("type", Some(r#""text""#)), ("text", Some(&*text))];
    object(&[
        ("content", Some(&array(&[&object(&block)]))),
        ("isError", Some("true")),
        ("resultType", Some(r#""complete""#)),
    ])
}
