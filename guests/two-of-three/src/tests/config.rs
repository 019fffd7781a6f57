//! The configuration.

use super::*;

#[test]
fn patterns_and_globs_are_checked() {
    for (config, part) in [
        (json!({ "local": ["ls; rm"] }), "in `local`: "),
        (json!({ "builds": ["ls; rm"] }), "one program and its words"),
        (json!({ "private": ["secret"] }), "begin it with"),
        (json!({ "trusted": ["~/work"] }), "in `trusted`: "),
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

#[test]
fn with_a_list_of_trusted_projects_all_others_are_text_from_outside() {
    let config = json!({
        "trusted": ["/home/me/work/**", "/proj"],
        "untrusted": ["/home/me/work/forks/**"],
    });
    for (cwd, is_trusted) in [
        ("/proj", true),
        ("/home/me/work/a", true),
        ("/home/me/work/forks/a", false),
        ("/home/me/workshop", false),
        ("/home/me/Work/a", false),
        ("/home/me/work/../clones/a", false),
        ("/tmp/a", false),
    ] {
        let mut host = Host::start::<TwoOfThree>(config.clone()).expect("right");
        host.powers(LEAST);
        let params = json!({ "cwd": cwd, "mcpServers": [] });
        let id = host.request(Peer::Client, "session/new", params);
        host.answer(id, json!({ "sessionId": "s" }));
        host.sent();
        prompt(&mut host, "hello");
        let told = seen(&mut host).told;
        let is_outside = told.contains("[A]") && told.contains("not trusted");
        assert_eq!(is_outside, !is_trusted, "{cwd}: {told}");
    }
}
