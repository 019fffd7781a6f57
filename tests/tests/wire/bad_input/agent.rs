//! Bad input from the agent.

use acp_chain_tests::client::prompt;

use crate::bad_input::{Chain, LIMIT, MEMORY};

#[tokio::test]
async fn a_line_of_the_agent_that_is_no_message_is_dropped_and_the_user_is_told_once() {
    let mut chain = Chain::initialized(&["--garbage"]).await.unwrap();
    chain
        .process
        .turn("garbage\nraw []\nraw 7\nlatin1 caf\u{e9}\nraw {\"jsonrpc\":\"1.0\",\"method\":\"x\"}\necho on")
        .await;
    let [told, on, _] = &chain.transcript.received("client")[..] else {
        panic!("{}", chain.transcript)
    };
    let cause = "a line of the agent is lost: the message is not JSON";
    assert!(told.contains(cause), "{}", chain.transcript);
    assert!(on.contains(r#""text":"on""#), "{}", chain.transcript);
    chain.goes_on().await;
    chain
        .ends_well(&[
            "a line of the agent is lost: the message is not JSON",
            "a line of the agent is lost: version 1 of the Agent Client Protocol has no batches",
            "a line of the agent is lost: the message is not UTF-8",
            "a line of the agent is lost: the message lacks",
        ])
        .await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_the_wait_for_it() {
    for (line, why) in [
        (
            r#"raw {"jsonrpc":"2.0","id":{id},"result":{]}"#,
            "the message is not JSON: ",
        ),
        (
            r#"raw {"result":{"id":77},"id":{id},"jsonrpc":"2.0"]"#,
            "the message is not JSON: ",
        ),
        (
            r#"raw {"jsonrpc":"2.0","result":{"a":tru},"id":{id}}"#,
            "the message is not JSON: ",
        ),
        (
            r#"raw {"jsonrpc":"2.0","id":{id},"result":{"#,
            "the message is not JSON: ",
        ),
        (
            "latin1 {\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":caf\u{e9}}",
            "the message is not UTF-8: ",
        ),
        (
            r#"raw {"jsonrpc":"1.0","id":{id},"result":{}}"#,
            "the message lacks ",
        ),
        (
            r#"raw {"jsonrpc":"2.0","id":{id},"level":"info"}"#,
            "the message has no method, result or error",
        ),
        (
            r#"raw {"jsonrpc":"2.0","id":{id},"result":1,"error":{}}"#,
            "a response has a result or an error, not both",
        ),
    ] {
        let mut chain = Chain::initialized(&[]).await.unwrap();
        let answer = chain.process.turn(&format!("{line}\nnever")).await;
        let lost = r#"{"code":-32603,"message":"acp-chain: the answer of the agent is lost: "#;
        let error = answer.error.unwrap();
        assert!(
            error.starts_with(&format!("{lost}{why}")),
            "{line}\n{error}"
        );
        chain.goes_on().await;
        chain.ends_well(&["a line of the agent is lost"]).await;
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_ends_the_wait_for_it() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    let answer = chain.process.turn(&format!("bulk {LIMIT}")).await;
    let error = answer.error.unwrap();
    assert!(
        error.contains("the answer of the agent is lost: a message of 6"),
        "{error}"
    );
    chain
        .process
        .turn(&format!("line {}\necho on", LIMIT + 1))
        .await;
    let chunks = chain.process.chunks();
    assert!(chunks[0].contains("a line of the agent is lost: a message of 6"));
    assert_eq!(chunks[1..], ["on"]);
    let peak = chain.process.peak_memory().unwrap();
    assert!(peak < MEMORY, "{peak} bytes");
    chain.goes_on().await;
}

#[tokio::test]
async fn a_client_answer_that_cannot_be_read_ends_the_agents_wait_for_it() {
    let mut chain = Chain::initialized(&["--ids", "uuid"]).await.unwrap();
    let id = chain.process.prompt("read /x");
    let asked = chain.process.wire.receive().await.unwrap();
    let asked = asked.id.unwrap();
    chain.send(format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{{]}}"#));
    chain.process.wire.response(&id).await;
    let [told] = &chain.process.chunks()[..] else {
        panic!("{}", chain.transcript)
    };
    assert!(
        told.starts_with(
            r#"error {"code":-32603,"message":"acp-chain: the answer of the client is lost"#
        ),
        "{told}"
    );
    chain.goes_on().await;
}

#[tokio::test]
async fn answers_of_the_agent_to_nobody_or_once_too_often_are_dropped() {
    let mut chain = Chain::initialized(&[]).await.unwrap();
    chain.process.turn("unknown\ntwice").await;
    chain
        .process
        .turn("raw {\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"first\":true}}")
        .await;
    chain.goes_on().await;
    chain.transcript.assert(&format!(
        r#"
        client → {{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{}}}
        client ← {{…"text":"\n\n**acp-chain**: dropped a response of the agent to no open request: id \"an-id-that-nobody-used\". …"…}}
        client ← {{"jsonrpc":"2.0","id":2,"result":{{"stopReason":"end_turn"}}}}
        client → …
        client ← {{"jsonrpc":"2.0","id":3,"result":{{"first":true}}}}
        client → {{"jsonrpc":"2.0","id":"on","method":"session/list"}}
        client ← {{"jsonrpc":"2.0","id":"on","result":{{"sessions":[]}}}}
        "#,
        prompt("s", "unknown\ntwice"),
    ));
    let dropped = "dropped a response of the agent to no open request";
    chain
        .ends_well(&[dropped, r#"id "an-id-that-nobody-used""#])
        .await;
}
