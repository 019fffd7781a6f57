//! The keys of a configuration, as its schema describes them.
//!
//! A schema is its author's text, and may have any shape. What describes no key is left out, and the number and the
//! depth of keys are bounded.

use serde_json::{Map, Value};

/// How many keys are described.
const MOST: usize = 200;

/// How many tables a key may be in.
const DEPTH: usize = 6;

/// A key of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name behind those of its tables, separated by dots; `[]` behind a name marks an array of tables, and `NAME`
    /// is any name.
    pub path: String,
    /// Its default as JSON, if the schema has one.
    pub default: Option<String>,
    /// Whether its table must have it.
    pub is_required: bool,
    /// Its meaning; empty if the schema does not say.
    pub description: String,
}

/// The keys that a JSON Schema describes, each before those in it, in the order of their names.
pub fn keys(schema: &Map<String, Value>) -> Vec<Key> {
    let mut keys = Vec::new();
    collect(schema, schema, "", DEPTH, &mut keys);
    keys
}

/// Adds the keys of a table that `schema` describes.
fn collect(
    schema: &Map<String, Value>,
    table: &Map<String, Value>,
    prefix: &str,
    depth: usize,
    keys: &mut Vec<Key>,
) {
    let Some(properties) = table.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required = table.get("required").and_then(Value::as_array);
    for (name, described) in properties {
        if depth == 0 || keys.len() >= MOST {
            return;
        }
        let path = format!("{prefix}{name}");
        let description = described["description"].as_str().unwrap_or_default();
        keys.push(Key {
            path: path.clone(),
            default: described.get("default").map(Value::to_string),
            is_required: required.is_some_and(|names| names.iter().any(|one| one == name)),
            description: description.to_owned(),
        });
        let Some(inner) = resolved(schema, described) else {
            continue;
        };
        collect(schema, inner, &format!("{path}."), depth - 1, keys);
        for (within, mark) in [("items", "[]"), ("additionalProperties", ".NAME")] {
            let table = inner.get(within).and_then(|part| resolved(schema, part));
            if let Some(table) = table {
                collect(schema, table, &format!("{path}{mark}."), depth - 1, keys);
            }
        }
    }
}

/// A part of a schema, or the definition that it refers to.
fn resolved<'s>(schema: &'s Map<String, Value>, part: &'s Value) -> Option<&'s Map<String, Value>> {
    let part = part.as_object()?;
    let Some(reference) = part.get("$ref").and_then(Value::as_str) else {
        return Some(part);
    };
    let name = reference.strip_prefix("#/$defs/")?;
    schema.get("$defs")?.get(name)?.as_object()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(schema: Value) -> Vec<Key> {
        keys(schema.as_object().unwrap())
    }

    #[test]
    fn keys_are_found_in_tables_in_arrays_of_tables_and_behind_references() {
        let found = of(json!({
            "properties": {
                "rules": { "default": [], "items": {
                    "properties": { "kind": { "$ref": "#/$defs/texts" }, "what": { "description": "Do it." } },
                    "required": ["what"],
                } },
                "servers": { "additionalProperties": { "$ref": "#/$defs/limits" } },
                "turn": { "$ref": "#/$defs/limits", "description": "A turn." },
            },
            "$defs": {
                "limits": { "properties": { "minutes": { "default": 1 } } },
                "texts": { "type": "array", "items": { "type": "string" } },
            },
        }));
        let found: Vec<_> = found
            .iter()
            .map(|key| {
                let default = key.default.as_deref().unwrap_or_default();
                (&*key.path, default, key.is_required, &*key.description)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("rules", "[]", false, ""),
                ("rules[].kind", "", false, ""),
                ("rules[].what", "", true, "Do it."),
                ("servers", "", false, ""),
                ("servers.NAME.minutes", "1", false, ""),
                ("turn", "", false, "A turn."),
                ("turn.minutes", "1", false, ""),
            ]
        );
    }

    #[test]
    fn a_schema_of_any_shape_has_boundedly_many_keys() {
        let endless = json!({
            "properties": { "a": { "$ref": "#/$defs/a" }, "b": { "$ref": "#/$defs/a" } },
            "$defs": { "a": { "properties": { "a": { "$ref": "#/$defs/a" }, "b": { "$ref": "#/$defs/a" } } } },
        });
        assert_eq!(of(endless).len(), 126);
        let many: Map<_, _> = (0..1000).map(|at| (format!("k{at}"), json!({}))).collect();
        assert_eq!(of(json!({ "properties": many })).len(), MOST);
        for schema in [
            json!({}),
            json!({ "properties": 1 }),
            json!({ "properties": { "a": 1 } }),
            json!({ "properties": { "a": { "$ref": "http://b" } }, "required": "a" }),
        ] {
            assert!(of(schema).len() <= 1);
        }
    }
}
