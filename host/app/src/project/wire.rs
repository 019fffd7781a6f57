//! The protocol between the host, `find-projects` and `project-chain`: one JSON object per line.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::hooks::AttachedHooks;
use crate::protected::NamedFiles;
use acp_chain_extension::Digest;
use acp_chain_rpc::json_lines;

/// The maximum length of a line, in bytes.
pub const LINE: usize = 1 << 20;

/// A request to `find-projects`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lookup {
    /// The number of the lookup, which the answer repeats.
    pub number: u64,
    /// The working directory of a session.
    pub cwd: OsString,
}

/// A reply: an answer if it has a number, and a message for the user if it has a notice.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The projects whose proxies may run, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<TrustedProject>,
    /// Why the session must not begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Whether a project is watched, so that notices may follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watches: bool,
}

/// A project that the user trusts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedProject {
    /// The key of the project's content.
    pub key: Digest,
    /// The project's root.
    pub root: OsString,
    /// The display name.
    pub name: String,
    /// Whether only the project's guards run, since a nearer project has its own proxies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guards_only: bool,
}

/// The first line that `project-chain` reads. The rest is the protocol of proxies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProjectStart {
    /// The root of the project.
    pub root: OsString,
    /// The expected key of its content, as it is or as it was kept.
    pub key: Digest,
    /// Whether only its guards run.
    #[serde(default)]
    pub guards_only: bool,
    #[serde(default)]
    pub hooks: AttachedHooks,
    /// The files of the rest of the chain: no proxy of the project may write to them.
    pub beside: NamedFiles,
}

/// A value as a line.
pub fn line(what: &impl Serialize) -> Vec<u8> {
    json_lines::line(what).unwrap_or_default()
}

/// Reads just the first line; `None` if it is too long, or missing.
pub async fn first_line(input: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    while line.len() < LINE {
        match input.read_u8().await.ok()? {
            b'\n' => return Some(line),
            byte => line.push(byte),
        }
    }
    None
}
