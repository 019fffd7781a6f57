//! Properties of generated texts, tested with every definition of every method.

use std::borrow::Cow;
use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::text::{LONE, NUMBERS};
use super::*;

/// Texts of each definition that belongs to a method. They are the same in every run.
fn samples(count: usize) -> Vec<(&'static Method, &'static str, String)> {
    more_samples(&mut TestRunner::deterministic(), count)
}

fn more_samples(
    runner: &mut TestRunner,
    count: usize,
) -> Vec<(&'static Method, &'static str, String)> {
    let decisions = vec(any::<u8>(), 0..=DECISIONS);
    let mut some = || decisions.new_tree(runner).unwrap().current();
    let mut samples = Vec::new();
    for method in methods() {
        for _ in 0..count {
            let params = (&*method.params_definition, method.params(&some()));
            let result = method.result_definition.as_deref();
            let result = result.zip(method.result(&some()));
            let error = method.error(&some()).map(|error| ("Error", error));
            for (definition, text) in [Some(params), result, error].into_iter().flatten() {
                samples.push((method, definition, text));
            }
        }
    }
    samples
}

#[test]
fn every_request_response_and_notification_of_both_schemas_is_produced() {
    let mut listed = BTreeSet::new();
    for schema in [&*V1, &*V2] {
        for (definition, content) in &schema.source {
            if let Some(method) = content["x-method"].as_str() {
                listed.insert((schema.version, method, definition.as_str()));
            }
        }
    }
    let produced: BTreeSet<_> = samples(1)
        .iter()
        .filter(|(_, definition, _)| *definition != "Error")
        .map(|(method, definition, _)| (method.version, method.name.as_str(), *definition))
        .collect();
    assert_eq!(produced, listed);
    assert!(listed.len() > 100, "the schemas list {} only", listed.len());
}

#[test]
fn every_text_is_json_on_one_line() {
    for (method, definition, text) in samples(40) {
        assert!(!text.contains('\n'), "{method:?} {definition}: {text}");
        let raw: Result<&RawValue, _> = serde_json::from_str(&text);
        assert!(raw.is_ok(), "{method:?} {definition}: {raw:?}: {text}");
    }
}

#[test]
fn every_constant_of_the_schemas_occurs() {
    fn constants(schema: &Schema, shape: &Shape, found: &mut BTreeSet<String>) {
        match shape {
            Shape::Word(word) => {
                found.insert(format!("\"{word}\""));
            }
            Shape::Numeral(number) => {
                found.insert(number.clone());
            }
            Shape::List { items: inner, .. } | Shape::Map(inner) => {
                constants(schema, inner, found);
            }
            Shape::Record(fields) => {
                for field in fields {
                    constants(schema, &field.shape, found);
                }
            }
            Shape::Choice(shapes) => {
                for shape in shapes {
                    constants(schema, shape, found);
                }
            }
            Shape::Definition(name) => constants(schema, &schema.shapes[name], found),
            _ => {}
        }
    }
    let mut missing = BTreeSet::new();
    for method in methods() {
        let definitions = [
            Some(&method.params_definition),
            method.result_definition.as_ref(),
        ];
        for definition in definitions.into_iter().flatten() {
            let schema = method.schema();
            let mut found = BTreeSet::new();
            constants(schema, &schema.shapes[definition], &mut found);
            missing.extend(found.into_iter().map(|constant| (method.version, constant)));
        }
    }
    assert!(missing.len() > 200, "{missing:?}");
    // Some occur only in optional members of optional members.
    let mut runner = TestRunner::deterministic();
    for _ in 0..200 {
        for (method, _, text) in more_samples(&mut runner, 20) {
            missing.retain(|(version, constant)| {
                *version != method.version || !text.contains(constant)
            });
        }
        if missing.is_empty() {
            return;
        }
    }
    panic!("never generated: {missing:?}");
}

#[test]
fn every_unusual_spelling_occurs() {
    let text: String = samples(40).into_iter().map(|(.., text)| text).collect();
    let traps = [
        r"\u00e9",
        r"\/",
        r"\ud83e\udd80",
        "é",
        "🦀",
        "\u{2028}",
        "\t",
        "\r",
        r#""_meta" : "#,
        r#""_meta":{"#,
        "unknownField",
        r#""_vendor""#,
        "1E+2",
    ];
    for trap in NUMBERS.iter().chain(LONE).chain(&traps) {
        assert!(text.contains(trap), "{trap} never occurs");
    }
}

#[test]
fn a_session_id_is_always_a_string_that_can_be_decoded() {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "sessionId")]
        session: Cow<'a, str>,
    }
    let (mut plain, mut escaped) = (0, 0);
    for (_, definition, text) in samples(40) {
        // Names of unknown members may have lone surrogates, which cannot be decoded.
        if definition != "PromptRequest" || text.contains(r"lone\ud800") {
            continue;
        }
        let params: Params = serde_json::from_str(&text).unwrap();
        assert!(!params.session.is_empty());
        match params.session {
            Cow::Borrowed(_) => plain += 1,
            Cow::Owned(_) => escaped += 1,
        }
    }
    assert!(plain > 5 && escaped > 5, "{plain} plain, {escaped} escaped");
}

#[test]
fn texts_are_small_and_need_few_decisions() {
    let samples = samples(40);
    let total: usize = samples.iter().map(|(.., text)| text.len()).sum();
    let longest = samples.iter().map(|(.., text)| text.len()).max().unwrap();
    assert!(total / samples.len() < 2_000, "{}", total / samples.len());
    assert!(longest < 20_000, "{longest}");
}

#[test]
fn without_decisions_only_what_is_required_is_written() {
    assert_eq!(
        V1.text("PromptRequest", &[]),
        r#"{"prompt":[],"sessionId":"s1"}"#
    );
}
