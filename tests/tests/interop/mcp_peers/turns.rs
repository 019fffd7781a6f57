//! The program with a manifest in front of a real agent, and a client that the test plays.

use std::path::Path;

use acp_chain_tests::chain::{Chain, MANIFEST, entry};
use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::{peer, run};
use acp_chain_tests::powers::all_but;
use serde_json::{Value, json};
use tokio::process::Command;

/// A chain with one session.
pub struct Turns {
    pub chain: Chain,
    pub session: String,
}

/// The manifest's entry of a proxy with tools, which has all powers.
pub fn tools(id: &str, component: &str) -> String {
    // For these values the program would start a process, and some tests look for the only one.
    let granted = all_but(&["values.keep"]);
    let limits = "{ memory = '512 MiB' }";
    entry(id, component, &format!("{granted}limits = {limits}"))
}

/// The command of a peer.
pub fn agent(words: &[&str]) -> Vec<String> {
    let program = peer("bin").join(words[0]);
    assert!(
        program.exists(),
        "{} is missing; `cargo xtask test` makes it",
        program.display()
    );
    let program = program.to_str().expect("UTF-8").to_owned();
    let rest = words[1..].iter().map(|word| (*word).to_owned());
    [program].into_iter().chain(rest).collect()
}

/// The files that the client has.
pub fn files(asked: &Message) -> Vec<String> {
    assert_eq!(asked.method.as_deref(), Some("fs/read_text_file"));
    let params: Value = serde_json::from_str(asked.params.as_ref().unwrap()).unwrap();
    let content = match params["path"].as_str().unwrap() {
        "/project/Cargo.toml" => "[package]\nname = \"p\"\n",
        "/project/src/lib.rs" => "pub mod deep;\npub fn shallow() {}\n",
        "/project/src/deep.rs" => "/// Here.\npub struct Treasure;\n",
        _ => return asked.error(r#"{"code":-32002,"message":"Resource not found"}"#),
    };
    asked.result(&json!({ "content": content }).to_string())
}

impl Turns {
    /// Starts an agent behind the proxies of a manifest, and a session with these servers of the client, an
    /// array. The client answers file reads.
    pub async fn start(manifest: &str, words: &[&str], servers: &Value) -> Self {
        let command = |folder: &Path| run(Some(&folder.join(MANIFEST)), agent(words));
        Self::launch(manifest, command, servers).await
    }

    /// The same with a command, which is made for a folder with this manifest as [`MANIFEST`].
    pub async fn launch(
        manifest: &str,
        command: impl FnOnce(&Path) -> Command,
        servers: &Value,
    ) -> Self {
        let mut chain = Chain::launch(manifest, command);
        let wire = &mut chain.client.wire;
        let hello = r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}"#;
        let answer = wire.request("initialize", hello).await;
        assert!(answer.result.is_some(), "{}", answer.line);
        let params = json!({ "cwd": "/project", "mcpServers": servers }).to_string();
        let answer = wire.request("session/new", &params).await;
        let result = answer.result.unwrap_or_else(|| panic!("{}", answer.line));
        let result: Value = serde_json::from_str(&result).expect("JSON");
        let session = result["sessionId"].as_str().expect("a session").to_owned();
        Self { chain, session }
    }

    /// Begins a turn; returns the id of the prompt.
    pub fn begin(&mut self, text: &str) -> String {
        let wire = &mut self.chain.client.wire;
        wire.transcript().clear();
        wire.ask("session/prompt", &prompt(&self.session, text))
    }

    /// Plays a whole turn; returns all streamed text.
    pub async fn turn(&mut self, text: &str) -> String {
        self.answering(text, |asked| panic!("asked: {}", asked.line))
            .await
    }

    /// The same with answers to the requests that the client receives.
    pub async fn answering(
        &mut self,
        text: &str,
        mut answer: impl FnMut(&Message) -> Vec<String>,
    ) -> String {
        let id = self.begin(text);
        let wire = &mut self.chain.client.wire;
        loop {
            let message = wire.receive().await.expect("the turn ends first");
            if message.answers(&id) {
                assert!(message.result.is_some(), "{}", message.line);
                return self.chain.client.chunks().concat();
            }
            if message.is_request() {
                for line in answer(&message) {
                    wire.send(line);
                }
            }
        }
    }

    /// Waits until the request to the client is cancelled and the turn is over, in either order; returns the
    /// end of the turn.
    pub async fn given_up(&mut self, prompt: &str) -> Message {
        let (mut withdrawn, mut ended) = (false, None);
        loop {
            let message = self.chain.client.wire.receive().await;
            let message = message.expect("the turn ends first");
            withdrawn |= message.method.as_deref() == Some("$/cancel_request");
            if message.answers(prompt) {
                assert!(message.result.is_some(), "{}", message.line);
                ended = Some(message);
            }
            if withdrawn && let Some(ended) = ended.take() {
                return ended;
            }
        }
    }

    /// Answers the request that the client received.
    pub fn answer(&mut self, lines: &[String]) {
        for line in lines {
            self.chain.client.wire.send(line);
        }
    }

    /// The last plan that the client received in this turn.
    pub fn plan(&self) -> Value {
        let lines = self.chain.client.wire.transcript().received("client");
        let updates = lines.iter().rev().filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let update = &line["params"]["update"];
            (update["sessionUpdate"] == "plan").then(|| update["entries"].clone())
        });
        updates.into_iter().next().expect("a plan")
    }
}
