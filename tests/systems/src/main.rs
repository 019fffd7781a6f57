//! `systems-agent`: an agent for tests of what differs by operating system. It needs nothing but the standard library
//! of the system.
//!
//! | Prompt | What the agent answers |
//! |---|---|
//! | `echo TEXT` | the text |
//! | `facts` | its arguments and its folder, as JSON |
//! | `servers` | the MCP servers that the session was given, as JSON |
//! | `call TOOL JSON` | what this tool of its first MCP server returns, after starting the server |
//! | `exit` | nothing: it exits with code 3 |
//!
//! | Arguments | What they change |
//! |---|---|
//! | `--child ADDRESS …` | it first starts a process that connects there, and stays until the connection is closed |
//! | `--crlf …` | its lines end as files of Windows do |
//! | `--hold ADDRESS` | it is that process, and no agent |

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio, exit};

use acp_chain_ends::{Arrival, End, Request, notification, request};
use serde_json::{Value, json};

const SESSION: &str = "session-of-systems";

/// The version of MCP that the agent speaks.
const MCP: &str = "2025-06-18";

#[derive(Default)]
struct Agent {
    args: Vec<String>,
    /// The MCP servers of the last session.
    servers: Value,
    end: End,
    /// What becomes of it is up to the host.
    child: Option<Child>,
}

fn main() -> io::Result<()> {
    let mut agent = Agent {
        args: env::args().skip(1).collect(),
        ..Agent::default()
    };
    let words: Vec<&str> = agent.args.iter().map(String::as_str).collect();
    let mut line_end = "\n";
    match words[..] {
        ["--hold", address] => return hold(address),
        ["--child", address, ..] => agent.child = Some(start_child(address)?),
        ["--crlf", ..] => line_end = "\r\n",
        _ => {}
    }
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        for message in agent.take(serde_json::from_str(&line?)?) {
            write!(out, "{message}{line_end}")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Stays until the other side closes the connection, or this process is killed.
fn hold(address: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    io::copy(&mut stream, &mut io::sink()).map(drop)
}

fn start_child(address: &str) -> io::Result<Child> {
    Command::new(env::current_exe()?)
        .args(["--hold", address])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

impl Agent {
    /// Handles a message. Returns the agent's messages, in order.
    fn take(&mut self, message: Value) -> Vec<Value> {
        match self.end.take(message) {
            Arrival::Request(request) => self.serve(&request),
            _ => Vec::new(),
        }
    }

    fn serve(&mut self, request: &Request) -> Vec<Value> {
        let params = request.params();
        let answer = match request.method() {
            "initialize" => json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            "session/new" => {
                self.servers = params["mcpServers"].clone();
                json!({ "sessionId": SESSION })
            }
            "session/prompt" => {
                let text = params["prompt"][0]["text"].as_str().unwrap_or_default();
                let said = chunk(&self.act(text));
                return vec![said, request.respond(json!({ "stopReason": "end_turn" }))];
            }
            _ => return vec![request.refuse(-32601, "this agent has no such method")],
        };
        vec![request.respond(answer)]
    }

    /// Does what a prompt says, and returns the answer.
    fn act(&self, prompt: &str) -> String {
        let (word, rest) = prompt.split_once(' ').unwrap_or((prompt, ""));
        match word {
            "echo" => rest.to_owned(),
            "facts" => json!({ "args": self.args, "folder": env::current_dir().ok() }).to_string(),
            "servers" => self.servers.to_string(),
            "call" => {
                let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
                let called = call(&self.servers[0], tool, arguments);
                called.map_or_else(|error| format!("error: {error}"), |it| it.to_string())
            }
            "exit" => exit(3),
            _ => format!("error: no such prompt: {prompt}"),
        }
    }
}

fn chunk(text: &str) -> Value {
    let content = json!({ "type": "text", "text": text });
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    notification(
        "session/update",
        json!({ "sessionId": SESSION, "update": update }),
    )
}

/// The result of a tool of an MCP server, which is started for that.
fn call(server: &Value, tool: &str, arguments: &str) -> io::Result<Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut command = Command::new(text(&server["command"]));
    for variable in list(&server["env"]) {
        command.env(text(&variable["name"]), text(&variable["value"]));
    }
    let mut child = command
        .args(list(&server["args"]).iter().map(text))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let none = || io::Error::other("the server has no standard streams");
    let mut input = child.stdin.take().ok_or_else(none)?;
    let output = child.stdout.take().ok_or_else(none)?;
    let client = json!({ "name": "systems-agent", "version": "1" });
    let hello = json!({ "protocolVersion": MCP, "capabilities": {}, "clientInfo": client });
    let arguments: Value = serde_json::from_str(arguments)?;
    let params = json!({ "name": tool, "arguments": arguments });
    let mut lines = BufReader::new(output).lines();
    writeln!(input, "{}", request(1, "initialize", hello))?;
    answer(&mut lines, 1)?;
    writeln!(
        input,
        "{}",
        notification("notifications/initialized", Value::Null)
    )?;
    writeln!(input, "{}", request(2, "tools/call", params))?;
    let result = answer(&mut lines, 2);
    drop(input);
    child.wait()?;
    result
}

/// The result of the request with this id.
fn answer(lines: &mut impl Iterator<Item = io::Result<String>>, id: u64) -> io::Result<Value> {
    for line in lines {
        let message: Value = serde_json::from_str(&line?)?;
        if message["id"] == id && message.get("method").is_none() {
            return match message.get("error") {
                Some(error) => Err(io::Error::other(error.to_string())),
                None => Ok(message["result"].clone()),
            };
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
