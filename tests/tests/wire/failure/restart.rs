//! A proxy that is restarted.

use acp_chain_tests::chain::{Chain, error_of};

use super::{AGENT, chain, does};

const RESTART: &str = "on-failure = 'restart'";

#[tokio::test]
async fn what_it_had_is_refused_by_its_name_and_it_serves_the_next_message() {
    for (way, reason) in [
        (
            "test/panic",
            "wasm trap: wasm `unreachable` instruction executed",
        ),
        ("test/spin", "it computed longer than 2s, its limit `time`"),
        ("test/grow", "it needs more than 64 MiB of memory"),
    ] {
        let mut chain = chain(RESTART).await;
        let held = chain.client.wire.ask("test/hold", "{}");
        let broke = chain.refused(way).await;
        let held = error_of(&chain.client.wire.response(&held).await);
        for (error, method) in [(held, "test/hold"), (broke, way)] {
            let start = format!("acp-chain: the proxy `does` failed on {method}: ");
            assert!(
                error.starts_with(&start) && error.contains(reason),
                "{error}"
            );
        }
        let answer = chain.request("test/count").await;
        assert_eq!(answer.result.as_deref(), Some("1"));
        chain.finish().await;
    }
}

#[tokio::test]
async fn what_it_saved_is_restored_and_what_the_failed_call_saved_is_not() {
    let config = "
        'test/count-and-panic' = ['count', { break = 'panic' }]";
    let mut chain = Chain::initialized(&(does(RESTART) + config), AGENT).await;
    chain.request("test/count").await;
    chain.request("test/count").await;
    chain.refused("test/count-and-panic").await;
    assert_eq!(chain.request("test/read").await.result.unwrap(), "2");
    chain.refused("test/panic").await;
    assert_eq!(chain.request("test/count").await.result.unwrap(), "3");
}

#[tokio::test]
async fn messages_that_come_meanwhile_are_answered_in_order() {
    let mut chain = chain(RESTART).await;
    let methods = [
        "test/panic",
        "test/count",
        "test/seen",
        "test/count",
        "test/hold",
        "test/read",
        "test/panic",
        "test/read",
    ];
    let ids = methods.map(|method| chain.client.wire.ask(method, "{}"));
    for id in &ids {
        chain.client.wire.response(id).await;
    }
    let lines = chain.client.wire.transcript().received("client");
    let expected = [
        r#""id":2,"error":{"code":-32603,"message":"acp-chain: the proxy `does` failed on test/panic"#,
        r#""id":3,"result":1"#,
        r#""id":5,"result":2"#,
        r#""id":7,"result":2"#,
        r#""id":6,"error":{"code":-32603,"message":"acp-chain: the proxy `does` failed on test/hold"#,
        r#""id":8,"error":{"code":-32603,"message":"acp-chain: the proxy `does` failed on test/panic"#,
        r#""id":9,"result":2"#,
    ];
    // The agent's answer may come at any point.
    let agents = r#""id":4,"error":{"code":-32601"#;
    let (agents, ours): (Vec<_>, Vec<_>) = lines
        .iter()
        .partition(|line: &&String| line.contains(agents));
    assert_eq!((agents.len(), ours.len()), (1, expected.len()), "{lines:?}");
    for (line, expected) in ours.iter().zip(expected) {
        assert!(line.contains(expected), "{line}\nis not\n{expected}");
    }
}

#[tokio::test]
async fn what_it_asked_itself_is_withdrawn() {
    let mut chain = chain(RESTART).await;
    let waits = chain.client.wire.ask("test/ask", "{}");
    let asked = chain.client.wire.receive().await.unwrap();
    assert_eq!(asked.method.as_deref(), Some("test/asked"));
    chain.client.wire.ask("test/panic", "{}");
    let withdrawn = chain.client.wire.receive().await.unwrap();
    let id = asked.id.as_deref().unwrap();
    assert_eq!(
        withdrawn.line,
        format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
    );
    let refused = error_of(&chain.client.wire.response(&waits).await);
    assert!(refused.contains("`does` failed on test/ask"), "{refused}");

    // The late answer is discarded: its request is no longer open.
    chain.client.wire.send(&asked.result("1")[0]);
    let waits = chain.client.wire.ask("test/ask", "{}");
    let asked = loop {
        let message = chain.client.wire.receive().await.unwrap();
        if message.is_request() {
            break message;
        }
    };
    chain.client.wire.send(&asked.result(r#""in time""#)[0]);
    let error = error_of(&chain.client.wire.response(&waits).await);
    assert_eq!(error, "Method not found: test/ask");
    let log = chain.finish().await;
    assert!(log.contains(r#"the answer is "in time""#), "{log}");
    assert!(!log.contains("the answer is 1"), "{log}");
}
