//! The messages of a client that answers the agent's requests without asking the user.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use acp_chain_acp::{PERMISSION, READ, code};
use serde_json::{Value, json};

use crate::Request;

/// The maximum number of bytes read of a file.
const MOST: u64 = 1 << 20;

/// The services of a client for an agent: it grants permission requests, and reads files within a folder, if there is
/// one. It rejects other requests.
#[derive(Clone, Debug)]
pub struct Services {
    folder: Option<PathBuf>,
    unknown: &'static str,
}

impl Services {
    /// `unknown` is the error message for unsupported methods.
    pub const fn new(folder: Option<PathBuf>, unknown: &'static str) -> Self {
        Self { folder, unknown }
    }

    /// The parameters of `initialize`.
    pub fn initialize(&self) -> Value {
        let files = json!({ "readTextFile": self.folder.is_some(), "writeTextFile": false });
        json!({ "protocolVersion": 1, "clientCapabilities": { "fs": files } })
    }

    /// The answer to a request.
    pub fn serve(&self, request: &Request) -> Value {
        let params = request.params();
        match (request.method(), &self.folder) {
            (PERMISSION, _) => request.respond(choose(allowing(params))),
            (READ, Some(folder)) => {
                match read(folder, params["path"].as_str().unwrap_or_default()) {
                    Ok(content) => request.respond(json!({ "content": content })),
                    Err(error) => request.refuse(code::INTERNAL_ERROR, &error.to_string()),
                }
            }
            _ => request.refuse(code::METHOD_NOT_FOUND, self.unknown),
        }
    }
}

/// The parameters of `session/new` in a folder, without MCP servers.
pub fn new_session(folder: &Path) -> Value {
    json!({ "cwd": folder, "mcpServers": [] })
}

/// The parameters of `session/prompt` with one text.
pub fn prompt(session: &Value, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

/// The result for a permission request: the chosen option, or `cancelled` without one.
pub fn choose(option: Option<&Value>) -> Value {
    let outcome = match option {
        Some(option) => json!({ "outcome": "selected", "optionId": option["optionId"] }),
        None => json!({ "outcome": "cancelled" }),
    };
    json!({ "outcome": outcome })
}

/// The option of a permission request that allows it; preferably once.
pub fn allowing(params: &Value) -> Option<&Value> {
    option(params, ["allow_once", "allow_always"])
}

/// The option of a permission request that rejects it; preferably once.
pub fn rejecting(params: &Value) -> Option<&Value> {
    option(params, ["reject_once", "reject_always"])
}

fn option<'p>(params: &'p Value, kinds: [&str; 2]) -> Option<&'p Value> {
    let options = params["options"].as_array()?;
    let of_kind = |kind| options.iter().find(|option| option["kind"] == kind);
    kinds.into_iter().find_map(of_kind)
}

/// Reads a file. An error if it is outside of the folder.
fn read(folder: &Path, path: &str) -> io::Result<String> {
    let path = Path::new(path).canonicalize()?;
    if !path.starts_with(folder.canonicalize()?) || !path.is_file() {
        return Err(io::Error::other("it is not a file of the project"));
    }
    io::read_to_string(File::open(path)?.take(MOST))
}
