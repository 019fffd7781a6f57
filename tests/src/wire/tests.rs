//! Two ends that are connected in memory.

use tokio::io::duplex;

use super::*;

/// A client and an agent with nothing between them.
fn pair(transcript: &Transcript) -> (Wire, Wire) {
    let (near, far) = duplex(1 << 12);
    (
        Wire::over("client", transcript, near),
        Wire::over("agent", transcript, far),
    )
}

#[tokio::test]
async fn a_request_is_answered_by_the_closure_of_the_other_end() {
    let transcript = Transcript::new();
    let (mut client, agent) = pair(&transcript);
    let agent = agent.answering(|message| {
        let mut lines = vec![envelope::notification("session/update", "{}")];
        lines.extend(message.result(r#"{"n":1e400}"#));
        lines
    });
    let agent = tokio::spawn(agent.serve());
    let answer = client.request("session/prompt", r#"{"a":1}"#).await;
    assert_eq!(answer.result.as_deref(), Some(r#"{"n":1e400}"#));
    let rest = client.finish().await;
    assert_eq!(rest[0].method.as_deref(), Some("session/update"));
    agent.await.unwrap();
    transcript.assert(
        r#"
        client → {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"a":1}}
        agent  ← {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"a":1}}
        agent  → {"jsonrpc":"2.0","method":"session/update","params":{}}
        agent  → {"jsonrpc":"2.0","id":1,"result":{"n":1e400}}
        client ← {"jsonrpc":"2.0","method":"session/update","params":{}}
        client ← {"jsonrpc":"2.0","id":1,"result":{"n":1e400}}
        "#,
    );
}

#[tokio::test]
async fn answers_can_be_awaited_in_any_order_and_nothing_is_lost() {
    let transcript = Transcript::new();
    let (mut client, mut agent) = pair(&transcript);
    let one = client.ask("a", "{}");
    let two = client.ask("b", "{}");
    for line in agent.receive().await.unwrap().result("1") {
        agent.send(line);
    }
    agent.notify("between", "null");
    for line in agent.receive().await.unwrap().result("2") {
        agent.send(line);
    }
    assert_eq!(client.response(&two).await.result.as_deref(), Some("2"));
    assert_eq!(client.response(&one).await.result.as_deref(), Some("1"));
    let between = client.receive().await.unwrap();
    assert_eq!(between.method.as_deref(), Some("between"));
}

#[tokio::test]
async fn lines_pass_as_they_are_and_the_last_needs_no_line_feed() {
    let transcript = Transcript::new();
    let (mut client, mut agent) = pair(&transcript);
    client.send("not JSON\r");
    client.send_bytes("cut in m");
    client.close();
    assert_eq!(agent.line().await.as_deref(), Some("not JSON\r"));
    assert_eq!(agent.line().await.as_deref(), Some("cut in m"));
    assert_eq!(agent.line().await, None);
    assert_eq!(transcript.sent("client"), transcript.received("agent"));
}

#[tokio::test]
async fn ends_that_send_much_at_the_same_time_do_not_block_each_other() {
    let transcript = Transcript::new();
    let (mut client, mut agent) = pair(&transcript);
    let big = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 22));
    client.notify("a", &big);
    agent.notify("b", &big);
    assert_eq!(client.receive().await.unwrap().params, Some(big.clone()));
    assert_eq!(agent.receive().await.unwrap().params, Some(big));
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "client → {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"")]
async fn the_watchdog_ends_a_wait_and_prints_the_transcript() {
    let transcript = Transcript::new();
    let (mut client, _agent) = pair(&transcript);
    client.request("x", "{}").await;
}

#[tokio::test]
#[should_panic(expected = "the end came before the answer to 1")]
async fn an_answer_that_never_comes_is_a_failure() {
    let transcript = Transcript::new();
    let (mut client, agent) = pair(&transcript);
    drop(agent);
    client.request("x", "{}").await;
}
