//! The history of typed prompts, in a file of the user: a line of JSON each, so that a prompt may have several lines.
//!
//! Invariants: it has no line in which a secret was found, none that begins with a space, and a bounded size. Only its
//! owner can read it.

use std::cell::LazyCell;
use std::io;
use std::path::{Path, PathBuf};

use acp_chain_disk as disk;
use acp_chain_secrets::{Detector, Effort, defaults};
use acp_chain_system::files;

/// How many lines are kept.
pub const LINES: usize = 500;

/// The longest line that is kept, in bytes.
const LONGEST: usize = 4096;

/// The maximum size of the file, in bytes. JSON may take six bytes for one.
const SIZE: usize = 8 * LINES * LONGEST;

/// The history of a user.
pub struct History {
    /// Without one, nothing is kept.
    path: Option<PathBuf>,
    /// Without one, nothing is kept, either.
    detector: LazyCell<Option<Detector>>,
}

impl History {
    /// The history in this file.
    pub fn new(path: Option<PathBuf>) -> Self {
        Self {
            path,
            detector: LazyCell::new(|| Detector::new(defaults().copied()).ok()),
        }
    }

    /// The kept lines, the oldest first.
    pub fn load(&self) -> Vec<String> {
        let loaded = self.path.as_deref().map_or(Ok(Vec::new()), load);
        loaded.unwrap_or_else(|error| {
            tracing::warn!("the history of prompts cannot be read: {error}");
            Vec::new()
        })
    }

    /// Adds a line. An error is in the log.
    pub fn keep(&self, line: String) {
        let kept = self.path.as_deref().map_or(Ok(()), |path| keep(path, line));
        if let Err(error) = kept {
            tracing::warn!("a prompt is not in the history: {error}");
        }
    }

    /// Whether a line may be kept.
    pub fn may_have(&self, line: &str) -> bool {
        if line.len() > LONGEST || line.starts_with(' ') {
            return false;
        }
        let detector = self.detector.as_ref();
        let found = detector.map(|detector| detector.find(line, &mut Effort::default()));
        matches!(found, Some(Ok(secrets)) if secrets.is_empty())
    }
}

fn load(path: &Path) -> io::Result<Vec<String>> {
    let bytes = match disk::read(path, SIZE) {
        Err(error) if disk::is_absent(&error) => return Ok(Vec::new()),
        read => read?,
    };
    let lines = bytes.split(|byte| *byte == b'\n');
    // A line that somebody else wrote is left out.
    let mut lines: Vec<String> = lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let surplus = lines.len().saturating_sub(LINES);
    lines.drain(..surplus);
    Ok(lines)
}

fn keep(path: &Path, line: String) -> io::Result<()> {
    // Another process may have added lines.
    let mut lines = load(path)?;
    lines.push(line);
    let surplus = lines.len().saturating_sub(LINES);
    let mut text = String::new();
    for line in &lines[surplus..] {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
    }
    if let Some(folder) = path.parent() {
        files::make_private(folder)?;
    }
    disk::write(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_in_order_and_the_oldest_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/history");
        let history = History::new(Some(path.clone()));
        assert_eq!(history.load(), [""; 0]);
        history.keep("one\ntwo".to_owned());
        history.keep("three".to_owned());
        assert_eq!(history.load(), ["one\ntwo", "three"]);
        let many = "\"more\"\n".repeat(LINES - 1);
        std::fs::write(&path, format!("\"old\"\nnot JSON\n\"last\"\n{many}")).unwrap();
        assert_eq!(history.load()[0], "last");
        history.keep("new".to_owned());
        let kept = history.load();
        assert_eq!((kept.len(), &*kept[0]), (LINES, "more"));
        assert_eq!(kept[LINES - 1], "new");
    }

    #[test]
    fn a_line_with_a_secret_a_hidden_one_and_a_long_one_are_not_kept() {
        let history = History::new(None);
        assert!(history.may_have("fix the tests"));
        assert!(!history.may_have("use AKIAIOSFODNN7EXAMPLQ"));
        assert!(!history.may_have(" fix the tests"));
        assert!(!history.may_have(&"a".repeat(LONGEST + 1)));
    }
}
