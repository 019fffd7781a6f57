//! The agent of the self-test (`acp-chain self-test-part agent FOLDER`): it says what it was asked, calls a tool of its
//! first MCP server, or starts a program that does not end by itself.

use std::io::{BufRead, BufReader, Write, stdin};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use acp_chain_acp::{INITIALIZE, NEW, PROMPT, UPDATE, code};
use acp_chain_ends::{Arrival, End, Request, notification, request};
use serde_json::{Value, json};

use crate::{PartError, kill, write_line};

/// The part that it is.
pub const AGENT: &str = "agent";

/// The prompts on which it does more than repeat them.
pub const CALL: &str = "call a tool";
pub const HOLD: &str = "start a program";

/// The id of every session.
const SESSION: &str = "self-test";

/// The version of MCP that it speaks.
const MCP: &str = "2025-06-18";

struct Agent<'f> {
    /// For the files that it and its program lock.
    folder: &'f Path,
    /// The declared MCP servers of the last session.
    servers: Value,
    end: End,
    /// What it keeps until its process ends.
    held: Vec<kill::Held>,
}

/// Serves on standard input and output until the input ends.
pub fn serve(folder: &Path) -> Result<(), PartError> {
    let mut agent = Agent {
        folder,
        servers: Value::Null,
        end: End::default(),
        held: Vec::new(),
    };
    for line in stdin().lock().lines() {
        if let Arrival::Request(request) = agent.end.take(serde_json::from_str(&line?)?) {
            let answer = agent.answer(&request)?;
            write_line(&answer.to_string())?;
        }
    }
    Ok(())
}

impl Agent<'_> {
    fn answer(&mut self, request: &Request) -> Result<Value, PartError> {
        Ok(match request.method() {
            INITIALIZE => request.respond(json!({ "protocolVersion": 1, "agentCapabilities": {} })),
            NEW => {
                self.servers = request.params()["mcpServers"].clone();
                request.respond(json!({ "sessionId": SESSION }))
            }
            PROMPT => {
                let text = self.said(request.params()["prompt"][0]["text"].as_str())?;
                let content = json!({ "type": "text", "text": text });
                let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
                let params = json!({ "sessionId": SESSION, "update": update });
                write_line(&notification(UPDATE, params).to_string())?;
                request.respond(json!({ "stopReason": "end_turn" }))
            }
            _ => request.refuse(
                code::METHOD_NOT_FOUND,
                "the agent of the self-test does not support this method",
            ),
        })
    }

    /// What it says to a prompt.
    fn said(&mut self, prompt: Option<&str>) -> Result<String, PartError> {
        Ok(match prompt {
            Some(CALL) => call(&self.servers[0])
                .unwrap_or_else(|error| format!("the tool cannot be called: {error}")),
            Some(HOLD) => {
                self.held.push(kill::Held::take(self.folder)?);
                HOLD.to_owned()
            }
            other => other.unwrap_or_default().to_owned(),
        })
    }
}

/// An MCP server that was started as declared. It ends with its input.
struct Server {
    process: Child,
    last: u64,
}

/// Calls the tool of a server on stdio. Returns its text.
fn call(declared: &Value) -> Result<String, PartError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut command = Command::new(text(&declared["command"]));
    command.args(list(&declared["args"]).iter().map(text));
    for variable in list(&declared["env"]) {
        command.env(text(&variable["name"]), text(&variable["value"]));
    }
    let process = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the server {declared} cannot be started: {error}"))?;
    let mut server = Server { process, last: 0 };
    let called = server.call();
    drop(server.process.stdin.take());
    server.process.wait()?;
    called
}

impl Server {
    fn call(&mut self) -> Result<String, PartError> {
        let output = self.process.stdout.take().ok_or("it has no output")?;
        let mut lines = BufReader::new(output).lines();
        let client = json!({ "name": "acp-chain-self-test", "version": "1" });
        let params = json!({ "protocolVersion": MCP, "capabilities": {}, "clientInfo": client });
        self.ask(&mut lines, "initialize", params)?;
        self.send(&notification("notifications/initialized", Value::Null))?;
        let tools = self.ask(&mut lines, "tools/list", Value::Null)?;
        let name = &tools["tools"][0]["name"];
        let params = json!({ "name": name, "arguments": {} });
        let result = self.ask(&mut lines, "tools/call", params)?;
        let said = result["content"][0]["text"].as_str();
        Ok(said.ok_or("the result has no text")?.to_owned())
    }

    fn ask(
        &mut self,
        lines: &mut impl Iterator<Item = std::io::Result<String>>,
        method: &str,
        params: Value,
    ) -> Result<Value, PartError> {
        self.last += 1;
        let id = self.last;
        self.send(&request(id, method, params))?;
        for line in lines {
            let mut message: Value = serde_json::from_str(&line?)?;
            if message["id"] != id {
                continue;
            }
            return match message.get("error") {
                Some(error) => Err(format!("`{method}` failed: {error}").into()),
                None => Ok(message["result"].take()),
            };
        }
        Err(format!("the server ended before it answered `{method}`").into())
    }

    fn send(&mut self, message: &Value) -> Result<(), PartError> {
        let input = self.process.stdin.as_mut().ok_or("it has no input")?;
        writeln!(input, "{message}")?;
        input.flush()?;
        Ok(())
    }
}
