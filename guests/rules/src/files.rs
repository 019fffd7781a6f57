//! The rule files of a session: those of its directory, or else of the nearest folder above that has any, up to the
//! root of the repository. They are read through the client.
//!
//! Outside of a repository nothing above the directory is read: anybody may have put a file into `/tmp`.

use std::cell::Cell;

use acp_chain_proxy::{Peer, debug, path};
use serde_json::json;

/// The maximum size of the rules, so that a replay is searched for all of them.
const MOST: usize = crate::mark::LONGEST / 2;

/// The first name.
const FIRST: &str = "AGENTS.md";

/// The files by which the root of a repository is known. In a worktree, `.git` is a file itself.
const ROOT: [&str; 2] = [".git/HEAD", ".git"];

/// How many folders above the directory are searched.
const MOST_ABOVE: usize = 16;

pub(crate) struct Files {
    names: Vec<String>,
    all: bool,
    limit: usize,
    /// Whether the client has answered without the content of a file.
    lack_content: Cell<bool>,
}

/// What the client answers about a file.
enum Answer {
    Text(String),
    /// An error. An unreadable file counts as missing, since clients do not agree on an error for that.
    Missing,
    /// A result without the content.
    Nothing,
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
        Ok(Self {
            names,
            all,
            limit,
            lack_content: Cell::default(),
        })
    }

    /// Reads the existing files of the nearest folder that has any.
    pub(crate) async fn read(&self, session: &str, cwd: &str) -> Vec<File> {
        let files = self.of_folder(session, cwd, "").await;
        if !files.is_empty() {
            return files;
        }
        let mut way = String::new();
        for folder in above(session, cwd).await {
            way.push_str("../");
            let higher = self.of_folder(session, folder, &way).await;
            if !higher.is_empty() {
                return higher;
            }
        }
        Vec::new()
    }

    /// Whether the client has answered without the content of a file.
    pub(crate) fn lack_content(&self) -> bool {
        self.lack_content.get()
    }

    /// Reads the existing files of a folder, in the order of the names. `way` leads to it from the directory.
    async fn of_folder(&self, session: &str, folder: &str, way: &str) -> Vec<File> {
        let mut files = Vec::new();
        let mut room = self.limit;
        for name in &self.names {
            let mut text = match text_of(session, &path::join(folder, name)).await {
                Answer::Text(text) => text,
                Answer::Missing => continue,
                Answer::Nothing => {
                    self.lack_content.set(true);
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
                name: format!("{way}{name}"),
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

/// Asks the client for a file.
async fn text_of(session: &str, path: &str) -> Answer {
    let params = json!({ "sessionId": session, "path": path });
    match Peer::Client.request("fs/read_text_file", params).await {
        Ok(file) => file.at("/content").map_or(Answer::Nothing, Answer::Text),
        Err(error) => {
            debug!("{path} is missing: {error}");
            Answer::Missing
        }
    }
}

/// The folders above a directory, the nearest first, up to the root of its repository; none if it is in no repository.
async fn above<'d>(session: &str, directory: &'d str) -> Vec<&'d str> {
    let mut above = Vec::new();
    let mut folder = directory;
    while !is_root(session, folder).await {
        match parent(folder) {
            Some(containing) if above.len() < MOST_ABOVE => {
                above.push(containing);
                folder = containing;
            }
            _ => return Vec::new(),
        }
    }
    above
}

/// Some clients answer with an empty text for what is missing, and neither file is empty.
async fn is_root(session: &str, folder: &str) -> bool {
    for name in ROOT {
        let answer = text_of(session, &path::join(folder, name)).await;
        if matches!(answer, Answer::Text(text) if !text.trim().is_empty()) {
            return true;
        }
    }
    false
}

/// The folder that contains another one; `None` for a root, and where the text does not say it.
fn parent(folder: &str) -> Option<&str> {
    let separators: &[char] = if folder.starts_with('/') {
        &['/']
    } else {
        &['/', '\\']
    };
    let bare = folder.trim_end_matches(separators);
    let at = bare.rfind(separators)?;
    let name = &bare[at + 1..];
    if matches!(name, "." | "..") {
        return None;
    }
    Some(if at == 0 { &bare[..1] } else { &bare[..at] })
}
