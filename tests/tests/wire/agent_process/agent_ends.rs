//! The agent ends on its own.

use acp_chain_tests::process::gone;
use acp_chain_tests::{envelope, host};
use rustix::process::{Pid, Signal, kill_process};

use crate::agent_process::{AGENT, client, ended, named, number};
#[tokio::test]
async fn an_agent_that_ends_in_a_turn_has_every_open_request_answered() {
    for (command, how, code) in [
        ("exit 7", "exited with code 7", 7),
        ("exit 0", "exited with code 0", 0),
        ("abort", "was ended by signal 6", 134),
    ] {
        for proxies in [0, 3] {
            let flags = [AGENT, "--never", "session/list"];
            let (mut client, _folder) = host::through(proxies, flags).unwrap();
            client.initialize().await;
            client.wire.ask("session/list", "{}");
            client.prompt("never");
            client.prompt(&format!("stream 2\n{command}"));
            let status = client.exited().await.unwrap();
            assert_eq!(status.code(), Some(code));
            let exit = client.finish().await.unwrap();
            assert_eq!(exit.stderr, "");
            let chunks = exit
                .rest
                .iter()
                .take_while(|message| message.method.is_some());
            assert_eq!(chunks.count(), 2);
            let mut answers: Vec<_> = exit.rest[2..]
                .iter()
                .map(|message| {
                    (
                        message.id.as_deref().unwrap(),
                        message.error.as_deref().unwrap(),
                    )
                })
                .collect();
            answers.sort_unstable();
            let error = ended(how);
            assert_eq!(answers, [("2", &*error), ("3", &error), ("4", &error)]);
        }
    }
}

#[tokio::test]
async fn a_request_that_a_proxy_holds_is_answered_too_when_the_agent_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent");
    let shout = host::component("shout-rust");
    let pass = host::component("pass");
    let manifest = host::manifest(
        folder.path(),
        &[
            ("before", &pass, ""),
            ("shout", &shout, "file = '/notes'"),
            ("behind", &pass, ""),
        ],
    )
    .unwrap();
    let agent = named(&file, &["--never", "session/list"]);
    let mut client = client(host::run(Some(&manifest), agent));
    client.initialize().await;
    client.wire.ask("session/list", "{}");
    client.prompt("held");
    let asked = client.wire.receive().await.unwrap();
    assert_eq!(asked.method.as_deref(), Some("fs/read_text_file"));

    let agent = i32::try_from(number(&file)).unwrap();
    let agent = Pid::from_raw(agent).unwrap();
    kill_process(agent, Signal::KILL).unwrap();
    let status = client.exited().await.unwrap();
    assert_eq!(status.code(), Some(137));
    let exit = client.finish().await.unwrap();
    let error = ended("was ended by signal 9");
    let lines: Vec<_> = exit.rest.iter().map(|message| &*message.line).collect();
    assert_eq!(
        lines,
        [envelope::error("2", &error), envelope::error("3", &error)]
    );
}

/// Also when the client is slow: it reads nothing before the agent has ended.
#[tokio::test]
async fn what_the_agent_said_before_it_ended_arrives_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent");
    for proxies in [0, 3] {
        let (mut client, _folder) = host::through(proxies, named(&file, &[])).unwrap();
        client.initialize().await;
        let answer = r#"raw {"jsonrpc":"2.0","id":{id},"result":{}}"#;
        let id = client.prompt(&format!("stream 4000\n{answer}\nexit 7"));
        gone(client.wire.transcript(), number(&file)).await.unwrap();
        let exit = client.finish().await.unwrap();
        assert_eq!(exit.status.code(), Some(7));
        assert_eq!(exit.rest.len(), 4001);
        let last = exit.rest.last().unwrap();
        assert_eq!(last.line, envelope::result(&id, "{}"));
    }
}

#[tokio::test]
async fn an_agent_that_ends_in_the_middle_of_a_line_leaves_nobody_waiting() {
    let script = r#"read -r _; printf '{"jsonrpc":"2.0","id":1,"resu'"#;
    for proxies in [0, 3] {
        let (mut client, _folder) = host::through(proxies, ["sh", "-c", script]).unwrap();
        let answer = client.wire.request("initialize", "{}").await;
        let error = answer.error.unwrap();
        let lost = r#"{"code":-32603,"message":"acp-chain: the answer of the agent is lost: the message is not JSON: "#;
        assert!(error.starts_with(lost), "{error}");
    }
}

#[tokio::test]
async fn the_last_of_its_standard_error_says_why_it_ended() {
    let (mut client, _folder) = host::through(1, [AGENT]).unwrap();
    client.initialize().await;
    let answer = client.turn("stderr 100000\nexit 7").await;
    let error: serde_json::Value = serde_json::from_str(&answer.error.unwrap()).unwrap();
    assert_eq!(error["message"], "acp-chain: the agent exited with code 7");
    let printed = error["data"]["stderr"].as_str().unwrap();
    assert!(
        (8_000..20_000).contains(&printed.len()),
        "{}",
        printed.len()
    );
    assert!(printed.contains("wild-agent: something that nobody asked for"));
    let exit = client.finish().await.unwrap();
    assert_eq!((exit.status.code(), &*exit.stderr), (Some(7), ""));
}

#[tokio::test]
async fn an_agent_that_ends_before_it_says_anything_is_named_to_the_client() {
    for proxies in [0, 3] {
        let flags = [AGENT, "--stderr", "60", "--exit", "3"];
        let (mut client, _folder) = host::through(proxies, flags).unwrap();
        let answer = client.wire.request("initialize", "{}").await;
        let error = answer.error.unwrap();
        assert_eq!(
            error,
            r#"{"code":-32603,"message":"acp-chain: the agent exited with code 3","data":{"stderr":"wild-agent: something that nobody asked for, at some length."}}"#
        );
        let exit = client.finish().await.unwrap();
        assert_eq!((exit.status.code(), &*exit.stderr), (Some(3), ""));
    }
}

/// Many programs ask on standard output for what they lack, and exit with 0.
#[tokio::test]
async fn what_an_agent_wrote_in_place_of_messages_is_told_at_its_end() {
    let script =
        "read -r _; echo; echo 'Login required: run agent login'; echo '  (or set AGENT_KEY)'";
    for proxies in [0, 3] {
        let (mut client, _folder) = host::through(proxies, ["sh", "-c", script]).unwrap();
        let answer = client.wire.request("initialize", "{}").await;
        let error = answer.error.unwrap();
        assert_eq!(
            error,
            r#"{"code":-32603,"message":"acp-chain: the agent exited with code 0","data":{"stdout":"Login required: run agent login\n  (or set AGENT_KEY)"}}"#
        );
    }
}

#[tokio::test]
async fn an_agent_that_stops_reading_but_lives_leaves_nobody_waiting() {
    // The agent stops reading before it answers, so the next request has no reader.
    let script = r#"read -r line; exec <&-
        echo "$line" | sed -E 's/.*"id":([^,]*),.*/{"jsonrpc":"2.0","id":\1,"result":{"protocolVersion":1}}/'
        exec sleep 1000"#;
    let (mut client, _folder) = host::through(1, ["sh", "-c", script]).unwrap();
    let answer = client.wire.request("initialize", "{}").await;
    assert!(answer.error.is_none(), "{answer:?}");
    let answer = client.wire.request("session/new", "{}").await;
    assert!(answer.error.unwrap().contains("acp-chain: the agent "));
}

#[tokio::test]
async fn what_an_agent_leaves_unread_is_answered() {
    // The agent has read one byte of the request when it stops.
    let script = r#"read -r line
        echo "$line" | sed -E 's/.*"id":([^,]*),.*/{"jsonrpc":"2.0","id":\1,"result":{"protocolVersion":1}}/'
        dd bs=1 count=1 of=/dev/null 2> /dev/null; exec <&-; exec sleep 1000"#;
    let (mut client, _folder) = host::through(1, ["sh", "-c", script]).unwrap();
    client.wire.request("initialize", "{}").await;
    let answer = client.wire.request("session/new", "{}").await;
    assert!(answer.error.unwrap().contains("acp-chain: the agent "));
}

#[tokio::test]
async fn an_agent_that_stops_writing_but_lives_leaves_nobody_waiting() {
    let script = "read -r _; exec >&-; exec sleep 1000";
    let (mut client, _folder) = host::through(1, ["sh", "-c", script]).unwrap();
    let answer = client.wire.request("initialize", "{}").await;
    assert!(answer.error.unwrap().contains("acp-chain: the agent "));
}
