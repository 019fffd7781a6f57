//! Several messages in one line (JSON-RPC 2.0 §6; version 2 of the protocol has them, RFD v2: overview), and
//! answers in places where none belongs.

use acp_chain_tests::host::InProcess;
use acp_chain_tests::wire::Wire;

const V1: &str = r#"{"protocolVersion":1}"#;
const V2: &str = r#"{"protocolVersion":2,"capabilities":{}}"#;

async fn next(wire: &mut Wire) -> String {
    wire.line().await.expect("a line")
}

fn say(wire: &mut Wire, line: &str) {
    wire.send(line.to_owned());
}

#[tokio::test]
async fn the_messages_of_a_batch_go_on_one_by_one_and_their_answers_leave_together() {
    for proxies in [&[][..], &[("pass", "{}"); 2]] {
        let mut chain = InProcess::initialized_with(proxies, V2).await;
        say(
            &mut chain.client,
            r#"[{"jsonrpc":"2.0","id":"a","method":"_one"},{"jsonrpc":"2.0","method":"_told"},7,{"jsonrpc":"2.0","id":"b","method":"_two"}]"#,
        );
        let mut ids = Vec::new();
        for expected in ["_one", "_told", "_two"] {
            let asked = chain.agent.receive().await.unwrap();
            assert_eq!(asked.method.as_deref(), Some(expected));
            ids.push(asked);
        }
        for (asked, result) in [(&ids[2], "2"), (&ids[0], "1")] {
            for line in asked.result(result) {
                chain.agent.send(line);
            }
        }
        assert_eq!(
            next(&mut chain.client).await,
            concat!(
                r#"[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is a JSON object"}},"#,
                r#"{"jsonrpc":"2.0","id":"b","result":2},{"jsonrpc":"2.0","id":"a","result":1}]"#
            )
        );
    }
}

#[tokio::test]
async fn an_agent_answers_and_asks_in_one_line() {
    let mut chain = InProcess::initialized_with(&[("pass", "{}")], V2).await;
    let id = chain.client.ask("_ask", "{}");
    let asked = chain.agent.receive().await.unwrap();
    let number = asked.id.as_deref().unwrap();
    say(
        &mut chain.agent,
        &format!(
            r#"[{{"jsonrpc":"2.0","method":"_news"}},{{"jsonrpc":"2.0","id":{number},"result":"r"}},{{"jsonrpc":"2.0","id":0,"method":"_own"}}]"#
        ),
    );
    assert_eq!(
        next(&mut chain.client).await,
        r#"{"jsonrpc":"2.0","method":"_news"}"#
    );
    assert_eq!(
        next(&mut chain.client).await,
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"r"}}"#)
    );
    let own = chain.client.receive().await.unwrap();
    for line in own.result("null") {
        chain.client.send(line);
    }
    assert_eq!(
        next(&mut chain.agent).await,
        r#"[{"jsonrpc":"2.0","id":0,"result":null}]"#
    );
}

#[tokio::test]
async fn a_batch_that_is_none_is_refused() {
    let many = format!("[7{}]", ",7".repeat(4096));
    for line in ["[]", &many] {
        let mut chain = InProcess::initialized_with(&[], V2).await;
        say(&mut chain.client, line);
        let refused = next(&mut chain.client).await;
        assert!(
            refused.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#),
            "{refused}"
        );
    }
}

/// The client answers a request of the agent with this line, in version 1. Returns the line that the agent receives.
async fn answered(answer: &str) -> String {
    let mut chain = InProcess::initialized_with(&[("pass", "{}")], V1).await;
    say(
        &mut chain.agent,
        r#"{"jsonrpc":"2.0","id":"q","method":"_ask"}"#,
    );
    let asked = chain.client.receive().await.unwrap();
    let number = asked.id.as_deref().unwrap();
    say(&mut chain.client, &answer.replace("ID", number));
    next(&mut chain.agent).await
}

#[tokio::test]
async fn an_answer_reaches_whoever_waits_for_it_however_it_is_wrapped() {
    let answer = r#"{"jsonrpc":"2.0","id":"q","result":1}"#;
    for line in [
        r#"[{"jsonrpc":"2.0","id":ID,"result":1}]"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"_m"},{"jsonrpc":"2.0","id":ID,"result":1}]"#,
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":1}",
    ] {
        assert_eq!(answered(line).await, answer, "{line}");
    }
}

#[tokio::test]
async fn whoever_waits_for_an_answer_that_is_lost_is_told() {
    for line in [
        r#"{"jsonrpc":"2.0","id":ID,"method":"_m","result":1}"#,
        r#"[{"jsonrpc":"2.0","id":ID,"method":"_m","result":1}]"#,
        r#"[{"jsonrpc":"1.0","id":ID,"result":1}]"#,
        "\u{feff}{\"jsonrpc\":\"1.0\",\"id\":ID,\"result\":1}",
    ] {
        let answer = answered(line).await;
        let told = r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32603,"message":"acp-chain: the answer of the client is lost: "#;
        assert!(answer.starts_with(told), "{line}: {answer}");
    }
}
