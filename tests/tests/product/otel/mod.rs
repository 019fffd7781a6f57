//! Spans and metrics of real chains, in a collector: their content, and that no message waits for them.

mod collectors;
mod content;
mod real;
mod receiver;
mod served;
mod turn;

use std::ffi::OsStr;
use std::path::Path;

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host;
use acp_chain_tests::process::Process;
use acp_chain_tests::transcript::Transcript;
use serde_json::{Value, json};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/product/otel/agent.py");

/// A secret that the agent, the client and its server send wherever they can. No rule finds it.
const SECRET: &str = "hunter2";

/// A key that they send beside it, which rules find.
const KEY: &str = "AKIAIOSFODNN7EXAMPLQ";

/// The trace of the client's prompts.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const ABOVE: &str = "b7ad6b7169203331";

/// A client with an MCP server, of a chain with one proxy and these variables.
fn client(folder: &Path, options: &[&str], variables: &[(&str, &str)]) -> Process {
    let manifest = host::manifest(folder, &[("first", &host::component("pass"), "")]).unwrap();
    let options = options.iter().map(OsStr::new);
    let options = [OsStr::new("--manifest"), manifest.as_os_str()]
        .into_iter()
        .chain(options);
    let mut command = host::run_with(options, ["python3", AGENT]);
    command.envs(variables.iter().copied());
    let mut client = Process::start("client", &Transcript::new(), command).unwrap();
    client.wire = client.wire.answering(answer);
    client
}

/// The answers of the client and its server.
fn answer(message: &Message) -> Vec<String> {
    let result = match message.method.as_deref() {
        Some("session/request_permission") => {
            json!({"outcome": {"outcome": "selected", "optionId": "sk-live-hunter2"}})
        }
        Some("mcp/connect") => json!({"connectionId": "theirs"}),
        Some("mcp/message") => {
            let params = message.params.as_deref().unwrap_or_default();
            let said: Value = serde_json::from_str(params).unwrap();
            match said["method"].as_str() {
                Some("initialize") => json!({
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "theirs", "version": "1"},
                }),
                _ => json!({"content": [{"type": "text", "text": words()}], "isError": true}),
            }
        }
        _ => return Vec::new(),
    };
    message.result(&result.to_string())
}

fn words() -> String {
    format!("{SECRET} {KEY}")
}

/// A turn with every action of the agent, as part of the client's trace.
async fn turn(client: &mut Process) {
    turn_with(client, Some(meta())).await;
}

/// The client's `_meta` for its trace.
fn meta() -> Value {
    json!({"traceparent": format!("00-{TRACE}-{ABOVE}-01"), "tracestate": "vendor=1"})
}

/// A turn whose prompt has this `_meta`. Returns the `_meta` that the agent received.
async fn turn_with(client: &mut Process, meta: Option<Value>) -> Value {
    client.initialize().await;
    let server = r#"{"cwd":"/","mcpServers":[{"type":"acp","name":"theirs","id":"own-id"}]}"#;
    let begun = client.wire.request("session/new", server).await;
    let begun: Value = serde_json::from_str(begun.result.as_deref().unwrap()).unwrap();
    let mut prompt = json!({
        "sessionId": begun["sessionId"],
        "prompt": [{"type": "text", "text": words()}],
    });
    if let Some(meta) = meta {
        prompt["_meta"] = meta;
    }
    let ended = client
        .wire
        .request("session/prompt", &prompt.to_string())
        .await;
    let result = ended.result.as_deref();
    let result = result.unwrap_or_else(|| panic!("{}", ended.line));
    let result: Value = serde_json::from_str(result).unwrap();
    result["_meta"]["heard"].clone()
}
