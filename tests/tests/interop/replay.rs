//! A session that a real agent kept: when it is loaded again, it shows neither the rules that a proxy added
//! nor a secret, and continues as if there were no proxies.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use acp_chain_tests::chain::{Chain, MANIFEST, entry};
use acp_chain_tests::client::prompt;
use acp_chain_tests::envelope::quoted;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::wire::in_time;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

const RULE: &str = "Always be kind.";

/// Keys of the form that the cloud's own documentation uses: one of the user, and one of the model.
const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";
const OTHER: &str = "AKIAIOSFODNN7EXAMPLR";

/// A model that gives the same answer to every request, with the interface of `OpenAI`.
struct Model {
    address: String,
    asked: Arc<Mutex<String>>,
}

impl Model {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(String::new()));
        let all = asked.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(answer(client, all.clone()));
            }
        });
        Self { address, asked }
    }

    /// All requests since the last call.
    fn asked(&self) -> String {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

/// Answers one request, and closes the connection.
async fn answer(client: TcpStream, asked: Arc<Mutex<String>>) {
    let mut client = BufReader::new(client);
    let (mut line, mut length) = (String::new(), 0);
    while client.read_line(&mut line).await.is_ok_and(|read| read > 2) {
        let header = line.to_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body).await.unwrap();
    asked
        .lock()
        .unwrap()
        .push_str(&String::from_utf8(body).unwrap());
    let delta = json!({"role": "assistant", "content": format!("noted, beside {OTHER} of mine")});
    let chunk = |delta: Value, end: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": end});
        let chunk = json!({
            "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice],
        });
        format!("data: {chunk}\n\n")
    };
    let said = chunk(delta, Value::Null) + &chunk(json!({}), "stop".into()) + "data: [DONE]\n\n";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    client
        .write_all(format!("{head}{said}").as_bytes())
        .await
        .unwrap();
}

/// The parts that outlast a connection: the agent's home, the project, and the model.
struct Fixture {
    folder: TempDir,
    model: Model,
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = json!({
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
            "general": { "disableAutoUpdate": true, "enableAutoUpdate": false },
        });
        fs::create_dir_all(folder.path().join("home/.qwen")).unwrap();
        fs::create_dir_all(folder.path().join("project")).unwrap();
        fs::write(
            folder.path().join("home/.qwen/settings.json"),
            settings.to_string(),
        )
        .unwrap();
        let model = Model::start().await;
        Self { folder, model }
    }

    fn project(&self) -> String {
        self.folder.path().join("project").display().to_string()
    }

    /// A connection to the agent through the two proxies.
    async fn connect(&self) -> Chain {
        let manifest = entry("rules", "rules", "") + &entry("redact", "redact", "");
        let agent = host::peer("bin/qwen").display().to_string();
        let mut chain = Chain::launch(&manifest, |folder: &Path| {
            let manifest = folder.join(MANIFEST);
            let agent = [&*agent, "--acp", "--auth-type", "openai"];
            let mut command = host::run(Some(&manifest), agent);
            command
                .current_dir(self.folder.path().join("project"))
                .env("HOME", self.folder.path().join("home"))
                .env("XDG_STATE_HOME", folder)
                .env("OPENAI_API_KEY", "none")
                .env(
                    "OPENAI_BASE_URL",
                    format!("http://{}/v1", self.model.address),
                )
                .env("OPENAI_MODEL", "m");
            command
        });
        // The client has the project's rules, and no other file.
        let rules = quoted(&format!("{}/AGENTS.md", self.project()));
        chain.client.wire = chain.client.wire.answering(move |message| {
            let params = message.params.as_deref().unwrap_or_default();
            if params.contains(&rules) {
                message.result(&json!({ "content": RULE }).to_string())
            } else {
                message.error(r#"{"code":-32002,"message":"Resource not found"}"#)
            }
        });
        let params = r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}"#;
        let answer = chain.client.wire.request("initialize", params).await;
        assert!(answer.result.is_some(), "{}", answer.line);
        chain
    }

    /// The parameters that set a session up.
    fn setup(&self, session: Option<&str>) -> String {
        json!({ "sessionId": session, "cwd": self.project(), "mcpServers": [] }).to_string()
    }
}

/// A turn in which the user sends this text.
async fn turn(client: &mut Process, session: &str, text: &str) {
    let answer = client
        .wire
        .request("session/prompt", &prompt(session, text))
        .await;
    let result = answer.result.unwrap_or_else(|| panic!("{}", answer.line));
    assert!(result.contains("end_turn"), "{result}");
}

/// The texts of a conversation that the client received: the user's, and the agent's.
fn shown(client: &Process) -> [String; 2] {
    let lines = client.wire.transcript().received("client");
    ["user_message_chunk", "agent_message_chunk"].map(|kind| {
        let texts = lines.iter().filter_map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let update = &line["params"]["update"];
            let text = update["content"]["text"].as_str()?;
            (update["sessionUpdate"] == kind).then(|| text.to_owned())
        });
        texts.collect()
    })
}

fn shows_nothing_that_is_hidden(client: &Process) {
    let lines = client.wire.transcript().received("client").concat();
    for hidden in [SECRET, OTHER] {
        assert!(!lines.contains(hidden), "{lines}");
    }
}

#[tokio::test]
async fn a_session_that_comes_back_shows_neither_rules_nor_secrets() {
    let kept = Fixture::new().await;
    let mut chain = kept.connect().await;
    let client = &mut chain.client;
    let answer = client.wire.request("session/new", &kept.setup(None)).await;
    let session: Value = serde_json::from_str(&answer.result.unwrap()).unwrap();
    let session = session["sessionId"].as_str().unwrap().to_owned();
    turn(client, &session, &format!("my key is {SECRET}, keep it")).await;
    shows_nothing_that_is_hidden(client);
    let asked = kept.model.asked();
    assert!(asked.contains(RULE) && asked.contains("keep it"), "{asked}");
    assert!(!asked.contains(SECRET), "{asked}");

    let mut again = kept.connect().await;
    let client = &mut again.client;
    // The agent saves a text a moment after it has sent it.
    let [user, agent] = in_time("the session is kept", async {
        loop {
            client.wire.transcript().clear();
            let setup = kept.setup(Some(&session));
            let answer = client.wire.request("session/load", &setup).await;
            assert!(answer.result.is_some(), "{}", answer.line);
            let shown = shown(client);
            if shown[1].contains("noted, beside") {
                break shown;
            }
        }
    })
    .await;
    chain.client.finish().await.unwrap();
    assert!(user.contains("keep it") && !user.contains(RULE), "{user}");
    assert!(!agent.contains(RULE), "{agent}");
    goes_on(client, &session, &kept.model).await;
    again.client.finish().await.unwrap();
}

/// A turn in which the model also receives the first turn, and no secret.
async fn goes_on(client: &mut Process, session: &str, model: &Model) {
    turn(client, session, &format!("again, {SECRET}")).await;
    shows_nothing_that_is_hidden(client);
    let asked = model.asked();
    let heard = asked.contains("keep it") && asked.contains("again, ");
    assert!(heard && !asked.contains(SECRET), "{asked}");
}
