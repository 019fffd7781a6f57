//! A proxy that breaks affects only the messages that it was to see: those are answered with an error that
//! names the cause, and everything else keeps working.

use std::time::Duration;

use acp_chain::limits::Limits;
use acp_chain_tests::host::{InProcess, limits, proxy, proxy_within};
use acp_chain_tests::transcript::Transcript;

/// Breaks the second of three proxies, which has these limits, with a request, and returns the error.
async fn broken_by(method: &str, limits: Limits) -> String {
    // The other proxies see only session methods, so the request that breaks the second does not reach them.
    let other = async |id| proxy(id, "shout-rust", "{}").await;
    let members = vec![
        other("shout-rust-0").await.into(),
        proxy_within(limits, "pass-1", "pass", "{}").await.into(),
        other("shout-rust-2").await.into(),
    ];
    let chain = InProcess::of(members, &Transcript::new());
    let mut chain = chain.initialize(r#"{"protocolVersion":1}"#).await;
    let waiting = chain.agent.ask("fs/read_text_file", "{}");
    let open = chain.client.receive().await.expect("the request");
    let broken = chain.client.request(method, r#"{"sessionId":"s"}"#).await;
    // The request that was open before gets an error, since the proxy was to see its answer; later requests
    // are refused at once.
    for line in open.result("null") {
        chain.client.send(line);
    }
    assert!(chain.agent.response(&waiting).await.error.is_some());
    let after = chain
        .client
        .request("session/prompt", r#"{"sessionId":"t"}"#)
        .await;
    let error = after.error.expect("an error");
    assert!(
        error.contains("`pass-1` failed on session/prompt"),
        "{error}"
    );
    broken.error.expect("an error")
}

#[tokio::test]
async fn a_proxy_that_is_busy_for_ever_is_stopped() {
    let error = broken_by("test/spin", limits()).await;
    assert!(
        error
            .contains("`pass-1` failed on test/spin: it computed longer than 2s, its limit `time`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_proxy_that_takes_all_memory_is_stopped() {
    // Enough time even on a busy machine.
    let limits = Limits {
        time: Duration::from_mins(1),
        ..limits()
    };
    let error = broken_by("test/grow", limits).await;
    assert!(
        error.contains("it needs more than 512 MiB of memory"),
        "{error}"
    );
}

#[tokio::test]
async fn a_proxy_that_panics_is_named() {
    let error = broken_by("test/panic", limits()).await;
    assert!(error.contains("`pass-1` failed on test/panic"), "{error}");
}
