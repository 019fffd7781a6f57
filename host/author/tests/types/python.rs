//! The types of the protocol's messages for Python, from the stable schema of version 1: a `TypedDict` for each object,
//! and an alias for every other type. Each variant of a choice has its own class.
//!
//! They are not imported at run time, so they may refer to each other in any order.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use heck::ToUpperCamelCase;
use serde_json::{Map, Value};

const HEAD: &str = "\
# Made by `cargo xtask types` from host/messages/schema/v1.json; not to be edited.
\"\"\"The messages of the Agent Client Protocol, version 1. To be imported below `if TYPE_CHECKING:`.\"\"\"

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
";

/// The maximum length of a line.
const WIDTH: usize = 100;

/// The module, from the text of the schema.
pub fn module(schema: &str) -> Result<String> {
    let schema: Value = serde_json::from_str(schema)?;
    let definitions = schema["$defs"].as_object().context("no definitions")?;
    let mut module = Module {
        definitions,
        text: HEAD.to_owned(),
    };
    for (name, definition) in definitions {
        // Skip types that are only used by the envelope.
        if definition["x-docs-ignore"] != true {
            module
                .define(name, definition)
                .with_context(|| format!("in {name}"))?;
        }
    }
    Ok(module.text)
}

/// Members by their names: whether each is required, and its schema.
type Members<'a> = BTreeMap<&'a str, (bool, &'a Value)>;

struct Module<'a> {
    definitions: &'a Map<String, Value>,
    text: String,
}

impl<'a> Module<'a> {
    fn define(&mut self, name: &str, schema: &'a Value) -> Result<()> {
        let Some(variants) = choice(schema) else {
            if schema.get("properties").is_some() {
                return self.class(name, &[schema]);
            }
            let is = type_of(schema)?;
            return self.alias(name, &[is], schema);
        };
        let mut all = Vec::new();
        for variant in variants {
            // The variant for future additions: with it, no constant would distinguish the variants.
            if variant.get("not").is_some() {
                continue;
            }
            let is_object =
                variant.get("properties").is_some() || schema.get("properties").is_some();
            let variant_of = match (is_object, variant_name(variant)) {
                (true, Some(of)) => {
                    let mut class = format!("{}{name}", of.to_upper_camel_case());
                    // The type of its other members may have that name.
                    if self.definitions.contains_key(&class) {
                        class += "Variant";
                    }
                    self.class(&class, &[schema, variant])?;
                    class
                }
                (true, None) => bail!("a variant has no name"),
                (false, _) => type_of(variant)?,
            };
            if !all.contains(&variant_of) {
                all.push(variant_of);
            }
        }
        self.alias(name, &all, schema)
    }

    fn alias(&mut self, name: &str, all: &[String], schema: &Value) -> Result<()> {
        let literals: Option<Vec<_>> = all
            .iter()
            .map(|one| one.strip_prefix("Literal[")?.strip_suffix(']'))
            .collect();
        let one_line = match literals {
            Some(literals) => format!("Literal[{}]", literals.join(", ")),
            None => all.join(" | "),
        };
        write!(self.text, "\n{name}: TypeAlias = \"")?;
        // In quotes, for types that are defined below.
        let quoted = one_line.replace('"', "'");
        if name.len() + quoted.len() + 16 <= WIDTH {
            writeln!(self.text, "{quoted}\"")?;
        } else {
            self.text.pop();
            self.text += "(\n";
            let parts: Vec<_> = quoted.split_inclusive(", ").collect();
            let parts: Vec<_> = match parts.len() {
                1 => quoted.split_inclusive(" | ").collect(),
                _ => parts,
            };
            for part in parts {
                writeln!(self.text, "    \"{part}\"")?;
            }
            self.text += ")\n";
        }
        self.docs("", schema);
        Ok(())
    }

    /// A class with the members of all these schemas.
    fn class(&mut self, name: &str, schemas: &[&'a Value]) -> Result<()> {
        write!(self.text, "\n\nclass {name}(TypedDict):\n")?;
        self.docs("    ", schemas[schemas.len() - 1]);
        let mut members = BTreeMap::new();
        for schema in schemas {
            self.members(schema, &mut members)?;
        }
        for (member, (is_required, schema)) in &members {
            let is_name = member
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_name || member.starts_with("__") {
                bail!("{member} is not a name in Python");
            }
            let is = type_of(schema)?;
            if *is_required {
                writeln!(self.text, "    {member}: {is}")?;
            } else {
                writeln!(self.text, "    {member}: NotRequired[{is}]")?;
            }
            if *member != "_meta" {
                self.docs("    ", schema);
            }
        }
        if members.is_empty() {
            self.text += "    pass\n";
        }
        Ok(())
    }

    fn members(&self, schema: &'a Value, into: &mut Members<'a>) -> Result<()> {
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.members(self.resolve(part)?, into)?;
        }
        let required = schema["required"].as_array();
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
            into.insert(name, (is_required, member));
        }
        Ok(())
    }

    fn resolve(&self, schema: &'a Value) -> Result<&'a Value> {
        let Some(reference) = schema["$ref"].as_str() else {
            return Ok(schema);
        };
        let found = self.definitions.get(target(reference)?);
        found.with_context(|| format!("there is no {reference}"))
    }

    /// The first paragraph of a schema's description.
    fn docs(&mut self, indent: &str, schema: &Value) {
        let said = schema["description"].as_str().unwrap_or_default();
        let said = said.split("\n\n").next().unwrap_or_default();
        let said = said.replace('\\', "\\\\").replace("\"\"\"", "'''");
        let said = said.replace('\n', &format!("\n{indent}"));
        // A quote at the end would be taken as part of the closing quotes.
        let end = if said.ends_with('"') { " " } else { "" };
        if !said.is_empty() {
            let _ = writeln!(self.text, "{indent}\"\"\"{said}{end}\"\"\"");
        }
    }
}

/// A reference to a type.
fn type_of(schema: &Value) -> Result<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return Ok(target(reference)?.to_owned());
    }
    if let Some([one]) = schema["allOf"].as_array().map(Vec::as_slice) {
        return type_of(one);
    }
    if let Some(variants) = choice(schema) {
        let mut all: Vec<String> = Vec::new();
        for variant in variants {
            let variant = type_of(variant)?;
            if !all.contains(&variant) {
                all.push(variant);
            }
        }
        return Ok(all.join(" | "));
    }
    if let Some(value) = schema.get("const") {
        return Ok(format!("Literal[{value}]"));
    }
    let types: Vec<_> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => return Ok("Any".to_owned()),
    };
    let types: Result<Vec<_>> = types
        .into_iter()
        .map(|name| {
            Ok(match name {
                "string" => "str".to_owned(),
                "integer" => "int".to_owned(),
                "number" => "float".to_owned(),
                "boolean" => "bool".to_owned(),
                "null" => "None".to_owned(),
                "array" => match schema.get("items") {
                    Some(items) => format!("list[{}]", type_of(items)?),
                    None => "list[Any]".to_owned(),
                },
                "object" => match schema.get("additionalProperties") {
                    Some(Value::Object(of)) if !of.is_empty() => {
                        format!("dict[str, {}]", type_of(&schema["additionalProperties"])?)
                    }
                    _ => "dict[str, Any]".to_owned(),
                },
                other => bail!("there is no mapping of the type {other}"),
            })
        })
        .collect();
    Ok(types?.join(" | "))
}

fn choice(schema: &Value) -> Option<&Vec<Value>> {
    schema["oneOf"].as_array().or(schema["anyOf"].as_array())
}

/// The distinguishing name of a variant: a constant member, or its title.
fn variant_name(variant: &Value) -> Option<&str> {
    let members = variant["properties"].as_object().into_iter().flatten();
    let mut constants = members.filter_map(|(_, member)| member["const"].as_str());
    constants.next().or(variant["title"].as_str())
}

fn target(reference: &str) -> Result<&str> {
    let name = reference.strip_prefix("#/$defs/");
    name.with_context(|| format!("{reference} is elsewhere"))
}
