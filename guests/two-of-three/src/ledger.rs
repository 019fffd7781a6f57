//! What is stored of a project: the labels of its sessions, and the files that were written under A; and of the user,
//! those outside of projects that agents read by themselves.
//!
//! Invariants: both are bounded. A session that was evicted is unknown, and files past the bound count as written
//! under A, so that nothing is forgotten in favour of the agent.

use std::collections::BTreeSet;

use acp_chain_calls::turns::hash;
use acp_chain_proxy::values::{self, Keeper};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::judge::Effects;
use crate::label::Labels;

/// The maximum size of a value, in bytes; the host allows 64 KiB.
const MOST: usize = 60 * 1024;
/// The longest id of a session that is stored as it is, in bytes.
const LONGEST_ID: usize = 128;
/// The longest path that is stored, in bytes.
const LONGEST_PATH: usize = 1024;

/// Files, and folders of files, that agents read by themselves when a session begins.
const INSTRUCTIONS: &[&str] = &[
    ".agents",
    ".augment",
    ".augment-guidelines",
    ".claude",
    ".clinerules",
    ".codex",
    ".copilot",
    ".crush",
    ".cursor",
    ".cursorrules",
    ".factory",
    ".gemini",
    ".goosehints",
    ".iflow",
    ".junie",
    ".kilo",
    ".kilocode",
    ".kimi",
    ".kiro",
    ".opencode",
    ".pi",
    ".qwen",
    ".rules",
    ".vibe",
    ".windsurf",
    ".windsurfrules",
    "agent.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "copilot-instructions.md",
    "crush.md",
    "gemini.md",
    "iflow.md",
    "qwen.md",
];

/// The end of the names of more of these files, in `.github/instructions`.
const MORE_INSTRUCTIONS: &str = ".instructions.md";

const SESSIONS: &str = "sessions";
const FILES: &str = "files";

/// What is stored of a session.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Record {
    pub(crate) labels: Labels,
    /// How many prompts this proxy has seen.
    pub(crate) prompts: u64,
}

/// The sessions of a project with their names, the oldest first.
#[derive(Default, Deserialize, Serialize)]
#[serde(transparent)]
struct Records(Vec<(String, Record)>);

impl Records {
    fn take(&mut self, name: &str) -> Option<Record> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(place).1)
    }

    fn put(&mut self, name: &str, record: Record) {
        self.0.push((name.to_owned(), record));
        while self.0.len() > 1 && size(&self.0) > MOST {
            self.0.remove(0);
        }
    }
}

/// The files of a project, or of the user, that were written under A, by [`key`](crate::judge::key).
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Files {
    paths: BTreeSet<String>,
    /// Whether there are more, so that any file may be one.
    more: bool,
}

impl Files {
    pub(crate) fn add(&mut self, path: &str) {
        if self.more || self.paths.contains(path) {
            return;
        }
        self.paths.insert(path.to_owned());
        if path.len() > LONGEST_PATH || size(&self.paths) > MOST {
            self.paths.remove(path);
            self.more = true;
        }
    }

    /// Removes files; with the word `files`, all of them.
    pub(crate) fn clear(&mut self, paths: &[String]) {
        for path in paths {
            self.paths.remove(path);
        }
        if paths.iter().any(|path| path == FILES) {
            *self = Self::default();
        }
    }

    /// A file that agents read by themselves. `home` is the folder of the project, as a [`key`](crate::judge::key).
    pub(crate) fn instructions(&self, home: &str) -> Option<&str> {
        let is_named = |path: &&String| is_instruction(path.strip_prefix(home).unwrap_or(path));
        let found = self.paths.iter().find(is_named).map(String::as_str);
        found.or(self.more.then_some("a file of the project"))
    }

    /// Whether one of them may say what git runs: its settings, or the `HEAD` of a repository in a folder of the project.
    /// `home` is the folder of the project, as a [`key`](crate::judge::key).
    pub(crate) fn have_git(&self, home: &str) -> bool {
        let is_of_git = |path: &String| {
            let own = path.strip_prefix(home).unwrap_or(path);
            let is_head = own.rsplit('/').next() == Some("head");
            is_head
                || own
                    .split('/')
                    .any(|name| name.strip_suffix(".git").is_some())
        };
        self.more || self.paths.iter().any(is_of_git)
    }

    /// A file that these effects may read, or that is below a folder that they read.
    pub(crate) fn read_by(&self, effects: &Effects) -> Option<&str> {
        let reads_some = effects.reads_any || !effects.reads.is_empty();
        let is_below = |path: &str, folder: &str| {
            let rest = path.strip_prefix(folder.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_read = |path: &&String| {
            let mut reads = effects.reads.iter();
            effects.reads_any || reads.any(|read| is_below(path, read))
        };
        let found = self.paths.iter().find(is_read).map(String::as_str);
        found.or((self.more && reads_some).then_some("a file of the project"))
    }
}

/// Whether a path is that of a file that agents read by themselves when a session begins.
pub(crate) fn is_instruction(path: &str) -> bool {
    let is_named = |name: &str| INSTRUCTIONS.contains(&name) || name.ends_with(MORE_INSTRUCTIONS);
    path.split('/').any(is_named)
}

/// Changes what is stored of a session, and returns it as it is then. An error says why nothing is stored.
pub(crate) async fn change(
    session: &str,
    mut change: impl FnMut(&mut Record),
) -> Result<Record, String> {
    let (name, mut changed) = (name(session), Record::default());
    let store = |records: &mut Records| {
        let mut record = records.take(&name).unwrap_or_default();
        change(&mut record);
        changed = record.clone();
        records.put(&name, record);
    };
    update(Keeper::Project(session), SESSIONS, store).await?;
    Ok(changed)
}

/// What is stored of `session` in the project of the session `open`.
pub(crate) async fn load(open: &str, session: &str) -> Result<Option<Record>, String> {
    let mut records: Records = read(Keeper::Project(open), SESSIONS).await?;
    Ok(records.take(&name(session)))
}

pub(crate) async fn files(of: Keeper<'_>) -> Result<Files, String> {
    read(of, FILES).await
}

pub(crate) async fn change_files(
    of: Keeper<'_>,
    change: impl FnMut(&mut Files),
) -> Result<(), String> {
    update(of, FILES, change).await
}

async fn read<T: Default + DeserializeOwned>(of: Keeper<'_>, key: &str) -> Result<T, String> {
    let loaded = values::load(of, key).await;
    let found = loaded.map_err(|error| error.message)?;
    parse(found.value.as_deref())
}

async fn update<T: Default + DeserializeOwned + Serialize>(
    of: Keeper<'_>,
    key: &str,
    mut change: impl FnMut(&mut T),
) -> Result<(), String> {
    let mut outcome = Ok(());
    let store = |stored: Option<&str>| match parse::<T>(stored) {
        Ok(mut value) => {
            outcome = Ok(());
            change(&mut value);
            serde_json::to_string(&value).ok()
        }
        // What cannot be read stays as it is.
        Err(error) => {
            outcome = Err(error);
            stored.map(str::to_owned)
        }
    };
    let stored = values::update(of, key, store).await;
    stored.map_err(|error| error.message)?;
    outcome
}

fn parse<T: Default + DeserializeOwned>(stored: Option<&str>) -> Result<T, String> {
    let parsed = stored.map(serde_json::from_str::<T>).transpose();
    let value = parsed.map_err(|error| format!("what is stored cannot be read: {error}"))?;
    Ok(value.unwrap_or_default())
}

/// The size in JSON, in bytes.
fn size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

/// The name under which a session is stored.
fn name(session: &str) -> String {
    if session.len() <= LONGEST_ID {
        return session.to_owned();
    }
    format!("#{:x}", hash(&session))
}
