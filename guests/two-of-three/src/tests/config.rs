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
fn the_defaults_are_those_of_the_schema() {
    let schema: Value =
        serde_json::from_str(include_str!("../../config.schema.json")).expect("JSON");
    let default = |key: &str| schema["properties"][key]["default"].clone();
    let texts = |key| serde_json::from_value::<Vec<String>>(default(key)).expect("texts");
    assert_eq!(texts("local"), crate::config::LOCAL);
    assert_eq!(texts("builds"), crate::config::BUILDS);
    assert!(crate::config::BUILDS.is_sorted());
    assert_eq!(texts("private"), crate::config::PRIVATE);
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
