//! The formats of recordings, and where agents keep them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use acp_chain_hooks::{Dialect, dialect};
use serde::Serialize;

/// The format of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A session of Claude, or of a subagent of it: JSON, one object a line.
    Claude,
    /// A session of Codex: JSON, one object a line.
    Codex,
    /// A session of Gemini CLI: JSON, one object a line; of older versions, one object.
    Gemini,
    /// The database of opencode, in the form of `SQLite`; of older versions, the file of a session, with those of its
    /// messages elsewhere.
    Opencode,
    /// A trace of acp-chain.
    Trace,
}

/// The name of opencode's database.
pub(crate) const DATABASE: &str = "opencode.db";

/// The ending of recordings that are compressed.
pub(crate) const COMPRESSED: &str = "zst";

/// The home folder of a user, and the variables with which they move the folders of agents.
pub struct Home<'h> {
    /// The folder.
    pub folder: &'h Path,
    /// The value of a variable of the environment.
    pub variable: &'h dyn Fn(&str) -> Option<OsString>,
}

/// A folder in which recordings are found.
pub(crate) struct Place {
    pub folder: PathBuf,
    /// How deep below it they are, at most: 0 is in the folder itself.
    pub depth: usize,
    /// Whether a file is one, by its path below the folder.
    pub is_one: fn(&Path) -> bool,
}

impl Format {
    /// The formats of agents.
    pub const AGENTS: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// Its name, as for `--agent`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Trace => "trace",
        }
    }

    /// The names and kinds of its tools; `None` for a trace, which has them itself.
    pub(crate) fn dialect(self) -> Option<&'static Dialect> {
        dialect(self.as_str())
    }

    /// Where an agent keeps its recordings; nowhere for a trace.
    pub(crate) fn places(self, home: &Home) -> Vec<Place> {
        let moved = |variable: &str, usual: &str| {
            let moved = (home.variable)(variable).filter(|value| !value.is_empty());
            moved.map_or_else(|| home.folder.join(usual), PathBuf::from)
        };
        match self {
            Self::Claude => vec![Place {
                folder: moved("CLAUDE_CONFIG_DIR", ".claude").join("projects"),
                depth: 8,
                is_one: |path| ends(path, "jsonl"),
            }],
            Self::Codex => {
                let folders = ["sessions", "archived_sessions"].into_iter();
                let places = folders.map(|folder| Place {
                    folder: moved("CODEX_HOME", ".codex").join(folder),
                    depth: 4,
                    is_one: |path| {
                        // Codex compresses those that have not been used for long.
                        let is_compressed = ends(path, COMPRESSED);
                        ends(path, "jsonl")
                            || is_compressed && ends(&path.with_extension(""), "jsonl")
                    },
                });
                places.collect()
            }
            Self::Gemini => vec![Place {
                folder: moved("GEMINI_CLI_HOME", "").join(".gemini/tmp"),
                depth: 4,
                is_one: |path| {
                    let mut parts = path.components().skip(1);
                    let is_chat = parts.next().is_some_and(|part| part.as_os_str() == "chats");
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    let is_older = name.starts_with("session-") && ends(path, "json");
                    is_chat && (is_older || ends(path, "jsonl"))
                },
            }],
            Self::Opencode => vec![Place {
                folder: moved("XDG_DATA_HOME", ".local/share").join("opencode"),
                depth: 3,
                is_one: |path| {
                    let is_session = path.starts_with("storage/session") && ends(path, "json");
                    path.as_os_str() == DATABASE || is_session && path.components().count() == 4
                },
            }],
            Self::Trace => Vec::new(),
        }
    }
}

/// Whether the name of a file has this ending.
pub(crate) fn ends(path: &Path, with: &str) -> bool {
    path.extension().is_some_and(|end| end == with)
}
