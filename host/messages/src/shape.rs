//! JSON Schemas, converted to the form from which texts are generated.
//!
//! `allOf` is merged, and a union inside an object becomes a choice of whole objects. An unknown keyword causes a
//! panic, so that a schema with a new construct does not silently lose coverage.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The shape of a value.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// Any JSON value.
    Any,
    Null,
    Boolean,
    /// A number, within these inclusive bounds if any.
    Number {
        bounds: Option<(i64, i64)>,
    },
    Text {
        empty: bool,
    },
    /// The id of a session: a string that every part of a chain must be able to decode.
    Session,
    /// A string that differs from all constants of the schema.
    Unlisted,
    /// A constant string.
    Word(String),
    /// A constant number.
    Numeral(String),
    List {
        items: Box<Shape>,
        least: usize,
    },
    /// An object with arbitrary names.
    Map(Box<Shape>),
    /// An object with these members, and unknown ones.
    Record(Vec<Field>),
    Choice(Vec<Shape>),
    /// The definition with this name.
    Definition(String),
}

/// A member of an object.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) required: bool,
}

/// The keywords that are read, or that do not affect the text of a value.
const KEYWORDS: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contentEncoding",
    "default",
    "description",
    "discriminator",
    "enum",
    "format",
    "items",
    // Generated texts are shorter.
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "not",
    "oneOf",
    "properties",
    // It excludes names of the protocol, which added members never have.
    "propertyNames",
    "required",
    "title",
    "type",
    "unevaluatedProperties",
];

/// The shapes of all definitions of a schema.
pub(super) fn definitions(definitions: &Map<String, Value>) -> BTreeMap<String, Shape> {
    let reader = Reader { definitions };
    definitions
        .iter()
        .map(|(name, schema)| (name.clone(), reader.shape(schema)))
        .collect()
}

struct Reader<'a> {
    definitions: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn shape(&self, schema: &Value) -> Shape {
        if *schema == Value::Bool(true) {
            return Shape::Any;
        }
        check_keywords(schema);
        if let Some(name) = reference(schema) {
            return match name {
                "SessionId" => Shape::Session,
                _ => Shape::Definition(name.to_owned()),
            };
        }
        if let Some(value) = schema.get("const") {
            return constant(value);
        }
        if let Some(values) = schema.get("enum") {
            return Shape::Choice(list(values).iter().map(constant).collect());
        }
        if schema.get("properties").is_some() {
            return choice(self.records(schema).into_iter().map(Shape::Record));
        }
        if let Some(parts) = schema.get("allOf") {
            return match list(parts) {
                [only] => self.shape(only),
                _ => choice(self.records(schema).into_iter().map(Shape::Record)),
            };
        }
        if let Some(alternatives) = union(schema) {
            return choice(
                alternatives
                    .iter()
                    .map(|alternative| self.shape(alternative)),
            );
        }
        match schema.get("type") {
            None => Shape::Any,
            Some(Value::Array(types)) => choice(
                // The simplest comes first: texts shrink to it.
                types.iter().rev().map(|kind| self.of_type(kind, schema)),
            ),
            Some(kind) => self.of_type(kind, schema),
        }
    }

    fn of_type(&self, kind: &Value, schema: &Value) -> Shape {
        match kind.as_str() {
            Some("null") => Shape::Null,
            Some("boolean") => Shape::Boolean,
            Some("integer" | "number") => Shape::Number {
                bounds: bounds(schema),
            },
            Some("string") => Shape::Text {
                empty: schema.get("minLength").is_none(),
            },
            Some("array") => Shape::List {
                items: Box::new(schema.get("items").map_or(Shape::Any, |of| self.shape(of))),
                least: usize::from(schema.get("minItems").is_some()),
            },
            Some("object") => Shape::Map(Box::new(match schema.get("additionalProperties") {
                None | Some(Value::Bool(true)) => Shape::Any,
                Some(values) => self.shape(values),
            })),
            _ => panic!("unsupported type {kind} in {schema}"),
        }
    }

    /// The objects that a schema allows: one for each path through its unions.
    fn records(&self, schema: &Value) -> Vec<Vec<Field>> {
        check_keywords(schema);
        if let Some(name) = reference(schema) {
            return self.records(&self.definitions[name]);
        }
        let mut records = vec![self.fields(schema)];
        for part in schema.get("allOf").map_or(&[][..], list) {
            records = product(&records, &self.records(part));
        }
        if let Some(alternatives) = union(schema) {
            let alternatives: Vec<_> = alternatives
                .iter()
                .flat_map(|alternative| self.records(alternative))
                .collect();
            records = product(&records, &alternatives);
        }
        let required = schema.get("required").map_or(&[][..], list);
        let unlisted = schema.get("not").map(excluded).unwrap_or_default();
        for field in records.iter_mut().flatten() {
            field.required |= required.iter().any(|name| *name == *field.name);
            if unlisted.contains(field.name.as_str()) {
                field.shape = Shape::Unlisted;
            }
        }
        records
    }

    fn fields(&self, schema: &Value) -> Vec<Field> {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Field {
                name: name.clone(),
                shape: self.shape(schema),
                required: false,
            })
            .collect()
    }
}

fn check_keywords(schema: &Value) {
    let object = schema.as_object().unwrap_or_else(|| {
        panic!("unsupported schema that is not an object: {schema}");
    });
    for keyword in object.keys() {
        assert!(
            keyword.starts_with("x-") || KEYWORDS.contains(&keyword.as_str()),
            "unsupported keyword {keyword:?} in {schema}"
        );
    }
    // Every object counts as open: unknown members are added to all of them.
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        assert_ne!(object.get(keyword), Some(&Value::Bool(false)), "{schema}");
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

fn union(schema: &Value) -> Option<&[Value]> {
    schema.get("anyOf").or(schema.get("oneOf")).map(list)
}

fn constant(value: &Value) -> Shape {
    match value {
        Value::String(word) => Shape::Word(word.clone()),
        Value::Number(number) => Shape::Numeral(number.to_string()),
        _ => panic!("unsupported constant {value}"),
    }
}

fn choice(shapes: impl Iterator<Item = Shape>) -> Shape {
    let mut shapes: Vec<_> = shapes.collect();
    if shapes.len() == 1 {
        shapes.remove(0)
    } else {
        Shape::Choice(shapes)
    }
}

/// The bounds that generated numbers respect. 64-bit numbers, and numbers bounded on one side only, are unbounded:
/// their texts include numbers that no program can represent.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the schema's bounds are small and whole"
)]
fn bounds(schema: &Value) -> Option<(i64, i64)> {
    let bound = |keyword| schema.get(keyword)?.as_f64().map(|bound| bound as i64);
    let format = schema.get("format").and_then(Value::as_str);
    let format: Option<(i64, i64)> = match format {
        Some("uint16") => Some((0, u16::MAX.into())),
        Some("int32") => Some((i32::MIN.into(), i32::MAX.into())),
        Some("uint32") => Some((0, u32::MAX.into())),
        _ => None,
    };
    let (least, most) = format.unzip();
    Some((bound("minimum").or(least)?, bound("maximum").or(most)?))
}

/// The members whose constants a `not` excludes. It occurs only beside a variant for values that the schema does not
/// list.
fn excluded(not: &Value) -> BTreeSet<&str> {
    let alternatives = union(not).unwrap_or(std::slice::from_ref(not));
    alternatives
        .iter()
        .filter_map(|alternative| alternative.get("properties")?.as_object())
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect()
}

fn product(left: &[Vec<Field>], right: &[Vec<Field>]) -> Vec<Vec<Field>> {
    left.iter()
        .flat_map(|one| right.iter().map(|other| merged(one, other)))
        .collect()
}

/// Merges two objects. Where both have a member, the more specific one wins.
fn merged(one: &[Field], other: &[Field]) -> Vec<Field> {
    let mut fields = one.to_vec();
    for field in other {
        match fields.iter_mut().find(|known| known.name == field.name) {
            None => fields.push(field.clone()),
            Some(known) => {
                known.required |= field.required;
                if matches!(known.shape, Shape::Any | Shape::Text { .. }) {
                    known.shape = field.shape.clone();
                }
            }
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(schema: &str) -> Shape {
        let schema: Value = serde_json::from_str(schema).unwrap();
        definitions(schema.as_object().unwrap())["X"].clone()
    }

    #[test]
    fn a_union_inside_an_object_becomes_a_choice_of_objects() {
        let shape = shape(
            r##"{
                "A": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                "X": {
                    "type": "object",
                    "properties": {"kind": {"type": "string"}},
                    "required": ["kind"],
                    "anyOf": [
                        {"properties": {"kind": {"const": "a"}}, "allOf": [{"$ref": "#/$defs/A"}]},
                        {
                            "properties": {"kind": {"type": "string"}},
                            "not": {"properties": {"kind": {"const": "a"}}}
                        }
                    ]
                }
            }"##,
        );
        let Shape::Choice(variants) = shape else {
            panic!("{shape:?}")
        };
        let [Shape::Record(listed), Shape::Record(open)] = &variants[..] else {
            panic!("{variants:?}")
        };
        assert!(matches!(&listed[0].shape, Shape::Word(word) if word == "a"));
        assert!(listed.iter().all(|field| field.required));
        assert_eq!(listed.len(), 2);
        assert!(matches!(open[0].shape, Shape::Unlisted) && open[0].required);
    }

    #[test]
    #[should_panic(expected = "unsupported keyword \"patternProperties\"")]
    fn an_unknown_keyword_panics() {
        shape(r#"{"X": {"type": "object", "patternProperties": {}}}"#);
    }
}
