//! A proxy that is given up, at once or when it breaks too often.

use acp_chain_tests::chain::{Chain, entry, error_of};

use super::{AGENT, chain, does};

/// Breaks the proxy while it holds a message. Returns whether the held message and the one that broke the
/// proxy reached the agent; this must be the same for both.
async fn breaks_open(chain: &mut Chain) -> bool {
    let held = chain.client.wire.ask("test/hold", "{}");
    let broke = chain.refused("test/panic").await;
    let held = error_of(&chain.client.wire.response(&held).await);
    let open = broke == "Method not found: test/panic";
    if open {
        assert_eq!(held, "Method not found: test/hold");
    } else {
        let refused = |method| format!("acp-chain: the proxy `does` failed on {method}: ");
        assert!(broke.starts_with(&refused("test/panic")), "{broke}");
        assert!(held.starts_with(&refused("test/hold")), "{held}");
    }
    open
}

/// Messages that the proxy would see bypass it.
async fn is_bypassed(mut chain: Chain) {
    for method in ["test/seen", "test/count", "test/panic"] {
        chain.reaches_the_agent(method).await;
    }
    chain.finish().await;
}

/// Messages that the proxy would see are refused; the others pass.
async fn refuses(mut chain: Chain) {
    for method in ["test/seen", "test/count", "test/panic"] {
        let error = chain.refused(method).await;
        let start = format!("acp-chain: the proxy `does` failed on {method}: it broke before: ");
        assert!(error.starts_with(&start), "{error}");
    }
    chain.reaches_the_agent("test/unseen").await;
    chain.finish().await;
}

#[tokio::test]
async fn with_bypass_what_it_had_goes_on_and_all_passes_it_by() {
    let mut chain = chain("on-failure = 'bypass'").await;
    assert!(breaks_open(&mut chain).await);
    is_bypassed(chain).await;
}

#[tokio::test]
async fn with_refuse_what_it_had_and_would_see_is_refused() {
    let mut chain = chain("on-failure = 'refuse'").await;
    assert!(!breaks_open(&mut chain).await);
    refuses(chain).await;
}

#[tokio::test]
async fn with_restart_it_is_given_up_when_it_breaks_too_often() {
    let mut chain = chain("on-failure = 'restart'\nlimits.restarts = 2").await;
    for count in ["1", "2"] {
        assert!(!breaks_open(&mut chain).await);
        assert_eq!(chain.request("test/count").await.result.unwrap(), count);
    }
    assert!(!breaks_open(&mut chain).await);
    refuses(chain).await;
}

#[tokio::test]
async fn with_restart_then_bypass_all_passes_it_by_when_it_breaks_too_often() {
    let mut chain = chain("on-failure = 'restart-then-bypass'\nlimits.restarts = 1").await;
    assert!(!breaks_open(&mut chain).await);
    assert_eq!(chain.request("test/count").await.result.unwrap(), "1");
    assert!(!breaks_open(&mut chain).await);
    is_bypassed(chain).await;
}

#[tokio::test]
async fn a_start_that_fails_counts_and_what_waits_for_it_is_refused_in_the_end() {
    let restarts = "on-failure = 'restart'\nlimits.restarts = 2\nconfig.breaks-again = true";
    let mut chain = chain(restarts).await;
    chain.request("test/count").await;
    chain.refused("test/panic").await;
    refuses(chain).await;
}

#[tokio::test]
async fn without_the_key_the_components_own_word_counts() {
    // The policy of `does` itself is `bypass`.
    let mut chain = chain("").await;
    assert!(breaks_open(&mut chain).await);
    is_bypassed(chain).await;

    // `pass` sets no policy, so the default `restart` applies.
    let mut chain = Chain::initialized(&entry("pass", "pass", ""), AGENT).await;
    let error = chain.refused("test/panic").await;
    assert!(error.contains("`pass` failed on test/panic"), "{error}");
    chain.reaches_the_agent("test/other").await;

    // The policy of `redact` itself is `refuse`: it breaks when a call carries more to the host than its limit.
    let redact = entry("redact", "redact", "limits.call-bytes = '64 KiB'");
    let mut chain = Chain::initialized(&redact, AGENT).await;
    let long = format!("AKIAIOSFODNN7EXAMPLQ {}", "x".repeat(1 << 17));
    for text in [&*long, "hi"] {
        let error = error_of(&chain.client.turn(text).await);
        let start = "acp-chain: the proxy `redact` failed on session/prompt: ";
        assert!(error.starts_with(start), "{error}");
    }
}

#[tokio::test]
async fn the_manifest_overrides_the_components_own_word() {
    let mut chain = chain("on-failure = 'refuse'").await;
    assert!(!breaks_open(&mut chain).await);

    let manifest = entry("pass", "pass", "on-failure = 'bypass'");
    let mut chain = Chain::initialized(&manifest, AGENT).await;
    chain.reaches_the_agent("test/panic").await;
}

#[tokio::test]
async fn a_broken_proxy_does_not_concern_its_neighbours() {
    let neighbour = |id| {
        let terms = "[proxy.config.requests]\n";
        entry(
            id,
            "does",
            &format!("{terms}'{id}/count' = ['count', 'respond-count']"),
        )
    };
    let broken = does("on-failure = 'refuse'");
    let manifest = [neighbour("before"), broken, neighbour("behind")].concat();
    let mut chain = Chain::initialized(&manifest, AGENT).await;
    assert!(!breaks_open(&mut chain).await);
    for method in ["before/count", "behind/count"] {
        for count in ["1", "2"] {
            assert_eq!(chain.request(method).await.result.unwrap(), count);
        }
    }
}
