//! The rule files of a directory, read through the client.

use acp_chain_proxy::{Peer, debug, path};
use serde_json::json;

/// The maximum size of the rules, so that a replay is searched for all of them.
const MOST: usize = crate::mark::LONGEST / 2;

/// The first name.
const FIRST: &str = "AGENTS.md";

pub(crate) struct Files {
    names: Vec<String>,
    all: bool,
    limit: usize,
}

/// A rule file, up to the limit.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Its whole size in bytes.
    pub(crate) size: usize,
}

impl Files {
    pub(crate) fn new(more: Vec<String>, all: bool, limit: usize) -> Result<Self, String> {
        let mut names = vec![FIRST.to_owned()];
        for name in more {
            if name.is_empty() || path::is_absolute(&name) {
                return Err(format!(
                    "`files` has `{name}`, expected names from the session's directory, like \
                     `docs/RULES.md`"
                ));
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if limit > MOST {
            return Err(format!(
                "`limit` is {limit}, expected at most {MOST}; agents read only a part of rules \
                 that long"
            ));
        }
        if limit == 0 {
            return Err(
                "`limit` is 0, expected at least one byte; leave out the proxy to add \
                        no rules"
                    .into(),
            );
        }
        Ok(Self { names, all, limit })
    }

    /// Reads existing files, in the order of the names. An unreadable file counts as missing, since clients do not
    /// agree on an error for that.
    pub(crate) async fn read(&self, session: &str, cwd: &str) -> Vec<File> {
        let mut files = Vec::new();
        let mut room = self.limit;
        for name in &self.names {
            let params = json!({ "sessionId": session, "path": path::join(cwd, name) });
            let mut text: String = match Peer::Client.request("fs/read_text_file", params).await {
                Ok(file) => file.at("/content").unwrap_or_default(),
                Err(error) => {
                    debug!("{name} is missing: {error}");
                    continue;
                }
            };
            if text.trim().is_empty() {
                continue;
            }
            let size = text.len();
            text.truncate(text.floor_char_boundary(room));
            room -= text.len();
            files.push(File {
                name: name.clone(),
                text,
                size,
            });
            if !self.all || room == 0 {
                break;
            }
        }
        files
    }
}
