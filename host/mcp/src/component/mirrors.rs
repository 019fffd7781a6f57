//! Parameters that headers repeat over HTTP: those with `x-mcp-header` in the `inputSchema` of a tool (MCP 2026-07-28,
//! streamable HTTP, custom headers).
//!
//! Clients leave out a tool with an invalid annotation. So does the host, which also reports the reason.

use serde_json::Value;

use crate::param_headers::{Header, PREFIX, ParamHeaders};
use crate::protocol::clipped;
use acp_chain_rpc::resolve;
use acp_chain_schema::WORK;

const ANNOTATION: &str = "x-mcp-header";

/// The maximum number of such parameters of one tool: HTTP servers accept only some hundred headers.
const MAX_MIRRORED: usize = 64;

/// A parameter that a header repeats.
#[derive(Debug)]
pub struct Mirror {
    /// The name after `Mcp-Param-`, in lower case.
    header: String,
    /// The JSON Pointer to the parameter in the arguments.
    place: String,
    is_integer: bool,
}

/// Finds the parameters that headers repeat. The error describes an invalid annotation.
pub fn read(schema: &str) -> Result<Vec<Mirror>, String> {
    let mut found = Vec::new();
    if schema.contains(ANNOTATION)
        && let Ok(schema) = serde_json::from_str::<Value>(schema)
    {
        look(&schema, Some(""), &mut found)?;
    }
    Ok(found)
}

/// Searches a schema, or an array of them. `place` is the pointer to the parameter that it describes, if it describes
/// one.
fn look(value: &Value, place: Option<&str>, found: &mut Vec<Mirror>) -> Result<(), String> {
    let schema = match value {
        Value::Object(schema) => schema,
        Value::Array(schemas) => {
            let mut schemas = schemas.iter();
            return schemas.try_for_each(|schema| look(schema, None, found));
        }
        _ => return Ok(()),
    };
    if let Some(annotation) = schema.get(ANNOTATION) {
        found.push(annotated(annotation, schema.get("type"), place, found)?);
    }
    for (keyword, value) in schema {
        match (&**keyword, value) {
            ("properties", Value::Object(parameters)) => {
                for (name, schema) in parameters {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    let place = place.map(|place| format!("{place}/{name}"));
                    look(schema, place.as_deref(), found)?;
                }
            }
            // The keys are names of schemas, not keywords.
            (
                "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                Value::Object(all),
            ) => {
                for schema in all.values() {
                    look(schema, None, found)?;
                }
            }
            // The contents are values, not schemas.
            ("const" | "enum" | "default" | "examples", _) => {}
            (_, value) => look(value, None, found)?,
        }
    }
    Ok(())
}

fn annotated(
    annotation: &Value,
    of: Option<&Value>,
    place: Option<&str>,
    found: &[Mirror],
) -> Result<Mirror, String> {
    let wrong = |reason: &str| {
        let annotation = clipped(&annotation.to_string());
        Err(format!("has the {ANNOTATION} {annotation}, which {reason}"))
    };
    let Some(place) = place.filter(|place| !place.is_empty()) else {
        return wrong("is not on a parameter that `properties` alone lead to");
    };
    let header = annotation.as_str().unwrap_or_default().to_ascii_lowercase();
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if header.is_empty() || !header.bytes().all(is_token) {
        return wrong("is not a valid header name");
    }
    if found.iter().any(|other| other.header == header) {
        return wrong("is also that of another parameter");
    }
    if found.len() >= MAX_MIRRORED {
        return wrong(&format!("exceeds the maximum of {MAX_MIRRORED}"));
    }
    let is_integer = match of.and_then(Value::as_str) {
        Some("integer") => true,
        Some("string" | "boolean") => false,
        _ => return wrong("is not on a string, integer or boolean"),
    };
    Ok(Mirror {
        header,
        place: place.to_owned(),
        is_integer,
    })
}

/// Checks that headers match the arguments. Very large arguments are not checked.
pub fn check(mirrors: &[Mirror], arguments: &str, headers: &ParamHeaders) -> Result<(), String> {
    if arguments.len().saturating_mul(mirrors.len()) > WORK {
        return Ok(());
    }
    let mut all = mirrors.iter();
    all.try_for_each(|mirror| mirror.check(arguments, headers))
}

impl Mirror {
    fn check(&self, arguments: &str, headers: &ParamHeaders) -> Result<(), String> {
        let value = resolve(arguments, &self.place).ok().flatten();
        let value = value.filter(|value| *value != "null");
        let wrong = match (value, headers.get(&self.header)) {
            (None, None) => return Ok(()),
            (Some(value), Some(Header::Says(text))) if self.repeats(value, text) => return Ok(()),
            (Some(_), None) => "is missing",
            (_, Some(Header::Malformed)) => "is not a single text, or is invalid Base64",
            (_, Some(Header::Says(_))) => "does not match the arguments",
        };
        Err(format!("the header {PREFIX}{} {wrong}", self.header))
    }

    fn repeats(&self, value: &str, text: &str) -> bool {
        let number = |text: &str| text.parse::<f64>().ok();
        match serde_json::from_str::<String>(value) {
            Ok(value) => value == text,
            Err(_) if self.is_integer => number(value).is_some() && number(value) == number(text),
            Err(_) => value == text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "deep":{"type":"object","properties":{"a/b":{"type":"integer","x-mcp-header":"Level"}}},
        "sure":{"type":"boolean","x-mcp-header":"Sure"},
        "x-mcp-header":{"enum":[{"x-mcp-header":""}]}}}"#;

    fn checked(arguments: &str, headers: &[(&str, &str)]) -> Result<(), String> {
        let mut mirrored = ParamHeaders::default();
        for (name, value) in headers {
            mirrored.add(name, Some(value));
        }
        check(&read(SCHEMA).unwrap(), arguments, &mirrored)
    }

    #[test]
    fn headers_must_match_the_arguments() {
        let all = r#"{"region":"us \u00e9","deep":{"a/b":42},"sure":true}"#;
        let region = ("region", "=?base64?dXMgw6k=?=");
        for level in ["42", "42.0", "4.2e1"] {
            let headers = [region, ("level", level), ("sure", "true"), ("other", "x")];
            assert_eq!(checked(all, &headers), Ok(()), "{level}");
        }
        for wrong in [
            &[region, ("sure", "true")][..],
            &[region, ("level", "43"), ("sure", "true")],
            &[region, ("level", "x"), ("sure", "true")],
            &[region, ("level", "42"), ("sure", "True")],
            &[region, ("level", "42"), ("level", "42"), ("sure", "true")],
            &[
                ("region", "=?base64?dXMgw6k?="),
                ("level", "42"),
                ("sure", "true"),
            ],
        ] {
            assert!(checked(all, wrong).is_err(), "{wrong:?}");
        }
        for none in ["{}", r#"{"region":null}"#] {
            assert_eq!(checked(none, &[]), Ok(()));
            assert!(checked(none, &[("region", "x")]).is_err());
        }
    }

    #[test]
    fn invalid_annotations_are_rejected() {
        for (schema, reason) in [
            (r#"{"x-mcp-header":"A"}"#, "`properties` alone"),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
                "not a valid header name",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
                "not a valid header name",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":7}}}"#,
                "not a valid header name",
            ),
            (
                r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
                "not on a string",
            ),
            (
                r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}"#,
                "`properties` alone",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
                "another parameter",
            ),
        ] {
            let error = read(schema).unwrap_err();
            assert!(error.contains(reason), "{schema}: {error}");
        }
    }
}
