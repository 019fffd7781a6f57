//! JSON Schemas of components, for tools and configuration, and limits on validation.
//!
//! Components are untrusted, and a schema can make validation take forever: with references that are circular or
//! multiply, with keywords that visit values again, or with regular expressions. So a schema is *weighed* first: its
//! values are counted, with each reference expanded. It is compiled only if it is finite, light and not too deep. The
//! lighter the schema, the larger the values that are checked against it. Regular expressions run in linear time; a
//! schema with one that cannot, such as one with look-ahead, is not compiled. `format` is not checked. References to
//! other documents are never fetched. Values that are not checked pass to the tool.
//!
//! The checks of one batch share [`WORK`], at most some hundredths of a second.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use serde_json::value::RawValue;

use acp_chain_rpc::untrusted::quote;
use acp_chain_rpc::{edit, member, resolve};

/// The maximum size of a schema, in bytes.
pub const LARGEST: usize = 256 * 1024;

/// The maximum weight of a compiled schema, in values.
const HEAVIEST: usize = 10_000;

/// The maximum depth of a compiled schema, references expanded.
const DEEPEST: usize = 100;

/// The weight of a regular expression, in values.
const PATTERN: usize = 500;

/// The maximum length of a regular expression or a reference, in bytes.
const PATTERN_LENGTH: usize = 1024;

/// The maximum size of a compiled regular expression, in bytes.
const PATTERN_SIZE: usize = 16 * 1024;

/// The weight of `multipleOf`, in values: it computes with numbers of any size.
const MULTIPLE: usize = 200;

/// The work allowed for one batch of checks: for each text, its bytes times (the weight of its schema plus `PARSING`).
/// A unit takes some nanoseconds.
pub const WORK: usize = 1 << 23;

/// The weight of parsing a text.
const PARSING: usize = 12;

/// The cost of explaining a mismatch, relative to finding it. With alternatives, the errors of each are collected.
const EXPLAINING: usize = 4;
const EXPLAINING_ALTERNATIVES: usize = 64;

/// How many bytes of a validated schema count as one compiled value, and how many values that are weighed but not
/// compiled.
const LOOKED_THROUGH: usize = 64;
const WEIGHED: usize = 16;

/// The maximum number of repaired values of one call.
const REPAIRS: usize = 16;

/// The maximum length of an explanation, in bytes.
const EXPLANATION: usize = 300;

#[derive(Debug)]
pub struct Schema {
    /// `None` if values are not checked.
    validator: Option<Validator>,
    weight: usize,
    explaining: usize,
}

/// Why a check failed.
#[derive(Debug, PartialEq, Eq)]
pub enum CheckError {
    Mismatch(Mismatch),
    /// The value cannot be parsed, for this reason: a number is too large, it is nested too deep, or a string has half
    /// of a surrogate pair.
    Unreadable(String),
    /// There is not enough [`WORK`] left for the check.
    Work,
}

/// The first mismatch. Displayed with its place.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// The JSON Pointer to the value; `None` if finding it would take too long.
    pub place: Option<String>,
    pub reason: String,
    /// The unknown members, if they are the reason.
    pub unknown: Vec<String>,
    /// The JSON Pointer to the violated part of the schema.
    pub said_at: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let reason = &self.reason;
        match self.place.as_deref() {
            None => write!(f, "somewhere: {reason}"),
            Some("") => write!(f, "at the top: {reason}"),
            Some(place) => write!(f, "at {}: {reason}", clipped(place)),
        }
    }
}

impl Schema {
    /// Reads a schema whose root has the type "object"; otherwise like [`read`](Self::read).
    pub fn of_objects(text: &str, left: &mut usize) -> Result<Self, String> {
        match member(text, "type") {
            Some(r#""object""#) => Self::read(text, left),
            _ => Err(String::from(
                r#"is not a JSON Schema object with "type": "object""#,
            )),
        }
    }

    /// Reads a schema, which must be a JSON object. `left` is the remaining weight for all schemas of a catalog; a
    /// schema that exceeds it is not compiled. The error describes why the schema is invalid.
    pub fn read(text: &str, left: &mut usize) -> Result<Self, String> {
        if text.len() > LARGEST {
            return Err(format!("is larger than {} KiB", LARGEST / 1024));
        }
        let schema: Value = serde_json::from_str(text)
            .map_err(|error| format!("cannot be read: {}", clipped(&error.to_string())))?;
        if !schema.is_object() {
            return Err(String::from("is not a JSON Schema object"));
        }
        // A schema that is too heavy to compile is still validated.
        let looked_through = text.len() / LOOKED_THROUGH;
        if *left > looked_through {
            *left -= looked_through;
            let validate = validate_of(schema.get("$schema"));
            validate.map_or(Ok(()), |validate| {
                validate(&schema).map_err(|error| wrong(&error))
            })?;
        }
        let allowed = HEAVIEST.min(*left);
        let mut scales = Weigher {
            schema: &schema,
            left: allowed,
            alternatives: false,
        };
        let weighed = scales.weigh(&schema, 0);
        let weight = allowed - scales.left;
        let explaining = if scales.alternatives {
            EXPLAINING_ALTERNATIVES
        } else {
            EXPLAINING
        };
        let validator = match weighed {
            None => {
                *left -= weight / WEIGHED;
                None
            }
            Some(()) => {
                *left -= weight;
                let patterns = PatternOptions::regex()
                    .size_limit(PATTERN_SIZE)
                    .dfa_size_limit(4 * PATTERN_SIZE);
                let options = jsonschema::options()
                    .offline()
                    .with_pattern_options(patterns)
                    .should_validate_formats(false);
                options.build(&schema).ok()
            }
        };
        Ok(Self {
            validator,
            weight,
            explaining,
        })
    }

    /// Checks a JSON text. `left` is the remaining [`WORK`]. A text that needs more than the whole [`WORK`] passes
    /// unchecked.
    pub fn check(&self, json: &str, left: &mut usize) -> Result<(), CheckError> {
        let Some(validator) = &self.validator else {
            return Ok(());
        };
        let work = json.len().saturating_mul(self.weight + PARSING);
        if work > WORK {
            return Ok(());
        }
        *left = left.checked_sub(work).ok_or(CheckError::Work)?;
        let value = serde_json::from_str(json);
        let value = value.map_err(|error| CheckError::Unreadable(clipped(&error.to_string())))?;
        if validator.is_valid(&value) {
            return Ok(());
        }
        let explaining = work.saturating_mul(self.explaining);
        let Some(rest) = left.checked_sub(explaining) else {
            return Err(CheckError::Mismatch(Mismatch {
                reason: String::from("finding the mismatch would take too long"),
                ..Mismatch::default()
            }));
        };
        *left = rest;
        validator.validate(&value).map_err(|error| {
            let unknown = match error.kind() {
                ValidationErrorKind::AdditionalProperties { unexpected } => unexpected.clone(),
                _ => Vec::new(),
            };
            CheckError::Mismatch(Mismatch {
                place: Some(error.instance_path().to_string()),
                reason: clipped(&error.to_string()),
                unknown,
                said_at: error.schema_path().to_string(),
            })
        })
    }

    /// Checks arguments, as models write them. If they do not match, they are repaired: a string with JSON text
    /// (`"[1]"`, `"true"`) becomes that JSON value, and a `null` is removed. Returns the repaired arguments if they
    /// match, otherwise the error for the original ones.
    pub fn accept<'j>(&self, json: &'j str, left: &mut usize) -> Result<Cow<'j, str>, CheckError> {
        let mut repaired = Cow::Borrowed(json);
        let mut first = None;
        for _ in 0..=REPAIRS {
            let mismatch = match self.check(&repaired, left) {
                Ok(()) => return Ok(repaired),
                Err(CheckError::Mismatch(mismatch)) => mismatch,
                Err(refused) => return Err(first.map_or(refused, CheckError::Mismatch)),
            };
            let repair = mismatch
                .place
                .as_deref()
                .and_then(|place| repair(&repaired, place));
            first.get_or_insert(mismatch);
            let Some(repair) = repair else { break };
            repaired = Cow::Owned(repair);
        }
        Err(CheckError::Mismatch(first.unwrap_or_default()))
    }

    /// Whether values are checked.
    #[cfg(test)]
    pub fn checks(&self) -> bool {
        self.validator.is_some()
    }
}

/// Repairs the value at a place in the arguments; `None` if there is nothing to repair.
fn repair(arguments: &str, place: &str) -> Option<String> {
    let value = resolve(arguments, place).ok()??;
    if value == "null" {
        let (parent, _) = place.rsplit_once('/')?;
        let parent = resolve(arguments, parent).ok()??;
        if !parent.starts_with('{') {
            return None;
        }
        return edit(arguments, place, None).ok();
    }
    let text: String = serde_json::from_str(value).ok()?;
    let meant: &RawValue = serde_json::from_str(&text).ok()?;
    if meant.get().starts_with('"') {
        return None;
    }
    edit(arguments, place, Some(meant.get())).ok()
}

fn clipped(text: &str) -> String {
    quote(text, EXPLANATION)
}

fn wrong(error: &jsonschema::ValidationError) -> String {
    let place = error.instance_path().to_string();
    let reason = clipped(&error.to_string());
    match place.as_str() {
        "" => format!("is not a JSON Schema: {reason}"),
        place => format!("is not a JSON Schema at {}: {reason}", clipped(place)),
    }
}

/// Weighs a schema.
struct Weigher<'s> {
    schema: &'s Value,
    /// The remaining number of values.
    left: usize,
    /// Whether the schema has `anyOf` or `oneOf`.
    alternatives: bool,
}

impl<'s> Weigher<'s> {
    /// Counts the values in a part of the schema, references expanded. `None` if there are too many or they are too
    /// deep, or if a keyword is unsupported.
    fn weigh(&mut self, part: &'s Value, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.take(1)?;
        match part {
            Value::Object(members) => {
                for (name, value) in members {
                    self.keyword(name, value, depth)?;
                    self.weigh(value, depth + 1)?;
                }
            }
            Value::Array(elements) => {
                for element in elements {
                    self.weigh(element, depth + 1)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Adds the weight of a member beside its value.
    fn keyword(&mut self, name: &str, value: &'s Value, depth: usize) -> Option<()> {
        match (name, value) {
            ("$ref", Value::String(to)) => {
                let target = refers_to(self.schema, to)?;
                self.weigh(target, depth + 1)?;
            }
            // These depend on dynamic scope, change the base of references, or visit values again.
            (
                "$dynamicRef"
                | "$recursiveRef"
                | "$id"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                _,
            ) => return None,
            ("$schema", draft @ Value::String(_)) if validate_of(Some(draft)).is_none() => {
                return None;
            }
            ("pattern", Value::String(pattern)) => self.pattern(pattern)?,
            ("patternProperties", Value::Object(patterns)) => {
                for pattern in patterns.keys() {
                    self.pattern(pattern)?;
                }
            }
            ("multipleOf", _) => self.take(MULTIPLE)?,
            ("anyOf" | "oneOf", _) => self.alternatives = true,
            _ => {}
        }
        Some(())
    }

    fn pattern(&mut self, pattern: &str) -> Option<()> {
        if pattern.len() > PATTERN_LENGTH {
            return None;
        }
        self.take(PATTERN)
    }

    fn take(&mut self, weight: usize) -> Option<()> {
        self.left = self.left.checked_sub(weight)?;
        Some(())
    }
}

/// The target of a reference within the schema; `None` for other references.
fn refers_to<'s>(schema: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.contains('%') || pointer.len() > PATTERN_LENGTH {
        None
    } else {
        schema.pointer(pointer)
    }
}

/// Validates a schema against its draft's meta-schema.
type Validate = for<'s> fn(&'s Value) -> Result<(), jsonschema::ValidationError<'s>>;

fn validate_of(draft: Option<&Value>) -> Option<Validate> {
    let Some(draft) = draft else {
        return Some(jsonschema::draft202012::meta::validate);
    };
    let (_, draft) = draft.as_str()?.trim_end_matches('#').split_once("://")?;
    match draft {
        "json-schema.org/draft/2020-12/schema" => Some(jsonschema::draft202012::meta::validate),
        "json-schema.org/draft/2019-09/schema" => Some(jsonschema::draft201909::meta::validate),
        "json-schema.org/draft-07/schema" => Some(jsonschema::draft7::meta::validate),
        "json-schema.org/draft-06/schema" => Some(jsonschema::draft6::meta::validate),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn read(text: &str) -> Result<Schema, String> {
        Schema::read(text, &mut 1_000_000)
    }

    fn check(schema: &Schema, json: &str) -> Result<(), String> {
        let checked = schema.check(json, &mut { WORK });
        checked.map_err(|refused| match refused {
            CheckError::Mismatch(message) => message.to_string(),
            CheckError::Unreadable(why) => why,
            CheckError::Work => String::from("too much"),
        })
    }

    #[test]
    fn a_mismatch_is_reported_with_its_place() {
        let schema = read(
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"pattern":"^x+$"}},
                "required":["a"],"$defs":{"n":{"type":"integer","minimum":1}}}"##,
        )
        .unwrap();
        for (arguments, message) in [
            (r#"{"a":1,"b":"xx","c":[]}"#, Ok(())),
            ("{}", Err(r#"at the top: "a" is a required property"#)),
            (r#"{"a":0}"#, Err("at /a: 0 is less than the minimum of 1")),
            (
                r#"{"a":1,"b":"y"}"#,
                Err(r#"at /b: "y" does not match "^x+$""#),
            ),
        ] {
            assert_eq!(check(&schema, arguments), message.map_err(str::to_owned));
        }
    }

    #[test]
    fn unreadable_values_do_not_evade_the_check() {
        let schema = read(r#"{"type":"object","properties":{"a":{"pattern":"^x+$"}}}"#).unwrap();
        let deep = format!(r#"{{"a":"y","b":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        for (arguments, why) in [
            (r#"{"a":"y","b":1e400}"#, "number out of range"),
            (r#"{"a":"y","b":"\ud800"}"#, "hex escape"),
            (&*deep, "recursion limit exceeded"),
        ] {
            let message = check(&schema, arguments).unwrap_err();
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn invalid_schemas_are_rejected() {
        for (text, message) in [
            ("7", "is not a JSON Schema object"),
            (
                r#"{"type":"object","required":"a"}"#,
                "is not a JSON Schema at /required",
            ),
            (
                r##"{"type":"object","required":"a","not":{"$ref":"#"}}"##,
                "is not a JSON Schema at /required",
            ),
            (r#"{"type":"object","minimum":1e999}"#, "cannot be read"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
        let large = format!(r#"{{"type":"object","title":"{}"}}"#, "x".repeat(LARGEST));
        assert_eq!(read(&large).unwrap_err(), "is larger than 256 KiB");
        for text in ["7", r#"{"type":"string"}"#, "{}"] {
            let error = Schema::of_objects(text, &mut 1000).unwrap_err();
            assert_eq!(
                error,
                r#"is not a JSON Schema object with "type": "object""#
            );
        }
    }

    #[test]
    fn schemas_that_would_take_forever_are_not_checked() {
        let level = |level: usize| match level {
            0 => String::from(r#""d0":{"type":"object"}"#),
            _ => {
                let below = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, level - 1);
                format!(r#""d{level}":{{"allOf":[{below},{below}]}}"#)
            }
        };
        let levels: Vec<_> = (0..64).map(level).collect();
        let doubling = format!(
            r##"{{"type":"object","$defs":{{{}}},"$ref":"#/$defs/d63"}}"##,
            levels.join(",")
        );
        let wide = format!(
            r#"{{"type":"object","enum":[{}0]}}"#,
            "0,".repeat(HEAVIEST + 1)
        );
        let long = format!(
            r#"{{"type":"object","patternProperties":{{"{}":true}}}}"#,
            "x".repeat(PATTERN_LENGTH + 1)
        );
        let name = "x".repeat(PATTERN_LENGTH);
        let far =
            format!(r##"{{"type":"object","$ref":"#/$defs/{name}","$defs":{{"{name}":{{}}}}}}"##);
        for text in [
            doubling.as_str(),
            wide.as_str(),
            r##"{"type":"object","not":{"$ref":"#"}}"##,
            r##"{"type":"object","$ref":"#anchor"}"##,
            r#"{"type":"object","$ref":"https://example.com/schema"}"#,
            r#"{"type":"object","$ref":"file:///etc/passwd"}"#,
            r#"{"type":"object","$schema":"https://example.com/schema"}"#,
            r#"{"type":"object","unevaluatedProperties":false}"#,
            r#"{"type":"object","properties":{"a":{"pattern":"^(?!b)"}}}"#,
            r#"{"type":"object","properties":{"a":{"pattern":"((a{100}){100}){100}"}}}"#,
            r#"{"type":"object","properties":{"a":{"pattern":"[01]{3500}"}}}"#,
            long.as_str(),
            far.as_str(),
        ] {
            let schema = read(text).unwrap();
            assert!(!schema.checks(), "{text}");
            assert_eq!(check(&schema, r#"{"a":1}"#), Ok(()));
        }
    }

    #[test]
    fn the_checks_of_a_batch_share_a_budget() {
        let schema = read(r#"{"type":"object","properties":{"a":{"type":"array"}}}"#).unwrap();
        let arguments = format!(r#"{{"a":[{}0]}}"#, "0,".repeat(100_000));
        let mut left = WORK;
        assert_eq!(schema.check(&arguments, &mut left), Ok(()));
        assert_eq!(schema.check(&arguments, &mut left), Ok(()));
        assert_eq!(schema.check(&arguments, &mut left), Err(CheckError::Work));
        assert_eq!(schema.check(r#"{"a":[]}"#, &mut left), Ok(()));
        // A text that exceeds the whole budget passes unchecked.
        let larger = format!(r#"{{"a":[{}0]}}"#, "0,".repeat(WORK));
        assert_eq!(schema.check(&larger, &mut left), Ok(()));
    }

    #[test]
    fn a_mismatch_that_takes_too_long_to_find_is_reported_without_its_place() {
        let many = vec![r#"{"items":{"type":"string"}}"#; 100].join(",");
        let schema = read(&format!(
            r#"{{"type":"object","properties":{{"a":{{"anyOf":[{many}]}}}}}}"#
        ))
        .unwrap();
        let arguments = |count: usize| format!(r#"{{"a":[{}0]}}"#, "0,".repeat(count));
        let message = check(&schema, &arguments(1)).unwrap_err();
        assert!(
            message.starts_with("at /a: [0,0] is not valid under any"),
            "{message}"
        );
        let message = check(&schema, &arguments(1000)).unwrap_err();
        assert_eq!(
            message,
            "somewhere: finding the mismatch would take too long"
        );
    }

    #[test]
    fn schemas_that_are_not_compiled_also_count_for_the_catalog() {
        let bounds = "true,".repeat(HEAVIEST + 1);
        let text = format!(r#"{{"type":"object","enum":[{bounds}0]}}"#);
        let mut left = 100_000;
        assert!(!Schema::read(&text, &mut left).unwrap().checks());
        assert_eq!(
            left,
            100_000 - text.len() / LOOKED_THROUGH - HEAVIEST / WEIGHED
        );
    }

    #[test]
    fn no_nesting_is_too_deep() {
        let nested = |open: &str, close: &str, depth: usize| {
            let schema = format!("{}true{}", open.repeat(depth), close.repeat(depth));
            format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#)
        };
        for depth in [10, 40, 49, 60, 100, 30_000] {
            let schema = nested(r#"{"not":"#, "}", depth);
            let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
            if let Ok(schema) = read(&schema) {
                let _ = check(&schema, &deep);
            }
            let schema = read(&nested(r#"{"items":"#, "}", depth.min(40))).unwrap();
            let is_read = depth < 127;
            assert_eq!(check(&schema, &deep).is_ok(), is_read, "{depth}");
        }
    }

    #[test]
    fn extreme_numbers_break_nothing() {
        for number in ["1e308", "1e-308", "5e-324", "18446744073709551615", "0.1"] {
            for keyword in ["multipleOf", "maximum", "minLength", "maxItems", "const"] {
                let text =
                    format!(r#"{{"type":"object","properties":{{"a":{{"{keyword}":{number}}}}}}}"#);
                let Ok(schema) = read(&text) else { continue };
                for value in ["1e308", "5e-324", "-1", "\"\"", "[]", "1e999"] {
                    let _ = check(&schema, &format!(r#"{{"a":{value}}}"#));
                }
            }
        }
    }

    /// JSON with keywords of schemas, used as a schema and as a value.
    fn wild() -> impl Strategy<Value = String> {
        let keywords = vec![
            "$ref",
            "$defs",
            "$id",
            "$schema",
            "$anchor",
            "$dynamicRef",
            "type",
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "items",
            "prefixItems",
            "contains",
            "minContains",
            "uniqueItems",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "enum",
            "const",
            "multipleOf",
            "maximum",
            "pattern",
            "minLength",
            "format",
            "dependentSchemas",
            "contentEncoding",
            "a",
        ];
        let leaf = select(vec![
            "null",
            "true",
            "false",
            "0",
            "-1",
            "1e-320",
            "1e300",
            "18446744073709551615",
            "\"\"",
            "\"a\"",
            "\"object\"",
            "\"integer\"",
            "\"#\"",
            "\"#/$defs/a\"",
            "\"#/properties/a\"",
            "\"^(a|b)+$\"",
            "\"(?=a)\"",
            "\"(\"",
            "\"http://json-schema.org/draft-07/schema#\"",
            "\"https://json-schema.org/draft/2019-09/schema\"",
            "\"\\ud83d\\ude00\"",
            "[\"object\",\"null\"]",
        ]);
        let leaf = leaf.prop_map(str::to_owned);
        leaf.prop_recursive(8, 96, 8, move |inner| {
            let members = prop::collection::vec((select(keywords.clone()), inner.clone()), 0..8);
            prop_oneof![
                3 => members.prop_map(|members| {
                    let members = members.iter().map(|(name, value)| format!("{name:?}:{value}"));
                    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
                }),
                1 => prop::collection::vec(inner, 0..5)
                    .prop_map(|elements| format!("[{}]", elements.join(","))),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 1000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn no_schema_and_no_value_breaks_anything(schema in wild(), value in wild()) {
            let schema = match schema.strip_prefix('{') {
                Some("}") | None => format!(r#"{{"type":"object","allOf":[{schema}]}}"#),
                Some(rest) => format!(r#"{{"type":"object",{}"#, rest.replace(r#""type":"#, r#""t":"#)),
            };
            if let Ok(schema) = read(&schema) {
                let _ = check(&schema, &value);
            }
        }
    }
}
