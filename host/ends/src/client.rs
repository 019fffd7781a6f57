//! What a client says, and how it answers an agent without asking the user.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use acp_chain_acp::{PERMISSION, READ, code};
use serde_json::{Value, json};

use crate::Request;

/// The maximum number of bytes of a file.
const MOST: u64 = 1 << 20;

/// What a client does for an agent: it allows what it is asked to, reads files within a folder if it has one, and does
/// nothing else.
#[derive(Clone, Debug)]
pub struct Services {
    folder: Option<PathBuf>,
    unknown: &'static str,
}

impl Services {
    /// Files are read within this folder, if any; this is said of what is not done.
    pub const fn new(folder: Option<PathBuf>, unknown: &'static str) -> Self {
        Self { folder, unknown }
    }

    /// The parameters of its `initialize`.
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

/// The parameters that begin a session in a folder, without MCP servers.
pub fn new_session(folder: &Path) -> Value {
    json!({ "cwd": folder, "mcpServers": [] })
}

/// The parameters of a prompt of one text.
pub fn prompt(session: &Value, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

/// The answer to a permission request: one of its options, or without one that the turn is cancelled.
pub fn choose(option: Option<&Value>) -> Value {
    let outcome = match option {
        Some(option) => json!({ "outcome": "selected", "optionId": option["optionId"] }),
        None => json!({ "outcome": "cancelled" }),
    };
    json!({ "outcome": outcome })
}

/// The option of a permission request that allows it, this time rather than always.
pub fn allowing(params: &Value) -> Option<&Value> {
    option(params, ["allow_once", "allow_always"])
}

/// The option of a permission request that rejects it, this time rather than always.
pub fn rejecting(params: &Value) -> Option<&Value> {
    option(params, ["reject_once", "reject_always"])
}

fn option<'p>(params: &'p Value, kinds: [&str; 2]) -> Option<&'p Value> {
    let options = params["options"].as_array()?;
    let of_kind = |kind| options.iter().find(|option| option["kind"] == kind);
    kinds.into_iter().find_map(of_kind)
}

/// A file within a folder, and no others.
fn read(folder: &Path, path: &str) -> io::Result<String> {
    let path = Path::new(path).canonicalize()?;
    if !path.starts_with(folder.canonicalize()?) || !path.is_file() {
        return Err(io::Error::other("it is not a file of the project"));
    }
    let mut content = String::new();
    File::open(path)?.take(MOST).read_to_string(&mut content)?;
    Ok(content)
}
