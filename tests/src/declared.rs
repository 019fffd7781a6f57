//! MCP servers as declared to an agent: a command to start, or an address to connect to.

use std::process::Stdio;

use acp_chain::bridge::pipe::{SECRET, SOCKET};
use serde_json::Value;
use tokio::process::Command;

/// The value of a variable in the declaration of a server on stdio.
///
/// # Panics
/// If the declaration has no such variable.
#[must_use]
pub fn variable(declared: &Value, name: &str) -> String {
    let mut variables = declared["env"].as_array().expect("env").iter();
    let found = variables.find(|variable| variable["name"] == name);
    let value = found.expect("the variable")["value"].as_str();
    value.expect("a text").to_owned()
}

/// The command of a declaration, with pipes.
///
/// # Panics
/// If `declared` is not the declaration of a bridge to a server on stdio.
#[must_use]
pub fn command(declared: &Value) -> Command {
    let mut command = Command::new(declared["command"].as_str().expect("a command"));
    let arguments = declared["args"].as_array().expect("args").iter();
    command.args(arguments.map(|argument| argument.as_str().expect("a text")));
    for name in [SOCKET, SECRET] {
        command.env(name, variable(declared, name));
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// The URL of a declaration, and the value of its `Authorization`.
///
/// # Panics
/// If `declared` is not the declaration of a bridge to a server over HTTP.
#[must_use]
pub fn address(declared: &Value) -> (String, String) {
    let header = &declared["headers"][0];
    assert_eq!(declared["type"], "http", "{declared}");
    assert_eq!(header["name"], "Authorization");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    (text(&declared["url"]), text(&header["value"]))
}
