//! The protocol between the host, `find-projects` and `project-chain`: one JSON object per line.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::cli::relied_on::Named;
use crate::extension::Digest;

/// The longest line, in bytes.
pub const LINE: usize = 1 << 20;

/// What `find-projects` is asked.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lookup {
    /// The answer has this number.
    pub number: u64,
    /// The working directory of a session.
    pub cwd: OsString,
}

/// What it says: an answer if it has a number, and something for the user if it has a notice.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The project whose proxies may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Trusted>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A project that the user trusts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// What stands for its content.
    pub key: Digest,
    /// Where it is.
    pub root: OsString,
    /// Its display name.
    pub name: String,
}

/// The first line that `project-chain` reads. What comes behind it is the protocol of proxies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begin {
    /// Where the project is.
    pub root: OsString,
    /// What its content must be.
    pub key: Digest,
    /// What is in front of and behind it: no proxy may write to that.
    pub beside: Named,
}

/// Something as a line.
pub fn line(what: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(what).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Reads just the first line; none if it is too long, or not there.
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
