//! The messages of the Agent Client Protocol for TypeScript, from the protocol's JSON schema: a type for each
//! definition that a message refers to, and tables of the methods.
//!
//! Constraints of a schema beyond a shape (formats, ranges) cannot be expressed, and are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::docs;

const HEAD: &str = "\
// Made by `cargo xtask types` from the JSON schema of the Agent Client Protocol, version 1; not to be edited.
// Parts that the protocol calls unstable are in it too, and say so.
";

/// Methods of one kind, and the type that lists them.
struct Table {
    /// The side that handles them.
    side: &'static str,
    name: &'static str,
    docs: &'static str,
    /// The properties of a method, and the suffixes of their types' names.
    types: &'static [(&'static str, &'static str)],
}

const REQUEST: &[(&str, &str)] = &[("params", "Request"), ("result", "Response")];
const NOTIFICATION: &[(&str, &str)] = &[("params", "Notification")];

const TABLES: [Table; 4] = [
    Table {
        side: "agent",
        name: "AgentRequests",
        docs: "Requests that the agent answers.",
        types: REQUEST,
    },
    Table {
        side: "client",
        name: "ClientRequests",
        docs: "Requests that the client answers.",
        types: REQUEST,
    },
    Table {
        side: "agent",
        name: "AgentNotifications",
        docs: "Notifications to the agent.",
        types: NOTIFICATION,
    },
    Table {
        side: "client",
        name: "ClientNotifications",
        docs: "Notifications to the client.",
        types: NOTIFICATION,
    },
];

/// The declarations of all types.
pub fn declarations(schema: &str) -> Result<String> {
    let schema: Value = serde_json::from_str(schema)?;
    let all = schema["$defs"].as_object().context("no $defs")?;
    let mut text = HEAD.to_owned();
    let mut reached = BTreeSet::new();
    for Table {
        side,
        name,
        docs,
        types,
    } in TABLES
    {
        let _ = writeln!(text, "\n/** {docs} */\nexport interface {name} {{");
        for (method, types) in methods(all, side, types) {
            let types: Vec<_> = types
                .iter()
                .map(|(member, name)| format!("{member}: {name}"))
                .collect();
            let _ = writeln!(text, "  \"{method}\": {{ {} }};", types.join("; "));
        }
        text += "}\n";
        let names = methods(all, side, types).into_values().flatten();
        names.for_each(|(_, name)| reach(all, name, &mut reached));
    }
    for name in reached {
        let definition = &all[name];
        let docs = docs(&said(definition), "", None);
        let of = ts(definition, "").with_context(|| name.to_owned())?;
        let _ =
            if of.starts_with('{') && of.ends_with('}') && definition.get("properties").is_some() {
                write!(text, "\n{docs}export interface {name} {of}\n")
            } else {
                let space = if of.starts_with('\n') { "" } else { " " };
                write!(text, "\n{docs}export type {name} ={space}{of};\n")
            };
    }
    Ok(text)
}

/// The methods that a side handles, each with the types of its properties.
fn methods<'s>(
    all: &'s Map<String, Value>,
    side: &str,
    types: &[(&'static str, &str)],
) -> BTreeMap<&'s str, Vec<(&'static str, &'s str)>> {
    let mut methods: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (member, suffix) in types {
        let ours = all
            .iter()
            .filter(|(name, definition)| name.ends_with(suffix) && definition["x-side"] == side);
        for (name, definition) in ours {
            let method = definition["x-method"].as_str().unwrap_or_default();
            methods.entry(method).or_default().push((*member, &**name));
        }
    }
    methods
}

/// Adds a definition, and those that it refers to.
fn reach<'s>(all: &'s Map<String, Value>, name: &'s str, reached: &mut BTreeSet<&'s str>) {
    if reached.insert(name) {
        references(&all[name], &mut |name| reach(all, name, reached));
    }
}

fn references<'s>(schema: &'s Value, found: &mut impl FnMut(&'s str)) {
    match schema {
        Value::Object(members) => members.iter().for_each(|(key, value)| match value {
            Value::String(place) if key == "$ref" => found(name(place)),
            value => references(value, found),
        }),
        Value::Array(all) => all.iter().for_each(|one| references(one, found)),
        _ => {}
    }
}

/// The name of the definition with this reference.
fn name(place: &str) -> &str {
    place.strip_prefix("#/$defs/").unwrap_or(place)
}

/// A schema as a type.
fn ts(schema: &Value, indent: &str) -> Result<String> {
    let Value::Object(members) = schema else {
        return Ok("unknown".to_owned());
    };
    if let Some(place) = members.get("$ref").and_then(Value::as_str) {
        return Ok(name(place).to_owned());
    }
    if let Some(value) = members.get("const") {
        return Ok(value.to_string());
    }
    if let Some(Value::Array(values)) = members.get("enum") {
        let values: Vec<_> = values.iter().map(Value::to_string).collect();
        return Ok(values.join(" | "));
    }
    let mut all = Vec::new();
    let has_shape = members.contains_key("properties");
    if let Some(types) = members.get("type") {
        let types = types
            .as_array()
            .map_or(std::slice::from_ref(types), Vec::as_slice);
        let types: Result<Vec<_>> = types
            .iter()
            .map(|one| simple(one, members, indent))
            .collect();
        // An object without properties has the shape of the rest of its schema.
        let types = types?.join(" | ");
        if has_shape || !has_parts(members) {
            all.push(types);
        }
    } else if has_shape {
        all.push(object(members, indent)?);
    }
    for (key, by) in [("allOf", " & "), ("anyOf", " | "), ("oneOf", " | ")] {
        let Some(Value::Array(parts)) = members.get(key) else {
            continue;
        };
        let documented = by == " | " && parts.iter().any(|part| !said(part).is_empty());
        let mut one = Vec::new();
        for part in parts {
            let inner = format!("{indent}  ");
            let of = ts(part, &inner)?;
            // A schema that only excludes values has no type.
            if of == "unknown" {
                continue;
            }
            one.push(if documented {
                format!("\n{}{inner}| {of}", docs(&said(part), &inner, None))
            } else {
                of
            });
        }
        match &one[..] {
            [] => {}
            [alone] if !documented => all.push(alone.clone()),
            parts if documented => all.push(format!("({}\n{indent})", parts.concat())),
            parts => all.push(format!("({})", parts.join(by))),
        }
    }
    Ok(match &all[..] {
        [] => "unknown".to_owned(),
        // Remove parentheses around the only alternative.
        [alone] if alone.starts_with('(') => alone[1..alone.len() - 1].trim_end().to_owned(),
        parts => parts.join(" & "),
    })
}

fn has_parts(members: &Map<String, Value>) -> bool {
    ["allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| members.contains_key(*key))
}

/// One of JSON's basic types.
fn simple(named: &Value, members: &Map<String, Value>, indent: &str) -> Result<String> {
    Ok(match named.as_str().unwrap_or_default() {
        kind @ ("string" | "boolean" | "null") => kind.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => {
            let items = members
                .get("items")
                .map_or(Ok("unknown".to_owned()), |items| ts(items, indent))?;
            format!("Array<{items}>")
        }
        "object" if members.contains_key("properties") => object(members, indent)?,
        "object" => match members.get("additionalProperties") {
            Some(values @ Value::Object(_)) => format!("Record<string, {}>", ts(values, indent)?),
            _ => "Record<string, unknown>".to_owned(),
        },
        other => bail!("there is no mapping of the type {other:?}"),
    })
}

fn object(members: &Map<String, Value>, indent: &str) -> Result<String> {
    let none = Map::new();
    let properties = members["properties"].as_object().unwrap_or(&none);
    let required = members.get("required").and_then(Value::as_array);
    let inner = format!("{indent}  ");
    let mut text = "{\n".to_owned();
    for (key, value) in properties {
        let is_required = required.is_some_and(|all| all.iter().any(|one| one == key));
        let mark = if is_required { "" } else { "?" };
        let _ = writeln!(
            text,
            "{}{inner}{key}{mark}: {};",
            docs(&said(value), &inner, None),
            ts(value, &inner)?
        );
    }
    Ok(text + indent + "}")
}

/// The description of a schema, without references to further documentation.
fn said(schema: &Value) -> String {
    let said = schema["description"].as_str().unwrap_or_default();
    let paragraphs = said.split("\n\n");
    let paragraphs: Vec<_> = paragraphs
        .filter(|paragraph| !paragraph.starts_with("The _meta property is reserved"))
        .map(|paragraph| {
            let lines = paragraph.lines();
            let lines: Vec<_> = lines
                .filter(|line| !line.starts_with("See protocol docs"))
                .collect();
            lines.join("\n")
        })
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    paragraphs.join("\n\n")
}
