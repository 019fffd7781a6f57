//! The client disconnects, or the program gets a signal to stop, while requests are open.

use std::fs;
use std::time::Duration;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::InProcess;
use acp_chain_tests::{envelope, host};
use rustix::process::Signal;
use tokio::time::{Instant, sleep};

use crate::agent_process::{AGENT, client};

#[tokio::test]
async fn a_client_that_closes_its_side_in_a_turn_still_gets_all_of_it() {
    for proxies in [0, 3] {
        let (mut client, _folder) = host::through(proxies, [AGENT]).unwrap();
        client.initialize().await;
        let id = client.prompt("stream 2000");
        let exit = client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
        assert_eq!(exit.rest.len(), 2001);
        assert!(exit.rest[2000].answers(&id) && exit.rest[2000].result.is_some());
    }
}

#[tokio::test]
async fn even_initialize_is_answered_when_the_client_closes_its_side_behind_it() {
    for proxies in [0, 3] {
        let (mut client, _folder) = host::through(proxies, [AGENT]).unwrap();
        client.wire.ask("initialize", "{}");
        client.wire.ask("session/new", "{}");
        let exit = client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
        let answers: Vec<_> = exit
            .rest
            .iter()
            .map(|message| message.result.is_some())
            .collect();
        assert_eq!(answers, [true, true]);
    }
}

#[tokio::test]
async fn a_client_that_asks_nothing_learns_on_standard_error_that_nothing_could_run() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = host::passes(folder.path(), 1).unwrap();
    let none = folder.path().join("none");
    let none = none.to_str().unwrap();
    for (options, code, told) in [
        (["--manifest", manifest.to_str().unwrap()], 0, None),
        (
            ["--manifest", none],
            1,
            Some(format!("acp-chain: {none}: ")),
        ),
        (
            ["--with", "none"],
            1,
            Some("acp-chain: --with none: ".to_owned()),
        ),
        (["--settings", none], 1, Some("acp-chain: ".to_owned())),
        (
            ["--project", none],
            1,
            Some(format!(
                "acp-chain: --project: there is no project at {none}: "
            )),
        ),
        (
            ["--trace", "/dev/null/trace"],
            2,
            Some("acp-chain: the trace file ".to_owned()),
        ),
    ] {
        let exit = client(host::run_with(options, [AGENT]));
        let exit = exit.finish().await.unwrap();
        assert_eq!(exit.status.code(), Some(code), "{options:?}: {exit:?}");
        match told {
            Some(told) => assert!(exit.stderr.starts_with(&told), "{options:?}: {exit:?}"),
            None => assert_eq!(exit.stderr, ""),
        }
        assert_eq!(
            exit.stderr.lines().count(),
            usize::from(code != 0),
            "{exit:?}"
        );
    }
}

#[tokio::test]
async fn a_client_that_asks_nothing_learns_on_standard_error_that_there_is_no_agent() {
    for (options, agent, code, told) in [
        (&[][..], &[][..], 2, "no agent is named; "),
        (&["nobody"], &[], 2, "no agent `nobody` is installed; "),
        (
            &[],
            &["no-such-agent"],
            127,
            "the agent command `no-such-agent` was not found; ",
        ),
    ] {
        let exit = client(host::run_with(options, agent));
        let exit = exit.finish().await.unwrap();
        assert_eq!(exit.status.code(), Some(code), "{exit:?}");
        let told = format!("acp-chain: {told}");
        assert!(exit.stderr.starts_with(&told), "{exit:?}");
    }
}

#[tokio::test]
async fn what_the_client_said_last_reaches_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    let received = folder.path().join("received");
    let manifest = host::passes(folder.path(), 3).unwrap();
    let mut client = client(host::run(
        Some(&manifest),
        host::recorded(&received, [AGENT]),
    ));
    client.initialize().await;
    for number in 0..1000 {
        client.wire.notify("vendor/last", &number.to_string());
    }
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success(), "{exit:?}");
    let received = fs::read_to_string(&received).unwrap();
    let expected = |number| envelope::notification("vendor/last", &format!("{number}"));
    let expected: Vec<_> = (0..1000).map(expected).collect();
    assert_eq!(received.lines().skip(1).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn what_the_agent_asked_a_client_that_leaves_is_answered_with_an_error() {
    for proxies in [0, 3] {
        let (mut client, _folder) = host::through(proxies, [AGENT]).unwrap();
        client.initialize().await;
        let turns = [client.prompt("read /x"), client.prompt("ask vendor/any")];
        for _ in turns {
            assert!(client.wire.receive().await.unwrap().is_request());
        }
        let transcript = client.wire.transcript().clone();
        let exit = client.finish().await.unwrap();
        assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
        transcript.assert(&format!(
            r#"
            client → {{…"params":{}}}
            client → {{…"params":{}}}
            client ← {{…"method":"fs/read_text_file"…}}
            client ← {{…"method":"vendor/any"…}}
            client ← {{…"text":"error {{\"code\":-32800,\"message\":\"acp-chain: the client has closed its side\"}}"…}}
            client ← {{"jsonrpc":"2.0","id":2,"result":{{"stopReason":"end_turn"}}}}
            client ← {{…"text":"error {{\"code\":-32800,\"message\":\"acp-chain: the client has closed its side\"}}"…}}
            client ← {{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"end_turn"}}}}
            "#,
            prompt("s", "read /x"),
            prompt("s", "ask vendor/any"),
        ));
    }
}

/// The answer to requests that are still open at the end.
const UNANSWERED: &str =
    r#"{"code":-32800,"message":"acp-chain: the connection ended before there was an answer"}"#;

#[tokio::test]
async fn a_turn_that_does_not_end_does_not_keep_a_client_that_has_gone() {
    let (mut client, _folder) = host::through(1, [AGENT]).unwrap();
    client.initialize().await;
    client.prompt("never");
    client.wire.hang_up();
    assert!(client.exited().await.unwrap().success());
}

/// A chain whose client has closed its side in a turn and still reads; with the turn's request, and its id.
async fn closed_in_a_turn() -> (InProcess, Message, String) {
    let mut chain = InProcess::initialized(&[]).await;
    let id = chain
        .client
        .ask("session/prompt", &prompt("s", "take your time"));
    let asked = chain.agent.receive().await.expect("the prompt");
    chain.client.close();
    (chain, asked, id)
}

/// The clock is the test's, so no real time passes.
#[tokio::test(start_paused = true)]
async fn a_client_that_still_reads_gets_a_turn_however_long_it_takes() {
    let (mut chain, asked, id) = closed_in_a_turn().await;
    for _ in 0..5 {
        sleep(Duration::from_mins(9)).await;
        let chunk = r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"on"}}}"#;
        chain.agent.notify("session/update", chunk);
        chain.client.receive().await.expect("the chunk");
    }
    chain
        .agent
        .send_all(asked.result(r#"{"stopReason":"end_turn"}"#));
    let answer = chain.client.response(&id).await;
    assert!(answer.result.is_some(), "{}", answer.line);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_was_stopped_does_not_keep_a_client_that_has_closed_its_side() {
    let mut chain = InProcess::initialized(&[]).await;
    let id = chain
        .client
        .ask("session/prompt", &prompt("s", "never end"));
    chain.agent.receive().await.expect("the prompt");
    chain
        .client
        .notify("session/cancel", r#"{"sessionId":"s"}"#);
    chain.agent.receive().await.expect("the cancellation");
    chain.client.close();
    let begun = Instant::now();
    let answer = chain.client.response(&id).await;
    assert_eq!(answer.line, envelope::error(&id, UNANSWERED));
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_turn_in_which_nothing_comes_for_long_ends_when_the_client_has_closed_its_side() {
    let (mut chain, _asked, id) = closed_in_a_turn().await;
    sleep(Duration::from_mins(11)).await;
    let answer = chain.client.response(&id).await;
    assert_eq!(answer.line, envelope::error(&id, UNANSWERED));
}

/// From version 2 on, the answer to a prompt does not end its turn.
#[tokio::test(start_paused = true)]
async fn a_turn_of_version_2_is_waited_for_until_the_agent_is_idle() {
    let version = r#"{"protocolVersion":2,"capabilities":{}}"#;
    for proxies in [&[][..], &[("pass", "{}")]] {
        let mut chain = InProcess::initialized_with(proxies, version).await;
        let id = chain
            .client
            .ask("session/prompt", &prompt("s", "take your time"));
        let asked = chain.agent.receive().await.expect("the prompt");
        chain.agent.send_all(asked.result(r#"{"messageId":"m"}"#));
        assert!(chain.client.response(&id).await.result.is_some());
        chain.client.close();
        sleep(Duration::from_mins(9)).await;
        for update in [
            r#"{"sessionUpdate":"state_update","state":"running"}"#,
            r#"{"sessionUpdate":"agent_message_chunk","messageId":"n","content":{"type":"text","text":"on"}}"#,
            r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}"#,
        ] {
            let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
            chain.agent.notify("session/update", &params);
            let told = chain.client.receive().await.expect("the update");
            assert!(told.line.contains(update), "{}", told.line);
        }
        assert!(chain.client.receive().await.is_none());
    }
}

#[tokio::test]
async fn a_turn_that_is_open_when_the_program_is_told_to_stop_is_answered() {
    let (mut client, _folder) = host::through(1, [AGENT]).unwrap();
    client.initialize().await;
    let id = client.prompt("echo begun\nnever");
    client.wire.receive().await.unwrap();
    client.signal(Signal::TERM).unwrap();
    let answer = client.wire.response(&id).await;
    assert_eq!(answer.line, envelope::error(&id, UNANSWERED));
    assert!(client.exited().await.unwrap().success());
}
