//! Native proxies among components, in any order, in front of an agent with habits.

use acp_chain_tests::chain::entry;
use acp_chain_tests::envelope::Message;

use crate::native::{initialized, program};

fn component(id: &str) -> String {
    entry(id, "pass", "")
}

/// A turn in which the agent streams, sends a request, and shows what it received.
async fn a_turn_passes(manifest: &str, agent: &[&str]) {
    let mut chain = initialized(manifest, agent).await;
    let client = &mut chain.client;
    let text = "stream 20 word\nask _test/asked {\"n\": 1e400}\nupdate {\"sessionUpdate\":\"x\",\"n\":-0.0}";
    let id = client.prompt(text);
    let asked = loop {
        let message = client.wire.receive().await.expect("a message");
        if message.method.as_deref() == Some("_test/asked") {
            break message;
        }
    };
    for line in asked.result(r#"{"s":"\u00e9"}"#) {
        client.wire.send(line);
    }
    let end: Message = client.wire.response(&id).await;
    assert_eq!(
        end.result.as_deref(),
        Some(r#"{"stopReason":"end_turn"}"#),
        "{}",
        end.line
    );
    assert_eq!(
        asked
            .params
            .as_deref()
            .map(|params| params.replace(' ', ""))
            .as_deref(),
        Some(r#"{"n":1e400}"#)
    );
    let mut expected: Vec<_> = (0..20).map(|count| format!("word {count}")).collect();
    expected.push(r#"result {"s":"\u00e9"}"#.to_owned());
    assert_eq!(client.chunks(), expected);
    let received = client.wire.transcript().received("client");
    assert!(received.iter().any(|line| line.contains(r#""n":-0.0"#)));
    chain.finish().await;
}

#[tokio::test]
async fn a_turn_passes_one_native_proxy() {
    a_turn_passes(&program("n", &[], ""), &[]).await;
}

#[tokio::test]
async fn a_turn_passes_a_native_proxy_between_two_components() {
    let manifest = component("one") + &program("n", &["--strings"], "") + &component("two");
    a_turn_passes(&manifest, &["--ids", "zero"]).await;
}

#[tokio::test]
async fn a_turn_passes_a_component_between_two_native_proxies() {
    let manifest = program("a", &[], "") + &component("c") + &program("b", &["--strings"], "");
    a_turn_passes(&manifest, &["--result-first"]).await;
}

#[tokio::test]
async fn a_turn_passes_proxies_of_every_dialect() {
    let manifest = program("older", &["--older"], "")
        + &program("told", &["--older"], "dialect = '_proxy'")
        + &program("meta", &[], "dialect = 'proxy-meta'")
        + &program("today", &[], "dialect = 'proxy'");
    a_turn_passes(&manifest, &[]).await;
}

#[tokio::test]
async fn the_log_says_which_dialect_was_found() {
    let chain = initialized(&program("n", &["--older"], ""), &[]).await;
    let log = chain.finish().await;
    assert!(
        log.contains("the proxy `n` does not support proxy/initialize; trying _proxy/initialize"),
        "{log}"
    );
    assert!(
        log.contains("the proxy `n` speaks the dialect `_proxy`"),
        "{log}"
    );
}

#[tokio::test]
async fn a_huge_line_and_a_burst_pass_a_native_proxy() {
    let mut chain = initialized(&program("n", &[], ""), &[]).await;
    let end = chain.client.turn("line 8000000\nstream 20000 x").await;
    assert!(end.result.is_some(), "{}", end.line);
    assert_eq!(chain.client.chunks().len(), 20_000);
    let received = chain.client.wire.transcript().received("client");
    assert!(received.iter().any(|line| line.len() >= 8_000_000));
    chain.finish().await;
}

#[tokio::test]
async fn a_cancelled_turn_ends_behind_components_and_native_proxies() {
    let manifest = component("one") + &program("n", &["--strings"], "") + &component("two");
    let mut chain = initialized(&manifest, &[]).await;
    let id = chain.client.prompt("wait");
    let cancel = format!(r#"{{"requestId":{id}}}"#);
    chain.client.wire.notify("$/cancel_request", &cancel);
    let end = chain.client.wire.response(&id).await;
    assert!(
        end.error.is_some_and(|error| error.contains("-32800")),
        "{}",
        end.line
    );
    chain.finish().await;
}

#[tokio::test]
async fn while_the_client_does_not_read_memory_does_not_grow() {
    let manifest = program("a", &[], "") + &component("c") + &program("b", &[], "");
    let mut chain = initialized(&manifest, &[]).await;
    let text = "line 200000\n".repeat(500) + "permission edit Edit /a";
    let id = chain.client.prompt(&text);
    // By now the agent is far ahead if nothing holds it back.
    for _ in 0..100 {
        chain.client.wire.bytes().await.expect("a line");
    }
    let peak = chain.client.peak_memory().expect("still running");
    assert!(peak < 64 << 20, "{peak} bytes");
    let asked = loop {
        let message = chain.client.wire.receive().await.expect("a message");
        if message.method.as_deref() == Some("session/request_permission") {
            break message;
        }
    };
    for line in asked.result(r#"{"outcome":{"outcome":"cancelled"}}"#) {
        chain.client.wire.send(line);
    }
    let end = chain.client.wire.response(&id).await;
    assert!(end.result.is_some(), "{}", end.line);
    let peak = chain.client.peak_memory().expect("still running");
    assert!(peak < 64 << 20, "{peak} bytes");
    chain.finish().await;
}
