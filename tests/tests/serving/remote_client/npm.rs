//! The server of the npm SDK, over HTTP and over WebSocket, behind a chain.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::client::{chunks, prompt};
use acp_chain_tests::host::peer;
use acp_chain_tests::process::Process;
use acp_chain_tests::wire::in_time;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::{INITIALIZE, program, start};

const TOKEN: &str = "let-me-in";

struct Npm {
    address: String,
    /// The log of its requests.
    told: Lines<BufReader<ChildStdout>>,
    _process: Child,
}

impl Npm {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(variables: &[(&str, &Path)]) -> Self {
        let mut command = Command::new(peer("bin/npm-agent"));
        command.arg("--serve").env("TOKEN", TOKEN);
        command.envs(variables.iter().copied());
        command.stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut told = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = in_time("the server's address", told.next_line()).await;
        Self {
            address: address.unwrap().unwrap(),
            told,
            _process: process,
        }
    }

    /// Waits until the server logs this request.
    async fn tells(&mut self, request: &str) {
        loop {
            let line = in_time(request, self.told.next_line()).await;
            if line.unwrap().expect("the server runs").starts_with(request) {
                return;
            }
        }
    }
}

/// A chain in front of the agent at this URL, for a user without any configuration.
fn chain(home: &Path, args: &[&str]) -> Process {
    let mut command = program(&["run", "--connect"]);
    command.args(args);
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
        command.env(variable, home);
    }
    command.env("ACP_CHAIN_CONNECT_TOKEN", TOKEN);
    start(command)
}

/// A connection with every kind of request of a client.
async fn whole_connection(mut client: Process) {
    let initialized = client.wire.request("initialize", INITIALIZE).await;
    assert!(initialized.result.unwrap().contains(r#""npm-agent""#));
    let session = |answer: &str| {
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        answer["sessionId"].as_str().unwrap().to_owned()
    };
    let new = r#"{"cwd":"/tmp","mcpServers":[]}"#;
    let first = client.wire.request("session/new", new).await;
    let first = session(&first.result.unwrap());
    let second = client.wire.request("session/new", new).await;
    let second = session(&second.result.unwrap());

    // Two turns at once, one of them with a permission request.
    let text = "¿cómo estás? permission";
    let asks = client.wire.ask("session/prompt", &prompt(&first, text));
    let waits = client.wire.ask("session/prompt", &prompt(&second, "wait"));
    let question = loop {
        let message = client.wire.receive().await.expect("a question");
        if message.is_request() {
            break message;
        }
    };
    assert_eq!(
        question.method.as_deref(),
        Some("session/request_permission")
    );
    client
        .wire
        .send_all(question.result(r#"{"outcome":{"outcome":"selected","optionId":"allow"}}"#));
    let done = client.wire.response(&asks).await.result.unwrap();
    assert_eq!(done, r#"{"stopReason":"end_turn"}"#);
    let lines = client.wire.transcript().received("client");
    let of_first: Vec<_> = lines
        .into_iter()
        .filter(|line| line.contains(&first))
        .collect();
    assert_eq!(
        chunks(&of_first).concat(),
        format!("{text}permission: allow")
    );

    client
        .wire
        .notify("session/cancel", &format!(r#"{{"sessionId":"{second}"}}"#));
    let cancelled = client.wire.response(&waits).await.result.unwrap();
    assert_eq!(cancelled, r#"{"stopReason":"cancelled"}"#);

    client.wire.transcript().clear();
    let load = r#"{"sessionId":"earlier","cwd":"/tmp","mcpServers":[]}"#;
    assert!(
        client
            .wire
            .request("session/load", load)
            .await
            .result
            .is_some()
    );
    // The loaded session's messages may arrive after the answer, on another stream.
    while client.chunks().is_empty() {
        client.wire.receive().await.expect("an earlier turn");
    }
    assert_eq!(client.chunks(), ["as it was"]);
    let done = client
        .wire
        .request("session/prompt", &prompt("earlier", "and on"))
        .await;
    assert!(done.result.is_some(), "{}", done.line);

    let exit = client.finish().await.unwrap();
    assert_eq!(exit.status.code(), Some(0), "{}", exit.stderr);
}

#[tokio::test]
async fn a_client_does_all_that_it_does_with_an_agent_behind_http_and_websocket() {
    let mut npm = Npm::start().await;
    let home = tempfile::tempdir().unwrap();
    whole_connection(chain(
        home.path(),
        &[&format!("http://{}/acp", npm.address)],
    ))
    .await;
    npm.tells("DELETE /acp - place=here 1.1").await;
    whole_connection(chain(home.path(), &[&format!("ws://{}/acp", npm.address)])).await;
    npm.tells("GET /acp - - 1.1").await;
}

#[tokio::test]
async fn it_does_so_by_tls_where_its_user_trusts_the_certificate() {
    let home = tempfile::tempdir().unwrap();
    let (certificate, key) = (home.path().join("it.pem"), home.path().join("key.pem"));
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(&certificate, certified.cert.pem()).unwrap();
    fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let mut npm = Npm::start_with(&[("CERTIFICATE", &certificate), ("KEY", &key)]).await;
    for (scheme, request) in [
        ("https", "DELETE /acp - place=here 2.0"),
        ("wss", "GET /acp - - 1.1"),
    ] {
        let url = format!("{scheme}://{}/acp", npm.address);
        let mut stranger = chain(home.path(), &[&url]);
        let error = stranger
            .wire
            .request("initialize", INITIALIZE)
            .await
            .error
            .unwrap();
        assert!(
            error.contains("its certificate is not trusted") && error.contains("`--connect-ca`"),
            "{error}"
        );
        whole_connection(chain(
            home.path(),
            &[&url, "--connect-ca", certificate.to_str().unwrap()],
        ))
        .await;
        npm.tells(request).await;
    }
}

#[tokio::test]
async fn a_client_is_told_why_a_remote_agent_does_not_let_it_in() {
    let npm = Npm::start().await;
    let home = tempfile::tempdir().unwrap();
    for scheme in ["http", "ws"] {
        let url = format!("{scheme}://{}/acp", npm.address);
        let mut command = program(&["run", "--connect", &url]);
        command
            .env("HOME", home.path())
            .env("XDG_CONFIG_HOME", home.path());
        let mut client = start(command);
        let error = client
            .wire
            .request("initialize", INITIALIZE)
            .await
            .error
            .unwrap();
        assert!(error.contains("it requires a token"), "{error}");
        assert_eq!(client.finish().await.unwrap().status.code(), Some(1));
    }
}
