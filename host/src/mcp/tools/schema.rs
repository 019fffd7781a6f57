//! JSON Schemas of components, and what may be checked against them.
//!
//! A component is hostile, and validation can be made to take for ever: by references that go in
//! circles or multiply, by keywords that look at what others have looked at, by regular expressions.
//! So a schema is *weighed* first: the values in it are counted, with each reference in place of what
//! it refers to. Only one that comes out finite, light and not too deep is compiled, and what is
//! checked against it may be the larger the lighter it is. Regular expressions run in linear time; a
//! schema with one that cannot, such as one that looks ahead, is not compiled. `format` is not
//! checked. Nothing is ever fetched. What is not checked is left to the tool.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::mcp::protocol::clipped;

/// The largest schema, in bytes.
pub const LARGEST: usize = 256 * 1024;

/// The heaviest schema that is checked against, in values.
const HEAVIEST: usize = 10_000;

/// How deep a schema that is checked against may be, its references followed.
const DEEPEST: usize = 100;

/// What a regular expression weighs, in values.
const PATTERN: usize = 1000;

/// How large a regular expression may become, compiled, in bytes.
const PATTERN_SIZE: usize = 256 * 1024;

/// The largest text that is checked, in bytes.
const LARGEST_CHECKED: usize = 1024 * 1024;

/// What a schema weighs times the bytes that are checked against it: some tenths of a second at worst.
const WORK: usize = 1 << 26;

/// How many bytes of a schema weigh as much as one value when it is only looked through.
const LOOKED_THROUGH: usize = 16;

/// A schema.
#[derive(Debug)]
pub struct Schema {
    /// `None` if the schema is not one to check against.
    validator: Option<Validator>,
    weight: usize,
}

impl Schema {
    /// Reads a schema of objects. `left` is what all schemas of a catalog may still weigh together;
    /// the ones for which it does not suffice are not checked against. The error says what is wrong.
    pub fn read(text: &str, left: &mut usize) -> Result<Self, String> {
        if text.len() > LARGEST {
            return Err(format!("is larger than {} KiB", LARGEST / 1024));
        }
        let schema: Value = serde_json::from_str(text)
            .map_err(|error| format!("cannot be read: {}", clipped(&error.to_string())))?;
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(String::from(
                r#"is not a JSON Schema object with "type": "object""#,
            ));
        }
        // What weighs too much is at least looked through.
        let looked_through = text.len() / LOOKED_THROUGH;
        if *left > looked_through {
            *left -= looked_through;
            let validate = validate_of(schema.get("$schema"));
            validate.map_or(Ok(()), |validate| {
                validate(&schema).map_err(|error| wrong(&error))
            })?;
        }
        let mut remaining = HEAVIEST.min(*left);
        let allowed = remaining;
        let weighed = weigh(&schema, &schema, 0, &mut remaining);
        let weight = allowed - remaining;
        let validator = match weighed {
            None => None,
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
        Ok(Self { validator, weight })
    }

    /// Checks a JSON text. The error says where it does not match, and why.
    pub fn check(&self, json: &str) -> Result<(), String> {
        let Some(validator) = &self.validator else {
            return Ok(());
        };
        if json.len() > LARGEST_CHECKED || json.len().saturating_mul(self.weight) > WORK {
            return Ok(());
        }
        // What is nested too deep, or has a number that is too large to be held, is left to the tool.
        let Ok(value) = serde_json::from_str(json) else {
            return Ok(());
        };
        validator.validate(&value).map_err(|error| {
            let place = error.instance_path().to_string();
            let place = match place.as_str() {
                "" => String::from("at the top"),
                place => format!("at {}", clipped(place)),
            };
            format!("{place}: {}", clipped(&error.to_string()))
        })
    }

    /// Whether anything is ever checked.
    #[cfg(test)]
    pub fn checks(&self) -> bool {
        self.validator.is_some()
    }
}

fn wrong(error: &jsonschema::ValidationError) -> String {
    let place = error.instance_path().to_string();
    let reason = clipped(&error.to_string());
    match place.as_str() {
        "" => format!("is no JSON Schema: {reason}"),
        place => format!("is no JSON Schema at {}: {reason}", clipped(place)),
    }
}

/// Counts the values in a part of a schema, references followed. `None` if they are too many or too
/// deep, or if there is no telling.
fn weigh(schema: &Value, part: &Value, depth: usize, left: &mut usize) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    *left = left.checked_sub(1)?;
    match part {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("$ref", Value::String(to)) => {
                        let target = refers_to(schema, to)?;
                        weigh(schema, target, depth + 1, left)?;
                    }
                    // These refer to who knows what, change what others refer to, or look again at
                    // what was looked at.
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
                    ("pattern", Value::String(_)) => *left = left.checked_sub(PATTERN)?,
                    ("patternProperties", Value::Object(patterns)) => {
                        *left = left.checked_sub(PATTERN.checked_mul(patterns.len())?)?;
                    }
                    _ => {}
                }
                weigh(schema, value, depth + 1, left)?;
            }
        }
        Value::Array(elements) => {
            for element in elements {
                weigh(schema, element, depth + 1, left)?;
            }
        }
        _ => {}
    }
    Some(())
}

/// What a reference into the same schema refers to; `None` for any other.
fn refers_to<'s>(schema: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    match pointer.contains('%') {
        true => None,
        false => schema.pointer(pointer),
    }
}

/// How a schema of this draft is told from what is none. There are drafts of which nothing is known
/// here.
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

    #[test]
    fn what_does_not_match_is_told_with_its_place() {
        let schema = read(
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"pattern":"^x+$"}},
                "required":["a"],"$defs":{"n":{"type":"integer","minimum":1}}}"##,
        )
        .unwrap();
        for (arguments, told) in [
            (r#"{"a":1,"b":"xx","c":[]}"#, Ok(())),
            ("{}", Err(r#"at the top: "a" is a required property"#)),
            (r#"{"a":0}"#, Err("at /a: 0 is less than the minimum of 1")),
            (
                r#"{"a":1,"b":"y"}"#,
                Err(r#"at /b: "y" does not match "^x+$""#),
            ),
        ] {
            assert_eq!(schema.check(arguments), told.map_err(str::to_owned));
        }
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for (text, told) in [
            ("7", "is not a JSON Schema object"),
            (r#"{"type":"string"}"#, "is not a JSON Schema object"),
            (
                r#"{"type":"object","required":"a"}"#,
                "is no JSON Schema at /required",
            ),
            (
                r##"{"type":"object","required":"a","not":{"$ref":"#"}}"##,
                "is no JSON Schema at /required",
            ),
            (r#"{"type":"object","minimum":1e999}"#, "cannot be read"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(told), "{text}: {error}");
        }
        let large = format!(r#"{{"type":"object","title":"{}"}}"#, "x".repeat(LARGEST));
        assert_eq!(read(&large).unwrap_err(), "is larger than 256 KiB");
    }

    #[test]
    fn what_would_take_for_ever_is_left_to_the_tool() {
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
        ] {
            let schema = read(text).unwrap();
            assert!(!schema.checks(), "{text}");
            assert_eq!(schema.check(r#"{"a":1}"#), Ok(()));
        }
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
                let _ = schema.check(&deep);
            }
            let schema = read(&nested(r#"{"items":"#, "}", depth.min(40))).unwrap();
            assert_eq!(schema.check(&deep), Ok(()));
        }
    }

    #[test]
    fn numbers_at_the_border_break_nothing() {
        for number in ["1e308", "1e-308", "5e-324", "18446744073709551615", "0.1"] {
            for keyword in ["multipleOf", "maximum", "minLength", "maxItems", "const"] {
                let text =
                    format!(r#"{{"type":"object","properties":{{"a":{{"{keyword}":{number}}}}}}}"#);
                let Ok(schema) = read(&text) else { continue };
                for value in ["1e308", "5e-324", "-1", "\"\"", "[]", "1e999"] {
                    let _ = schema.check(&format!(r#"{{"a":{value}}}"#));
                }
            }
        }
    }

    /// Something like a schema, and something like what is checked against it.
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
                let _ = schema.check(&value);
            }
        }
    }
}
