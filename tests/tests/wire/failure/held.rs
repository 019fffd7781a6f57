//! A message that a proxy holds for too long.

use acp_chain_tests::chain::{Chain, entry};

use super::{AGENT, chain};

#[tokio::test]
async fn it_is_taken_from_it_and_goes_the_way_of_its_policy() {
    for (policy, goes_on) in [
        ("restart", false),
        ("restart-then-bypass", false),
        ("refuse", false),
        ("bypass", true),
    ] {
        let terms = format!("on-failure = '{policy}'\nlimits.hold-time = '50 ms'");
        let mut chain = chain(&terms).await;
        chain.request("test/count").await;
        let error = chain.refused("test/hold").await;
        let expected = if goes_on {
            "Method not found: test/hold"
        } else {
            "acp-chain: the proxy `does` failed on test/hold: it held the message for too long"
        };
        assert_eq!(error, expected, "{policy}");
        // The proxy keeps its state: this failure does not end it.
        assert_eq!(chain.request("test/count").await.result.unwrap(), "2");
        chain.client.turn("echo done").await;
        assert_eq!(chain.client.chunks(), ["done"], "{policy}");
        chain.finish().await;
    }
}

#[tokio::test]
async fn what_waits_behind_a_held_notification_comes_through() {
    let config = "[proxy.config.notifications]\n'session/update' = ['hold']";
    let told = "the proxy `does` failed on session/update: it held the message for too long; it is refused: ";
    for (policy, chunks) in [("refuse", 0), ("bypass", 2)] {
        let terms = format!("on-failure = '{policy}'\nlimits.hold-time = '50 ms'\n{config}");
        let mut chain = Chain::initialized(&entry("does", "does", &terms), AGENT).await;
        let answer = chain.client.turn("stream 2").await;
        assert!(answer.result.is_some(), "{}", answer.line);
        // Only the first lost message is reported.
        let notices = chain.notices();
        assert_eq!(notices.len(), usize::from(chunks == 0), "{notices:?}");
        assert!(
            notices.iter().all(|notice| notice.starts_with(told)),
            "{notices:?}"
        );
        assert_eq!(
            chain.client.chunks().len(),
            chunks + notices.len(),
            "{policy}"
        );
        chain.finish().await;
    }
}
