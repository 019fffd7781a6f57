//! A proxy that does not start.

use acp_chain_tests::chain::{Chain, entry, error_of};
use acp_chain_tests::host;

use super::{AGENT, does};

const DECLINES: &str = "config.declines = 'not today'";

#[tokio::test]
async fn it_keeps_the_chain_from_starting_with_an_error_that_names_it() {
    // Also for a component whose own policy is `bypass`: it has not declared that policy yet.
    for policy in ["", "restart", "restart-then-bypass", "refuse"] {
        let policy = match policy {
            "" => String::new(),
            policy => format!("on-failure = '{policy}'\n"),
        };
        let manifest = entry("does", "does", &(policy + DECLINES));
        let mut chain = Chain::start(&manifest, AGENT);
        let answer = chain.client.wire.request("initialize", "{}").await;
        let component = host::component("does");
        let expected = format!(
            "proxy `does` ({}): it did not start: it declines to start: not today",
            component.display()
        );
        let error = error_of(&answer);
        assert!(error.ends_with(&expected), "{error}\nlacks\n{expected}");
        let exit = chain.client.finish().await.unwrap();
        assert_eq!((exit.status.code(), &*exit.stderr), (Some(1), ""));
    }
}

#[tokio::test]
async fn with_bypass_the_chain_starts_without_it_and_the_user_is_told_in_the_first_turn() {
    let absent = entry(
        "absent",
        "does",
        &format!("on-failure = 'bypass'\n{DECLINES}"),
    );
    let manifest = absent + &does("");
    let mut chain = Chain::initialized(&manifest, AGENT).await;
    // The other proxy has started.
    assert_eq!(chain.request("test/count").await.result.unwrap(), "1");
    assert!(chain.notices().is_empty(), "there is no turn yet");
    for _ in 0..2 {
        chain.client.turn("echo hi").await;
        let [notice] = &chain.notices()[..] else {
            panic!("one notice, and no second")
        };
        let start = "the proxy `absent` did not start: it declines to start. \
                     It is bypassed.";
        assert!(notice.starts_with(start), "{notice}");
    }
    let log = chain.finish().await;
    let told = "the proxy `absent` did not start: it declines to start: not today";
    assert!(log.contains(told), "{log}");
}
