//! The chains of a server in spans, traces, listeners and `acp-chain top`.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::in_time;
use acp_chain_trace::{Line, Reader};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::receiver::{Answer, ReceivedExports, Receiver};
use super::{AGENT, SECRET};

const USERS: [&str; 2] = ["ann", "bob"];

/// A server of a chain with one proxy, and its URL.
async fn serve(command: &mut Command) -> (Child, String) {
    let child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn();
    let mut child = child.unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = in_time("the address", lines.next_line()).await.unwrap();
    let url = line.unwrap();
    let url = url.strip_prefix("listening on ").unwrap().to_owned();
    (child, url)
}

/// A client of the server, in a turn: the agent has requested a permission.
async fn in_turn(url: &str, token: &str) -> (Process, String, Message) {
    let mut command = host::acp_chain("connect");
    command.arg(url).env("ACP_CHAIN_CONNECT_TOKEN", token);
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.initialize().await;
    let session = r#"{"cwd":"/","mcpServers":[]}"#;
    let begun = client.wire.request("session/new", session).await;
    let begun: Value = serde_json::from_str(begun.result.as_deref().unwrap()).unwrap();
    let prompt = json!({
        "sessionId": begun["sessionId"],
        "prompt": [{"type": "text", "text": SECRET}],
    });
    let turn = client.wire.ask("session/prompt", &prompt.to_string());
    loop {
        let message = client.wire.receive().await.unwrap();
        if message.method.as_deref() == Some("session/request_permission") {
            return (client, turn, message);
        }
    }
}

/// The entries of a process's chains in `acp-chain top`. Other chains of this user may run at the same time.
async fn top(folder: &Path, server: &Child) -> Vec<Value> {
    let mut command = host::acp_chain("top");
    command.arg("--json").env("XDG_RUNTIME_DIR", folder);
    let output = in_time("the end of top", command.output()).await.unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let chains = said["chains"].as_array().unwrap().iter();
    let ours = chains.filter(|chain| chain["process"] == json!(server.id()));
    ours.cloned().collect()
}

/// The users of the connections in these lines, each of which must have one prompt, a proxy's state and an end.
fn users_of_turns(lines: &[Line]) -> Vec<String> {
    let headings = lines.iter().filter(|line| line.version.is_some());
    let users = headings.map(|heading| {
        let of_it = |line: &&Line| line.connection == heading.connection;
        let own: Vec<_> = lines.iter().filter(of_it).collect();
        let turns = own.iter().filter(|line| {
            line.from.as_deref() == Some("client")
                && line.method.as_deref() == Some("session/prompt")
        });
        assert_eq!(turns.count(), 1);
        assert!(own.iter().any(|line| line.state.is_some()));
        assert!(own.last().unwrap().is_end());
        heading.user.clone().unwrap()
    });
    let mut users: Vec<_> = users.collect();
    users.sort();
    users
}

/// Whether both turns, their connections and the proxy's metrics have been exported.
fn is_all(exported: &ReceivedExports) -> bool {
    let of = |name: &str| {
        exported
            .names()
            .iter()
            .filter(|span| **span == name)
            .count()
    };
    of("invoke_agent busy-agent") == 2
        && of("acp.connection") == 2
        && exported.has_metric("acp.proxy.messages")
}

#[tokio::test]
async fn each_turn_of_a_server_is_seen_under_its_own_connection_and_user() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let manifest = host::manifest(folder, &[("first", &host::component("pass"), "")]).unwrap();
    let (tokens, trace) = (folder.join("tokens"), folder.join("trace"));
    let ann = host::token(&tokens, "ann", &[]).await;
    let bob = host::token(&tokens, "bob", &[]).await;
    let mut receiver = Receiver::start(Answer::Good).await;
    let mut command = host::acp_chain("serve");
    command
        .args(["--listen", "127.0.0.1:0", "--tokens"])
        .arg(&tokens)
        .arg("--manifest")
        .arg(&manifest)
        .arg("--trace")
        .arg(&trace)
        .args(["--", "python3", AGENT])
        .env("XDG_RUNTIME_DIR", folder)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.endpoint)
        .env("OTEL_METRIC_EXPORT_INTERVAL", "100");
    let (mut server, url) = serve(&mut command).await;
    // A listener before the first client.
    let mut sockets = fs::read_dir(folder.join("acp-chain")).unwrap();
    let socket = sockets.next().unwrap().unwrap().path();
    let mut early = UnixStream::connect(socket).await.unwrap();
    let heard = tokio::spawn(async move {
        let mut text = Vec::new();
        early.read_to_end(&mut text).await.unwrap();
        text
    });

    let both = tokio::join!(in_turn(&url, &ann), in_turn(&url, &bob));
    let chains = top(folder, &server).await;
    let mut users: Vec<_> = chains.iter().map(|chain| chain["user"].as_str()).collect();
    users.sort_unstable();
    assert_eq!(users, USERS.map(Some));
    for chain in &chains {
        assert_eq!(chain["proxies"][0]["state"], "running", "{chain}");
    }
    for (mut client, turn, question) in <[_; 2]>::from(both) {
        let allowed = r#"{"outcome":{"outcome":"selected","optionId":"sk-live-hunter2"}}"#;
        client.wire.send_all(question.result(allowed));
        assert!(client.wire.response(&turn).await.result.is_some());
        assert!(client.finish().await.unwrap().status.success());
    }
    // Both connections have ended, and the server has not.
    let exported = receiver.until(is_all).await;
    assert!(!String::from_utf8_lossy(&exported.bytes).contains(SECRET));
    let turns = exported
        .spans
        .iter()
        .filter(|span| span.name.starts_with("invoke_agent"));
    let turns: Vec<_> = turns
        .map(|span| (&span.trace_id, format!("{:?}", span.attributes)))
        .collect();
    assert_ne!(turns[0].0, turns[1].0);
    for user in USERS {
        let user = format!("{user:?}");
        assert_eq!(
            turns
                .iter()
                .filter(|(_, said)| said.contains(&user))
                .count(),
            1
        );
    }
    let none = top(folder, &server).await;
    assert_eq!((none.len(), &none[0]["user"]), (1, &Value::Null));
    let id = server
        .id()
        .and_then(|id| Pid::from_raw(id.try_into().ok()?));
    kill_process(id.unwrap(), Signal::TERM).unwrap();
    let ended = in_time("the end of the server", server.wait()).await;
    assert!(ended.unwrap().success());
    let mut command = host::acp_chain("trace");
    let shown = command.arg("show").arg(&trace).output().await.unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    for chain in &chains {
        let ends = format!(" {0} {0} ", chain["connection"].as_str().unwrap());
        assert!(shown.contains(&ends), "{shown}");
    }
    for text in [heard.await.unwrap(), fs::read(&trace).unwrap()] {
        let lines = Reader::new(&*text).map(|line| line.unwrap().1);
        assert_eq!(users_of_turns(&lines.collect::<Vec<_>>()), USERS);
    }
}
