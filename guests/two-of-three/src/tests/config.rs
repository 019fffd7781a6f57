//! The configuration.

use super::*;

#[test]
fn patterns_and_globs_are_checked() {
    for (config, part) in [
        (json!({ "local": ["ls; rm"] }), "in `local`: "),
        (json!({ "builds": ["ls; rm"] }), "one program and its words"),
        (json!({ "private": ["secret"] }), "begin it with"),
        (json!({ "untrusted": ["x"] }), "begin it with"),
    ] {
        let error = Host::start::<TwoOfThree>(config).expect_err("wrong");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn the_defaults_of_the_schema_are_valid_and_easy_to_find() {
    Host::start::<TwoOfThree>(json!({})).expect("patterns and globs");
    let schema: Value =
        serde_json::from_str(include_str!("../../config.schema.json")).expect("JSON");
    let builds = schema["properties"]["builds"]["default"].clone();
    let builds: Vec<String> = serde_json::from_value(builds).expect("texts");
    assert!(builds.is_sorted());
}

#[test]
fn a_project_that_is_not_trusted_is_text_from_outside() {
    let mut host = host(json!({ "untrusted": ["/proj/**"] }));
    prompt(&mut host, "hello");
    let told = seen(&mut host).told;
    assert!(
        told.contains("[A]") && told.contains("not trusted"),
        "{told}"
    );
}
