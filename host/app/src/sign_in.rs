//! The `initialize` request of acp-chain as a client, and an agent's ways to sign in.

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Value, json};

use crate::shell;
use acp_chain_conductor::native::CommandLine;
use acp_chain_conductor::sign_in;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// One way to sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The id by which the agent knows it.
    pub id: Value,
    /// The name and description that the agent gives.
    pub name: String,
    /// The command to run in a terminal; `None` if this way to sign in needs none.
    pub command: Option<String>,
}

/// The parameters of `initialize`, for a client without terminals that shows its user how to sign in, and may have
/// files.
pub fn params(has_files: bool) -> Value {
    json!({
        "protocolVersion": 1,
        "clientInfo": { "name": "acp-chain", "version": env!("CARGO_PKG_VERSION") },
        "clientCapabilities": {
            "fs": { "readTextFile": has_files, "writeTextFile": has_files },
            "terminal": false,
            "auth": { "terminal": true },
            // The earlier form, from before the protocol had a name for it.
            "_meta": { "terminal-auth": true },
        },
    })
}

/// The ways to sign in, from the answer of an agent with this command.
pub fn logins(answer: &Value, agent: &CommandLine) -> Vec<Login> {
    let methods = answer["authMethods"].as_array().into_iter().flatten();
    let logins = methods.map(|method| {
        let text = |key: &str| method[key].as_str();
        let name = text("name").or(text("id")).unwrap_or("?");
        let about = text("description").map_or(String::new(), |about| format!(": {about}"));
        Login {
            id: method["id"].clone(),
            name: quote(&format!("{name}{about}"), MAX_QUOTE),
            command: command(method, agent),
        }
    });
    logins.collect()
}

/// The terminal command for a way to sign in.
fn command(method: &Value, agent: &CommandLine) -> Option<String> {
    let own = &method["_meta"]["terminal-auth"];
    if let Some(program) = own["command"].as_str() {
        return Some(line(own, [OsString::from(program)]));
    }
    // The protocol's place for it, and an earlier one.
    let mut places = [method, &method["_meta"]].into_iter();
    let place = places.find(|place| place["type"] == "terminal")?;
    let words = std::iter::once(&agent.program).chain(&agent.args);
    Some(line(place, words.cloned()))
}

/// A command line for a shell: the environment, the words, and further arguments.
fn line(more: &Value, words: impl IntoIterator<Item = OsString>) -> String {
    let word = |word: &str| shell::word(Path::new(word));
    let env = more["env"].as_object().into_iter().flatten();
    // This variable is only for a command line of ours.
    let env = env.filter(|(name, _)| *name != sign_in::VARIABLE);
    let env =
        env.filter_map(|(name, value)| Some(format!("{}={}", word(name), word(value.as_str()?))));
    let words = words.into_iter().map(|word| shell::word(Path::new(&word)));
    let args = more["args"].as_array().into_iter().flatten();
    let args = args.filter_map(|arg| Some(word(arg.as_str()?)));
    let all: Vec<_> = env.chain(words).chain(args).collect();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_logins_become_shell_commands() {
        let agent = CommandLine {
            program: "my agent".into(),
            args: vec!["--acp".into()],
            env: Vec::new(),
        };
        let answer = json!({ "authMethods": [
            { "id": "key", "name": "Key\u{1b}[2J" },
            { "type": "terminal", "id": "t", "name": "Terminal", "args": ["--log in"], "env": { "TTY": "1" } },
            { "id": "meta", "name": "Meta", "description": "As some do", "_meta": { "type": "terminal", "args": ["-o"] } },
            { "id": "old", "name": "Old", "_meta": { "terminal-auth": { "command": "node", "args": ["cli.js", "/login"] } } },
        ] });
        let found = logins(&answer, &agent);
        let found: Vec<_> = found
            .iter()
            .map(|login| (&*login.name, login.command.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                ("Key\\u{1b}[2J", None),
                ("Terminal", Some("TTY=1 'my agent' --acp '--log in'")),
                ("Meta: As some do", Some("'my agent' --acp -o")),
                ("Old", Some("node cli.js /login")),
            ]
        );
    }
}
