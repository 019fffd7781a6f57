//! The configuration.

use super::*;

/// The schema that the host checks a configuration against.
const SCHEMA: &str = include_str!("../../config.schema.json");

#[test]
fn misspelt_keys_are_errors() {
    for config in [
        json!({ "turns": {} }),
        json!({ "turn": { "calls": 1 } }),
        json!({ "repeats": { "same": 1 } }),
        json!({ "turn": { "action": "warn" } }),
        json!({ "prices": { "input": 1.0 } }),
    ] {
        let error = Host::start::<Guard>(config.clone()).expect_err(&config.to_string());
        assert!(error.starts_with("in its configuration: "), "{error}");
    }
}

#[test]
fn a_limit_of_zero_is_one_of_one() {
    let mut host = host(json!({ "turn": { "tool-calls": 0 } }));
    begin(&mut host);
    run(&mut host, 1);
    assert_eq!(seen(&mut host).passed.len(), 1);
    run(&mut host, 2);
    question(&mut host);
}

#[test]
fn an_empty_table_is_no_limit() {
    let mut host = host(json!({ "turn": {}, "repeats": {} }));
    begin(&mut host);
    for number in 0..600 {
        report(&mut host, Some(&format!("c{number}")), "make");
    }
    assert_eq!(seen(&mut host).passed.len(), 600);
}

/// All objects of the schema that describe a key.
fn described(schema: &Value, found: &mut Vec<(String, bool)>) {
    let Some(keys) = schema["properties"].as_object() else {
        return;
    };
    for (name, key) in keys {
        found.push((name.clone(), key["description"].is_string()));
        described(key, found);
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let mut found = Vec::new();
    described(&schema, &mut found);
    described(&schema["$defs"]["limits"], &mut found);
    assert_eq!(found.len(), 22, "{found:?}");
    let missing: Vec<_> = found
        .iter()
        .filter(|(_, is_described)| !is_described)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
