//! Lines of real programs that are not quite messages, but have only one meaning.

use acp_chain_tests::client::prompt;

use super::Chain;

const ESCAPES: [&str; 3] = ["\x1b]0;ready\x07", "\x1b[?25l\x1b[1;31m", "\u{feff}\x1b(B"];

/// The agent answers a prompt with these lines, and sends nothing more.
async fn answered(lines: &str) {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let script: Vec<_> = lines.lines().map(|line| format!("raw {line}")).collect();
    let answer = chain
        .process
        .turn(&format!("{}\nnever", script.join("\n")))
        .await;
    let result = answer
        .result
        .unwrap_or_else(|| panic!("{lines}: {}", answer.line));
    assert!(result.contains("end_turn"), "{lines}: {result}");
    assert!(chain.process.chunks().is_empty(), "{}", chain.transcript);
    chain.goes_on().await;
    chain.ends_well(&[]).await;
}

#[tokio::test]
async fn an_answer_among_sequences_for_terminals_arrives() {
    for escapes in ESCAPES {
        let answer = r#"{"jsonrpc":"2.0","id":{id},"result":{"stopReason":"end_turn"}}"#;
        answered(&format!("{escapes}{answer}")).await;
        answered(&format!("{escapes}\n{answer}{escapes}")).await;
    }
}

#[tokio::test]
async fn an_answer_behind_what_shows_progress_arrives() {
    for erase in ["", "\x1b[2K"] {
        let mut chain = Chain::initialized(&[]).await.unwrap();
        let answer = r#"{"jsonrpc":"2.0","id":{id},"result":{"stopReason":"end_turn"}}"#;
        let line = format!("50 %\r100 %\r{erase}{answer}");
        let answer = chain.process.turn(&format!("raw {line}\nnever")).await;
        let result = answer.result.unwrap_or_default();
        assert!(result.contains("end_turn"), "{}", chain.transcript);
        let told = chain.process.chunks().concat();
        assert!(told.contains("a line of the agent is lost"), "{told}");
        chain.goes_on().await;
        chain.ends_well(&["its 11 bytes begin with"]).await;
    }
}

#[tokio::test]
async fn an_answer_over_lines_or_beside_another_message_arrives() {
    let pretty = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": {id},\n  \"result\": {\n    \"stopReason\": \"end_turn\"\n  }\n}";
    answered(pretty).await;
    let update = r#"{"jsonrpc":"2.0","method":"_note"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":{id},"result":{"stopReason":"end_turn"}}"#;
    answered(&format!("{update}{answer}")).await;
}

#[tokio::test]
async fn an_answer_without_a_version_arrives() {
    answered(r#"{"id":{id},"result":{"stopReason":"end_turn"}}"#).await;
}

#[tokio::test]
async fn an_answer_under_an_id_that_is_spelt_as_a_fraction_or_with_an_error_of_null_arrives() {
    answered(r#"{"jsonrpc":"2.0","id":{id}.0,"result":{"stopReason":"end_turn"}}"#).await;
    answered(r#"{"jsonrpc":"2.0","id":{id}.0E0,"result":{"stopReason":"end_turn"}}"#).await;
    answered(r#"{"jsonrpc":"2.0","id":{id},"result":{"stopReason":"end_turn"},"error":null}"#)
        .await;
}

#[tokio::test]
async fn an_answer_under_an_id_that_became_a_string_arrives() {
    answered(r#"{"jsonrpc":"2.0","id":"{id}","result":{"stopReason":"end_turn"}}"#).await;
}

/// What the client is sent when the agent writes a line with this command.
async fn sent_on(command: &str, expected: &str) {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let script = format!("{command}\nnever");
    chain.process.turn(&script).await;
    chain.transcript.assert(&format!(
        r#"
        client → {{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{}}}
        client ← {expected}
        "#,
        prompt("s", &script),
    ));
    chain.goes_on().await;
    chain.ends_well(&[]).await;
}

#[tokio::test]
async fn an_answer_without_an_outcome_is_an_empty_result() {
    sent_on(
        r#"raw {"jsonrpc":"2.0","id":{id}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
    )
    .await;
    sent_on(
        r#"raw {"id":{id},"error":null,"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
    )
    .await;
}

/// Some clients take any answer with a result for a success, and refuse one with a result and an error.
#[tokio::test]
async fn an_answer_of_software_that_writes_all_members_has_one_outcome() {
    sent_on(
        r#"raw {"jsonrpc":"2.0","id":{id},"result":null,"error":{"code":-32000,"message":"busy"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"busy"}}"#,
    )
    .await;
    sent_on(
        r#"raw {"jsonrpc":"2.0","id":{id},"method":null,"params":null,"result":{"stopReason":"end_turn"},"error":null}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
    )
    .await;
}

/// Clients of some SDKs read no answer in one whose error is not as JSON-RPC has it.
#[tokio::test]
async fn an_error_without_a_number_or_a_text_arrives_with_both() {
    sent_on(
        r#"raw {"jsonrpc":"2.0","id":{id},"error":"busy"}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"busy"}}"#,
    )
    .await;
    sent_on(
        r#"raw {"jsonrpc":"2.0","id":{id},"error":{"code":"ENOENT","message":"gone"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"gone","data":{"code":"ENOENT","message":"gone"}}}"#,
    )
    .await;
}

#[tokio::test]
async fn strings_that_are_not_utf8_arrive_with_replacement_characters() {
    sent_on(
        "latin1 {\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"stopReason\":\"end_turn\",\"x\":\"caf\u{e9}\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"stopReason\":\"end_turn\",\"x\":\"caf\u{fffd}\"}}",
    )
    .await;
}

#[tokio::test]
async fn control_characters_in_strings_arrive_escaped() {
    sent_on(
        "raw {\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"stopReason\":\"end_turn\",\"x\":\"a\tb\"}}",
        r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn","x":"a\u0009b"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_file_that_is_not_utf8_reaches_the_agent() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let id = chain.process.prompt("read /x");
    let asked = chain.process.wire.receive().await.unwrap();
    let asked = asked.id.unwrap();
    let mut line =
        format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{{"content":"caf"#).into_bytes();
    line.extend(b"\xe9\"}}\n");
    chain.process.wire.send_bytes(line);
    chain.process.wire.response(&id).await;
    assert_eq!(chain.process.chunks(), ["caf\u{fffd}"]);
    chain.goes_on().await;
    chain.ends_well(&[]).await;
}

#[tokio::test]
async fn updates_of_software_that_writes_all_members_arrive() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let update = |text: &str| {
        format!(
            r#"raw {{"jsonrpc":"2.0","id":null,"method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}},"result":null,"error":null}}"#
        )
    };
    let script = format!("{}\n{}\necho three", update("one"), update("two"));
    chain.process.turn(&script).await;
    assert_eq!(chain.process.chunks(), ["one", "two", "three"]);
    let [one, ..] = &chain.transcript.received("client")[..] else {
        panic!("{}", chain.transcript)
    };
    assert_eq!(
        one,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"one"}}}}"#
    );
    chain.goes_on().await;
    chain.ends_well(&[]).await;
}

#[tokio::test]
async fn a_client_that_writes_so_is_answered() {
    for (line, is_prompt) in [
        (r#"{"id":"a","method":"session/list"}"#, false),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":"session/list","params":null,"result":null,"error":null}"#,
            false,
        ),
        (
            "{\n\"jsonrpc\":\"2.0\",\n\"id\":\"a\",\n\"method\":\"session/list\"}",
            false,
        ),
        (
            "\x1b[0m{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"session/list\"}",
            false,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"_note"}{"jsonrpc":"2.0","id":"a","method":"session/prompt","params":P}"#,
            true,
        ),
    ] {
        let mut chain = Chain::initialized(&[]).await.unwrap();
        chain.send(line.replace('P', &prompt("s", "echo on")));
        let answer = chain.process.wire.response(r#""a""#).await;
        let result = answer
            .result
            .unwrap_or_else(|| panic!("{line}: {}", answer.line));
        assert_eq!(result.contains("stopReason"), is_prompt, "{result}");
        chain.goes_on().await;
    }
}
