use serde_json::json;

use super::*;
use crate::detector::Detector;

fn redacted(body: &str) -> Option<String> {
    let detector = Detector::new([("x", "SECRET")]).expect("right");
    let mut body: Json = body.parse().expect("JSON");
    redact(&detector, &mut body)
        .expect("in memory")
        .then(|| body.to_string())
}

#[test]
fn strings_are_redacted_wherever_they_are_and_the_rest_keeps_its_spelling() {
    let body = r#"{"a":[1e400,{"b":"a SECRET\n"}],"SECRET":"\u0041","c":null}"#;
    let expected = r#"{"a":[1e400,{"b":"a [redacted: x]\n"}],"SECRET":"\u0041","c":null}"#;
    assert_eq!(redacted(body).as_deref(), Some(expected));
}

#[test]
fn half_a_surrogate_pair_hides_nothing() {
    let body = r#"["a SECRET, cut: \ud83d", "\ud83d"]"#;
    let expected = "[\"a [redacted: x], cut: \u{fffd}\u{fffd}\u{fffd}\",\"\\ud83d\"]";
    assert_eq!(redacted(body).as_deref(), Some(expected));
}

#[test]
fn a_body_without_secrets_has_not_changed() {
    assert_eq!(redacted(r#"{"a":["b",{"c":0.10}]}"#), None);
}

#[test]
fn what_the_protocol_needs_stays_except_where_the_agent_is_free() {
    let needed = json!({ "sessionId": "SECRET", "path": "/SECRET", "type": "SECRET" });
    assert_eq!(redacted(&needed.to_string()), None);
    let free = json!({ "rawInput": { "path": "/SECRET", "id": ["SECRET"] } });
    let expected = json!({ "rawInput": { "path": "/[redacted: x]", "id": ["[redacted: x]"] } });
    assert_eq!(redacted(&free.to_string()), Some(expected.to_string()));
}

#[test]
fn nesting_hides_nothing_and_costs_little() {
    let nested = |text: &str| format!("{}{text}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(redacted(&nested("1")), None);
    let redacted = redacted(&nested("\"SECRET\"")).expect("found");
    assert!(redacted.contains("[redacted: x]") && !redacted.contains("SECRET"));
}
