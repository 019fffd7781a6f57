//! The notices that the user gets in the client.

use super::chain;

const REASON: &str = "the proxy `does` broke: wasm trap: wasm `unreachable` instruction executed";

#[tokio::test]
async fn the_user_is_told_once_and_once_more_when_it_is_given_up() {
    let mut chain = chain("on-failure = 'restart'\nlimits.restarts = 2").await;
    let log = chain.log_file();
    let log = log.display();
    chain.client.turn("echo all is well").await;
    assert!(chain.notices().is_empty());

    // Outside of a turn, no notice can be sent.
    chain.refused("test/panic").await;
    assert!(chain.notices().is_empty());
    chain.client.turn("echo on").await;
    let first = format!("{REASON}. It is restarted. More is in {log}.");
    assert_eq!(chain.notices(), [&*first]);

    chain.refused("test/panic").await;
    chain.client.turn("echo on").await;
    assert_eq!(chain.notices(), [&*first], "no second notice");

    chain.refused("test/panic").await;
    chain.client.turn("echo on").await;
    let last = format!(
        "{REASON}. It is given up: from now on, the messages that it should see are refused. More is in {log}."
    );
    assert_eq!(chain.notices(), [&*first, &*last]);
    chain.refused("test/seen").await;
    chain.client.turn("echo on").await;
    assert_eq!(chain.notices().len(), 2, "never again");
}

#[tokio::test]
async fn in_an_open_turn_the_user_is_told_at_once() {
    for (policy, fate) in [
        ("bypass", "all messages pass without it"),
        ("refuse", "the messages that it should see are refused"),
    ] {
        let mut chain = chain(&format!("on-failure = '{policy}'")).await;
        let turn = chain.client.prompt("wait");
        chain.refused("test/panic").await;
        // The notice comes before the answer to the request at which the proxy broke, from the host or from
        // the agent.
        let log = chain.log_file();
        let log = log.display();
        assert_eq!(
            chain.notices(),
            [format!(
                "{REASON}. It is given up: from now on, {fate}. More is in {log}."
            )]
        );
        let lines = chain.client.wire.transcript().received("client");
        let notice = lines.iter().find(|line| line.contains("**acp-chain**"));
        assert!(notice.unwrap().contains(r#""sessionId":"s""#), "{lines:?}");
        chain
            .client
            .wire
            .notify("session/cancel", r#"{"sessionId":"s"}"#);
        chain.client.wire.response(&turn).await;
        assert_eq!(chain.notices().len(), 1);
    }
}
