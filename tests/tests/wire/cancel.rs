//! Cancelled requests: `$/cancel_request` names the id of one hop, and is translated at each.

use std::fs;
use std::path::Path;

use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::{self, Message};
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::Value;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// The numbers of proxies in the chains.
const CHAINS: [usize; 2] = [0, 3];

const CANCELLED: &str = r#"{"code":-32800,"message":"Request cancelled"}"#;

/// The program after `initialize`, in front of an agent that copies what it receives to a file.
async fn start(folder: &Path, proxies: usize, flags: &[&str]) -> Process {
    let manifest = host::passes(folder, proxies).unwrap();
    start_with(folder, &manifest, flags).await
}

async fn start_with(folder: &Path, manifest: &Path, flags: &[&str]) -> Process {
    let agent = [AGENT].iter().chain(flags);
    let agent = host::recorded(&folder.join("received"), agent);
    let command = host::run(Some(manifest), agent);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    client
}

/// Ends the connection; returns what the agent received after `initialize`.
async fn received(client: Process, folder: &Path) -> Vec<String> {
    let exit = client.finish().await.unwrap();
    assert!(exit.status.success() && exit.stderr.is_empty(), "{exit:?}");
    let lines = fs::read_to_string(folder.join("received")).unwrap();
    lines.lines().skip(1).map(str::to_owned).collect()
}

/// The id in a line, in its original spelling.
fn id(line: &str) -> String {
    Message::parse(line).unwrap().id.unwrap()
}

#[tokio::test]
async fn the_agent_is_told_with_the_id_that_it_knows_and_its_answer_passes() {
    for proxies in CHAINS {
        let folder = tempfile::tempdir().unwrap();
        let mut client = start(folder.path(), proxies, &[]).await;
        let ask = |text| envelope::request(r#""p""#, "session/prompt", &prompt("s", text));
        client.wire.send(ask("echo begun\nwait"));
        client.wire.receive().await.unwrap();
        client.wire.notify(
            "$/cancel_request",
            r#"{"_meta":{"n":1e400}, "requestId":"\u0070","x":-0.0}"#,
        );
        client.wire.response(r#""p""#).await;
        client.wire.transcript().assert(&format!(
            r#"
            client → {}
            client ← {{…"text":"begun"…}}
            client → {{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"_meta":{{"n":1e400}}, "requestId":"\u0070","x":-0.0}}}}
            client ← {{…"text":"cancel_request …"…}}
            client ← {{"jsonrpc":"2.0","id":"p","error":{CANCELLED}}}
            "#,
            ask("echo begun\nwait"),
        ));
        let lines = received(client, folder.path()).await;
        let id = id(&lines[0]);
        let params = format!(r#"{{"_meta":{{"n":1e400}}, "requestId":{id},"x":-0.0}}"#);
        assert_eq!(
            lines[1..],
            [envelope::notification("$/cancel_request", &params)]
        );
    }
}

#[tokio::test]
async fn a_cancellation_in_the_form_of_the_language_server_protocol_is_translated() {
    for proxies in CHAINS {
        let folder = tempfile::tempdir().unwrap();
        let mut client = start(folder.path(), proxies, &[]).await;
        let ask = |text| envelope::request(r#""p""#, "session/prompt", &prompt("s", text));
        client.wire.send(ask("echo begun\nwait"));
        client.wire.receive().await.unwrap();
        client.wire.notify("$/cancelRequest", r#"{"id":"p"}"#);
        client.wire.response(r#""p""#).await;
        client.wire.transcript().assert(&format!(
            r#"
            client → {}
            client ← {{…"text":"begun"…}}
            client → {{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":"p"}}}}
            client ← {{…"text":"cancel_request …"…}}
            client ← {{"jsonrpc":"2.0","id":"p","error":{CANCELLED}}}
            "#,
            ask("echo begun\nwait"),
        ));
        let lines = received(client, folder.path()).await;
        let id = id(&lines[0]);
        let params = format!(r#"{{"requestId":{id}}}"#);
        assert_eq!(
            lines[1..],
            [envelope::notification("$/cancel_request", &params)]
        );
    }
}

#[tokio::test]
async fn only_the_request_that_was_named_is_withdrawn() {
    for proxies in CHAINS {
        let folder = tempfile::tempdir().unwrap();
        let mut client = start(folder.path(), proxies, &[]).await;
        let (first, second) = (client.prompt("wait"), client.prompt("wait"));
        for (id, other) in [(&second, &first), (&first, &second)] {
            client
                .wire
                .notify("$/cancel_request", &format!(r#"{{"requestId":{id}}}"#));
            let answer = client.wire.response(id).await;
            assert_eq!(
                answer.error.as_deref(),
                Some(CANCELLED),
                "{id}, not {other}"
            );
        }
    }
}

#[tokio::test]
async fn an_agent_that_takes_no_notice_still_gives_the_answer() {
    for proxies in CHAINS {
        let folder = tempfile::tempdir().unwrap();
        let mut client = start(folder.path(), proxies, &["--ignore-cancel"]).await;
        let id = client.prompt("read /x");
        let asked = client.wire.receive().await.unwrap();
        client
            .wire
            .notify("$/cancel_request", &format!(r#"{{"requestId":{id}}}"#));
        client.wire.send(&asked.result(r#"{"content":"text"}"#)[0]);
        let answer = client.wire.response(&id).await;
        assert_eq!(
            answer.result.as_deref(),
            Some(r#"{"stopReason":"end_turn"}"#)
        );
    }
}

#[tokio::test]
async fn a_cancellation_that_comes_too_late_or_names_nothing_harms_nobody() {
    for proxies in CHAINS {
        let folder = tempfile::tempdir().unwrap();
        let mut client = start(folder.path(), proxies, &[]).await;
        let id = client.prompt("echo done");
        client.wire.response(&id).await;
        for params in [
            &*format!(r#"{{"requestId":{id}}}"#),
            r#"{"requestId":"never used"}"#,
            r#"{"requestId":{}}"#,
            r#"{"requestId":null}"#,
            "{}",
            "[]",
            "7",
        ] {
            client.wire.notify("$/cancel_request", params);
        }
        client
            .wire
            .send(r#"{"jsonrpc":"2.0","method":"$/cancel_request"}"#);
        client.turn("echo on").await;
        let [done, told, on] = &client.chunks()[..] else {
            panic!("{:?}", client.chunks())
        };
        assert_eq!([done, on], ["done", "on"]);
        let names_nothing = "dropped a $/cancel_request from the client that names no request";
        assert!(told.contains(names_nothing), "{told}");
        let lines = received(client, folder.path()).await;
        assert_eq!(lines.len(), 2, "{lines:?}");
    }
}

#[tokio::test]
async fn the_client_is_told_with_the_id_that_it_knows_and_its_answer_passes() {
    for (proxies, ids) in CHAINS.into_iter().zip(["uuid", "null"]) {
        let folder = tempfile::tempdir().unwrap();
        let mut client = start(folder.path(), proxies, &["--ids", ids]).await;
        let turn = client.prompt("withdraw terminal/create {\"n\":1e400}");
        let asked = client.wire.receive().await.unwrap();
        let cancel = client.wire.receive().await.unwrap();
        let id = asked.id.as_deref().unwrap();
        let params = format!(r#"{{"requestId":{id}}}"#);
        assert_eq!(
            cancel.line,
            envelope::notification("$/cancel_request", &params)
        );
        client.wire.send(&asked.error(CANCELLED)[0]);
        client.wire.response(&turn).await;
        assert_eq!(client.chunks(), [format!("error {CANCELLED}")]);
    }
}

#[tokio::test]
async fn a_cancellation_sent_with_its_request_arrives_behind_it() {
    for proxies in CHAINS {
        let folder = tempfile::tempdir().unwrap();
        let mut client = start(folder.path(), proxies, &[]).await;
        let mut burst = String::new();
        for id in 0..100 {
            let cancel = format!(r#"{{"requestId":{id}}}"#);
            burst += &envelope::request(&id.to_string(), "session/prompt", &prompt("s", "wait"));
            burst.push('\n');
            burst += &envelope::notification("$/cancel_request", &cancel);
            burst.push('\n');
        }
        client.wire.send_bytes(burst);
        for id in 0..100 {
            let answer = client.wire.response(&id.to_string()).await;
            assert_eq!(answer.error.as_deref(), Some(CANCELLED));
        }
        let lines = received(client, folder.path()).await;
        for pair in lines.chunks(2) {
            let params = format!(r#"{{"requestId":{}}}"#, id(&pair[0]));
            assert_eq!(pair[1], envelope::notification("$/cancel_request", &params));
        }
    }
}

/// A chain in which `shout` holds every prompt until the client gives it a file.
fn holding(folder: &Path) -> std::path::PathBuf {
    let (shout, pass) = (host::component("shout-rust"), host::component("pass"));
    let proxies = [
        ("before", &*pass, ""),
        ("shout", &*shout, "file = '/notes'"),
        ("behind", &*pass, ""),
    ];
    host::manifest(folder, &proxies).unwrap()
}

/// Receives the request of `shout` for its file, with the id of that hop.
async fn asks_for_the_file(client: &mut Process) -> Message {
    let asked = client.wire.receive().await.unwrap();
    assert_eq!(asked.method.as_deref(), Some("fs/read_text_file"));
    let params: Value = serde_json::from_str(asked.params.as_deref().unwrap()).unwrap();
    assert_eq!(params["path"], "/notes");
    asked
}

#[tokio::test]
async fn session_cancel_passes_a_prompt_that_a_proxy_holds_and_stops_it() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = holding(folder.path());
    let mut client = start_with(folder.path(), &manifest, &[]).await;
    let id = client.prompt("hello");
    let asked = asks_for_the_file(&mut client).await;
    client.wire.notify("session/cancel", r#"{"sessionId":"s"}"#);
    let answer = client.wire.response(&id).await;
    assert_eq!(
        answer.result.as_deref(),
        Some(r#"{"stopReason":"cancelled"}"#)
    );
    // The proxy's request is cancelled, and a late answer to it is discarded.
    let cancel = client.wire.receive().await.unwrap();
    let params = format!(r#"{{"requestId":{}}}"#, asked.id.as_deref().unwrap());
    assert_eq!(
        cancel.line,
        envelope::notification("$/cancel_request", &params)
    );
    client.wire.send(&asked.result(r#"{"content":"late"}"#)[0]);
    client.wire.request("session/list", "{}").await;
    let lines = received(client, folder.path()).await;
    let methods: Vec<_> = lines
        .iter()
        .map(|line| Message::parse(line.as_str()).unwrap().method.unwrap())
        .collect();
    assert_eq!(methods, ["session/cancel", "session/list"]);
}

#[tokio::test]
async fn a_held_request_that_is_withdrawn_is_settled_by_its_proxy_and_never_sent_on() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = holding(folder.path());
    let mut client = start_with(folder.path(), &manifest, &[]).await;
    let id = client.prompt("hello");
    let asked = asks_for_the_file(&mut client).await;
    client
        .wire
        .notify("$/cancel_request", &format!(r#"{{"requestId":{id}}}"#));
    let answer = client.wire.response(&id).await;
    assert_eq!(answer.error.as_deref(), Some(CANCELLED));
    // The proxy's own request is cancelled too, under its own id, and a late answer to it is discarded.
    let cancel = client.wire.receive().await.unwrap();
    let params = format!(r#"{{"requestId":{}}}"#, asked.id.as_deref().unwrap());
    assert_eq!(
        cancel.line,
        envelope::notification("$/cancel_request", &params)
    );
    client.wire.send(&asked.result(r#"{"content":"late"}"#)[0]);
    client.wire.request("session/list", "{}").await;
    let lines = received(client, folder.path()).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
}
