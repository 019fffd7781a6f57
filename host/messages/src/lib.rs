//! Messages generated from the protocol's JSON schemas: for every method, JSON texts of parameters, results and errors.
//!
//! A proxy must pass these texts unchanged. They follow the schema, and also have: members that are in no schema,
//! `_meta` in objects of every level, numbers that no program can represent and unusual spellings of numbers, every
//! escape of a JSON string (lone surrogates included), text that is not ASCII, members in any order, and insignificant
//! white space everywhere. The schemas in `schema` are copies of the protocol's; a new copy needs no change here.
//!
//! A text is determined by decisions, a byte each. Fewer and smaller bytes make a smaller text; without bytes, the text
//! has only what the schema requires.
//!
//! Invariants: a text is JSON, on one line, and a session id in it decodes to a string.

mod choices;
mod shape;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use shape::Shape;

/// The maximum number of useful decisions for one text; it bounds the text's size.
pub const DECISIONS: usize = 512;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// `v1.json`
    V1,
    /// `v2.json`
    V2,
}

/// The receiver of a method: the schema's `x-side`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The client sends it, the agent handles it.
    Agent,
    /// The agent sends it, the client handles it.
    Client,
    /// Either may send it: it belongs to JSON-RPC's own level (`$/…`).
    Protocol,
    /// Used only between a conductor and a proxy (`proxy/…`).
    Proxy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Request,
    Notification,
}

/// A method of the protocol. A name may occur more than once: per version, per kind.
#[derive(Clone, PartialEq, Eq)]
pub struct Method {
    pub version: Version,
    /// The name on the wire.
    pub name: String,
    pub side: Side,
    pub kind: Kind,
    /// The schema's definition of the parameters.
    pub params_definition: String,
    /// The schema's definition of the result; `None` for a notification.
    pub result_definition: Option<String>,
}

/// Every method of both versions.
#[must_use]
pub fn methods() -> &'static [Method] {
    static METHODS: LazyLock<Vec<Method>> =
        LazyLock::new(|| [&*V1, &*V2].into_iter().flat_map(Schema::methods).collect());
    &METHODS
}

impl Method {
    /// Parameters made by these decisions.
    #[must_use]
    pub fn params(&self, decisions: &[u8]) -> String {
        self.schema().text(&self.params_definition, decisions)
    }

    /// A result; `None` for a notification.
    #[must_use]
    pub fn result(&self, decisions: &[u8]) -> Option<String> {
        let definition = self.result_definition.as_deref()?;
        Some(self.schema().text(definition, decisions))
    }

    /// An error object that may answer it; `None` for a notification.
    #[must_use]
    pub fn error(&self, decisions: &[u8]) -> Option<String> {
        self.result_definition.as_ref()?;
        Some(self.schema().text("Error", decisions))
    }

    /// Whether the schema requires this member of the parameters.
    #[must_use]
    pub fn requires(&self, member: &str) -> bool {
        let required = self.schema().source[&self.params_definition].get("required");
        let required = required.and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|name| name == member))
    }

    fn schema(&self) -> &'static Schema {
        match self.version {
            Version::V1 => &V1,
            Version::V2 => &V2,
        }
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {}", self.version, self.kind, self.name)
    }
}

static V1: LazyLock<Schema> =
    LazyLock::new(|| Schema::read(Version::V1, include_str!("../schema/v1.json")));
static V2: LazyLock<Schema> =
    LazyLock::new(|| Schema::read(Version::V2, include_str!("../schema/v2.json")));

/// One of the protocol's schemas.
struct Schema {
    version: Version,
    source: Map<String, Value>,
    shapes: BTreeMap<String, Shape>,
}

impl Schema {
    fn read(version: Version, text: &str) -> Self {
        let mut schema: Value = serde_json::from_str(text).expect("the schema is JSON");
        let Value::Object(source) = schema["$defs"].take() else {
            panic!("the schema has definitions");
        };
        Self {
            version,
            shapes: shape::definitions(&source),
            source,
        }
    }

    /// The methods, found by the definitions of their parameters.
    fn methods(&self) -> Vec<Method> {
        let mut methods = Vec::new();
        for (definition, schema) in &self.source {
            let Some(name) = schema["x-method"].as_str() else {
                continue;
            };
            let kind = if definition.ends_with("Request") {
                Kind::Request
            } else if definition.ends_with("Notification") {
                Kind::Notification
            } else {
                assert!(
                    definition.ends_with("Response"),
                    "{definition}: unknown kind"
                );
                continue;
            };
            let side = &schema["x-side"];
            methods.push(Method {
                version: self.version,
                name: name.to_owned(),
                side: match side.as_str() {
                    Some("agent") => Side::Agent,
                    Some("client") => Side::Client,
                    Some("protocol") => Side::Protocol,
                    Some("proxy") => Side::Proxy,
                    _ => panic!("{definition}: unknown x-side"),
                },
                kind,
                params_definition: definition.clone(),
                result_definition: (kind == Kind::Request).then(|| self.response(name, side)),
            });
        }
        methods
    }

    fn response(&self, name: &str, side: &Value) -> String {
        let answers = |(definition, schema): &(&String, &Value)| {
            definition.ends_with("Response")
                && schema["x-method"] == name
                && schema["x-side"] == *side
        };
        let found = self.source.iter().find(answers);
        let (definition, _) = found.unwrap_or_else(|| panic!("{name}: has no response"));
        definition.clone()
    }

    fn text(&self, definition: &str, decisions: &[u8]) -> String {
        text::write(&self.shapes[definition], &self.shapes, decisions)
    }
}

#[cfg(test)]
mod tests;
