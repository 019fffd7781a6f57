//! Prompts, and the completion of their arguments.

use super::{ComponentProvider, Offer, Table, kept};

const PROMPTS: &str = r#"{"prompts":[
    {"name":"review","arguments":[{"name":"file","required":true},{"name":"tone"}]},
    {"name":"two words"}]}"#;

fn server() -> Table<ComponentProvider> {
    let offers = [Offer::Prompts, Offer::Completion].into_iter();
    let mut table = Table::new(ComponentProvider::new("ask", offers.collect(), &kept()));
    table.connect(1);
    let hello = table.on(1, "initialize", r#"{"protocolVersion":"2025-11-25"}"#);
    assert!(
        hello[0].contains(r#""capabilities":{"prompts":{"listChanged":true},"completions":{}}"#)
    );
    table
}

#[test]
fn a_client_lists_and_gets_prompts() {
    let mut table = server();
    assert_eq!(table.on(1, "prompts/list", "{}"), ["list prompts 1"]);
    assert!(table.result(1, PROMPTS)[0].contains(r#"{"prompts":[{"name":"review""#));
    assert_eq!(
        table.on(
            1,
            "prompts/get",
            r#"{"name":"review","arguments":{"file":"a"}}"#
        ),
        [r#"call 2: prompts/get {"name":"review","arguments":{"file":"a"}}"#]
    );
    let result = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Review a"}}]}"#;
    assert_eq!(
        table.result(2, result),
        [format!("answer 4: result {result}")]
    );
    assert_eq!(
        table.on(1, "prompts/get", r#"{"name":"two words"}"#),
        [r#"call 3: prompts/get {"name":"two words","arguments":{}}"#]
    );
}

#[test]
fn an_invalid_request_for_a_prompt_is_rejected_without_a_call() {
    let mut table = server();
    table.on(1, "prompts/list", "{}");
    table.result(1, PROMPTS);
    for (params, reason) in [
        ("{}", "prompts/get lacks the name of a prompt"),
        (r#"{"name":"x"}"#, "Unknown prompt: x"),
        (
            r#"{"name":"review"}"#,
            "The prompt review requires the argument file",
        ),
        (
            r#"{"name":"review","arguments":{"file":7}}"#,
            "The arguments of prompts/get are not all strings",
        ),
        (
            r#"{"name":"review","arguments":["a"]}"#,
            "The arguments of prompts/get are not an object",
        ),
        (
            r#"{"name":"review","arguments":[ ]}"#,
            "The prompt review requires the argument file",
        ),
    ] {
        let answer = table.on(1, "prompts/get", params);
        let error = format!(r#"error {{"code":-32602,"message":"{reason}"}}"#);
        assert!(answer[0].ends_with(&error), "{answer:?}");
    }
}

#[test]
fn invalid_messages_are_an_error_that_names_the_proxy_and_the_prompt() {
    for (result, reason) in [
        ("{}", "it lacks `messages`"),
        (
            r#"{"messages":[{"role":"user","content":"x"}]}"#,
            "its `messages` is not an array of objects with a `role` and a `content`",
        ),
        (
            r#"{"messages":[{"role":"me","content":{"type":"text"}}]}"#,
            "a `role` in its `messages` is neither",
        ),
    ] {
        let mut table = server();
        table.on(1, "prompts/get", r#"{"name":"two words"}"#);
        table.result(1, PROMPTS);
        let answer = table.result(2, result);
        let expected =
            format!(r#"the result of its prompt \"two words\" is not a GetPromptResult: {reason}"#);
        assert!(answer[0].contains(&expected), "{answer:?}");
    }
}

#[test]
fn arguments_are_completed_with_the_context_of_others() {
    let mut table = server();
    assert_eq!(
        table.on(
            1,
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"file","value":"a"},"context":{"arguments":{"tone":"dry"}},"x":1}"#
        ),
        [concat!(
            r#"call 1: completion/complete {"ref":{"type":"ref/prompt","name":"review"},"#,
            r#""argument":{"name":"file","value":"a"},"context":{"arguments":{"tone":"dry"}}}"#
        )]
    );
    let result = r#"{"completion":{"values":["a.rs"],"hasMore":false}}"#;
    assert_eq!(
        table.result(1, result),
        [format!("answer 3: result {result}")]
    );
    for params in [
        r#"{"argument":{"name":"a","value":""}}"#,
        r#"{"ref":{"type":"ref/x","name":"a"},"argument":{"name":"a","value":""}}"#,
        r#"{"ref":{"type":"ref/resource","name":"a"},"argument":{"name":"a","value":""}}"#,
        r#"{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a"}}"#,
        r#"{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a","value":""},"context":{"arguments":{"b":1}}}"#,
    ] {
        let answer = table.on(1, "completion/complete", params);
        assert!(answer[0].contains("-32602"), "{answer:?}");
    }
    let many: Vec<_> = (0..101).map(|at| format!("\"{at}\"")).collect();
    for (result, reason) in [
        ("{}".to_owned(), "it lacks `completion`"),
        (
            r#"{"completion":{}}"#.to_owned(),
            "its `completion` has no array of strings `values`",
        ),
        (
            format!(r#"{{"completion":{{"values":[{}]}}}}"#, many.join(",")),
            "its `completion` has more than 100 values",
        ),
    ] {
        let mut table = server();
        table.on(
            1,
            "completion/complete",
            r#"{"ref":{"type":"ref/resource","uri":"a:{b}"},"argument":{"name":"b","value":""}}"#,
        );
        assert!(table.result(1, &result)[0].contains(reason), "{reason}");
    }
}
