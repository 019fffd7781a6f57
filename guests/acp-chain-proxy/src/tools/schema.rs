//! The schemas of a tool, in the plain form that models and their providers handle best, and parsing of arguments.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema as Value};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{Json, Result};

/// The source of a schema, which is generated for listings, not for every call.
pub(super) enum Schema {
    Of(fn() -> Value),
    Text(String),
}

impl Schema {
    pub(super) fn json(&self) -> serde_json::Result<Json> {
        match self {
            Self::Of(schema) => Json::of(&schema()),
            Self::Text(text) => text.parse(),
        }
    }
}

/// The schema of a tool's arguments.
pub(super) fn input<A: JsonSchema>() -> Value {
    of::<A>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of a tool's result.
pub(super) fn output<R: JsonSchema>() -> Value {
    of::<R>(SchemaSettings::draft2020_12().for_serialize())
}

fn of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let plain = settings.with(|settings| {
        settings.meta_schema = None;
        // Recursive types stay references.
        settings.inline_subschemas = true;
        settings.transforms.push(Box::new(WithoutNumberFormats));
    });
    let mut schema = plain.into_generator().into_root_schema_for::<T>();
    // The name of the Rust type.
    schema.remove("title");
    if schema.get("type") == Some(&json!("object")) {
        let members = schema.ensure_object();
        members.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// Removes formats like `uint32`, which are not standard and rejected by some providers; `minimum` says as much.
#[derive(Clone)]
struct WithoutNumberFormats;

impl Transform for WithoutNumberFormats {
    fn transform(&mut self, schema: &mut Value) {
        let format = schema.get("format").and_then(|format| format.as_str());
        if format.is_some_and(|format| {
            let bits = format.trim_start_matches('u').strip_prefix("int");
            bits.is_some() || format == "double" || format == "float"
        }) {
            schema.remove("format");
        }
        transform_subschemas(self, schema);
    }
}

/// Parses the arguments of a call. The error is for the model: it names the malformed argument.
pub(super) fn parse<A: DeserializeOwned>(arguments: &Json) -> Result<A> {
    // Via a `Value`: its errors do not name lines and columns of a text that the model did not see.
    let arguments: serde_json::Value = arguments.parse()?;
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let error = error.inner();
        match path.as_str() {
            "." => format!("malformed arguments: {error}").into(),
            path => format!("malformed argument `{path}`: {error}").into(),
        }
    })
}
