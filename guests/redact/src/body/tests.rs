use acp_chain_secrets::{Detector, Marker, pattern};
use serde_json::json;

use super::*;

fn detector() -> Detector {
    Detector::new([pattern("x", "SECRET").expect("right")]).expect("right")
}

fn redacted(body: &str) -> Option<String> {
    let body: Json = body.parse().expect("JSON");
    let text = body.spelling();
    let findings = look(
        detector().marking(Marker::Redacted),
        &text,
        is_text,
        &mut Effort::default(),
    )
    .expect("in memory");
    let applied = findings.applied(&text);
    match findings.action(&body).expect("in memory") {
        Action::Forward => None,
        Action::Edit(edits) => {
            let mut edited = body.clone();
            for Edit { pointer, value } in edits {
                *edited.at_mut(&pointer).expect("a place") = value.expect("a text");
            }
            assert_eq!(edited.to_string(), applied);
            Some(applied)
        }
        Action::Replace(replaced) => {
            assert_eq!(replaced.to_string(), applied);
            Some(applied)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn strings_are_redacted_wherever_they_are_and_the_rest_keeps_its_spelling() {
    let body = r#"{"a":[1e400,{"b":"a SECRET\n"}],"SECRET":"\u0041","c":null}"#;
    let expected = r#"{"a":[1e400,{"b":"a [redacted: x]\n"}],"SECRET":"\u0041","c":null}"#;
    assert_eq!(redacted(body).as_deref(), Some(expected));
}

#[test]
fn half_a_surrogate_pair_hides_nothing() {
    let body = r#"["a SECRET, cut: \ud83d","\ud83d"]"#;
    let expected = "[\"a [redacted: x], cut: \u{fffd}\u{fffd}\u{fffd}\",\"\\ud83d\"]";
    assert_eq!(redacted(body).as_deref(), Some(expected));
}

#[test]
fn a_body_without_secrets_has_not_changed() {
    assert_eq!(redacted(r#"{"a":["b",{"c":0.10}]}"#), None);
}

#[test]
fn members_of_the_protocol_stay_except_in_free_content() {
    let needed = json!({ "sessionId": "SECRET", "path": "/SECRET", "type": "SECRET" });
    assert_eq!(redacted(&needed.to_string()), None);
    let free = json!({ "rawInput": { "path": "/SECRET", "id": ["SECRET"] } });
    let expected = json!({ "rawInput": { "path": "/[redacted: x]", "id": ["[redacted: x]"] } });
    assert_eq!(redacted(&free.to_string()), Some(expected.to_string()));
}

#[test]
fn the_data_of_an_error_that_ends_a_turn_is_free() {
    let error = |text: &str| json!({ "code": 1, "data": { "path": text, "why": [text] } });
    for state in [false, true] {
        let body = |text: &str| {
            if state {
                json!({ "update": { "state": { "error": error(text) } } }).to_string()
            } else {
                json!({ "update": { "error": error(text) } }).to_string()
            }
        };
        assert_eq!(redacted(&body("SECRET")), Some(body("[redacted: x]")));
    }
    let other = json!({ "update": { "data": "SECRET", "entry": { "data": "SECRET" } } });
    assert_eq!(redacted(&other.to_string()), None);
}

#[test]
fn a_body_nested_too_deep_is_an_error() {
    let nested = |depth: usize| format!("{}\"SECRET\"{}", "[".repeat(depth), "]".repeat(depth));
    assert!(redacted(&nested(128)).is_some());
    let error = look(
        detector().marking(Marker::Redacted),
        &nested(129),
        is_text,
        &mut Effort::default(),
    )
    .err();
    assert!(error.expect("too deep").contains("nested deeper than 128"));
}

#[test]
fn a_duplicate_name_hides_no_secret() {
    let twice = r#"{"a":"a SECRET","a":1,"b":{"c":["SECRET"]}}"#;
    let expected = r#"{"a":"a [redacted: x]","a":1,"b":{"c":["[redacted: x]"]}}"#;
    assert_eq!(redacted(twice).as_deref(), Some(expected));
}

#[test]
fn many_secrets_are_found_as_well_as_few() {
    let body = |secret: &str| format!("[{}\"\"]", format!("\"a {secret}\",").repeat(100));
    assert_eq!(redacted(&body("SECRET")), Some(body("[redacted: x]")));
}
