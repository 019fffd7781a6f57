//! Recordings of agents of any size, made of small ones that real agents have written with a scripted model: their
//! lines over and over, with new ids, and with texts as long as those of real work.
//!
//! They are the same each time, of one commit.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The recordings that are repeated, one of each agent.
const AGENTS: [&str; 2] = ["claude-agent-acp-0.101.0", "codex-acp-2.6.0"];

/// The sizes of sessions, in bytes.
const SESSIONS: [u64; 4] = [400_000, 1_500_000, 4_000_000, 9_000_000];

/// The lengths of the results of tools, in bytes: most are short, and the long ones have most of the text.
const RESULTS: [usize; 8] = [200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 40_000];

/// The lengths of what the user and the model write, in bytes.
const TALK: [usize; 4] = [80, 300, 900, 2_000];

/// One text in so many has a secret.
const SECRETS: usize = 200;

/// The secret of the recordings.
const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";

/// The members that name calls, messages and lines.
const IDS: &str = "id uuid parentUuid tool_use_id call_id turn_id";

/// The members with results of tools; `content` has one beside a `tool_use_id`.
const OUTPUTS: [&str; 3] = ["output", "stdout", "aggregated_output"];

/// The members with what the user and the model write.
const TEXTS: [&str; 3] = ["text", "message", "content"];

/// What texts are made of: prose and code.
const CORPUS: &str = concat!(
    include_str!("../../docs/behaviour.md"),
    include_str!("../../wit/proxy.wit"),
    include_str!("measures/mod.rs"),
    include_str!("measures/pairs.rs"),
    include_str!("report/targets.rs"),
);

/// A session of an agent.
struct Template {
    /// Its folder in the home folder, and how the names of the files there begin.
    folder: PathBuf,
    stem: &'static str,
    /// The line that begins it, in Codex.
    opening: Option<Value>,
    lines: Vec<Value>,
}

/// The place in the [`CORPUS`], and how many texts were made.
#[derive(Default)]
struct Texts {
    at: usize,
    made: usize,
}

/// Replaces what is in a home folder by recordings of about this size, made of those in `recordings`. Returns their
/// size in bytes.
///
/// # Errors
/// If the recordings cannot be read, or nothing can be written.
pub fn write(recordings: &Path, home: &Path, size: u64) -> Result<u64> {
    if home.exists() {
        fs::remove_dir_all(home)?;
    }
    let templates = AGENTS.map(|agent| Template::read(&recordings.join(agent)));
    let templates = templates.into_iter().collect::<Result<Vec<_>>>()?;
    let (mut texts, mut written, mut number) = (Texts::default(), 0, 0);
    while written < size {
        let template = &templates[number % templates.len()];
        let most = SESSIONS[number / templates.len() % SESSIONS.len()];
        written += template.write(home, number, most.min(size - written), &mut texts)?;
        number += 1;
    }
    Ok(written)
}

impl Template {
    /// The longest session in the home folder of a recorded agent.
    fn read(home: &Path) -> Result<Self> {
        let mut files = Vec::new();
        find(home, &mut files)?;
        let shown = home.display();
        let (_, path) = files
            .into_iter()
            .max()
            .with_context(|| format!("{shown} has no recordings"))?;
        let text = fs::read_to_string(&path)?;
        let read = text.lines().map(serde_json::from_str);
        let mut lines: Vec<Value> = read.collect::<serde_json::Result<_>>()?;
        let is_begun = lines
            .first()
            .is_some_and(|line| line["type"] == "session_meta");
        let opening = is_begun.then(|| lines.remove(0));
        ensure!(!lines.is_empty(), "{} is empty", path.display());
        let folder = path.strip_prefix(home)?.parent();
        Ok(Self {
            folder: folder.map(Path::to_owned).unwrap_or_default(),
            stem: if is_begun {
                "rollout-2026-11-29T12-11-09-"
            } else {
                ""
            },
            opening,
            lines,
        })
    }

    /// Writes a session of at least this size in bytes. Returns its size.
    fn write(&self, home: &Path, number: usize, size: u64, texts: &mut Texts) -> Result<u64> {
        let folder = home.join(&self.folder);
        fs::create_dir_all(&folder)?;
        let session = format!("00000000-0000-4000-8000-{number:012}");
        let path = folder.join(format!("{}{session}.jsonl", self.stem));
        let mut file = BufWriter::new(File::create(path)?);
        let mut written = 0;
        if let Some(mut opening) = self.opening.clone() {
            opening["payload"]["id"] = Value::String(session.clone());
            written += put(&mut file, &opening)?;
        }
        for at in 0_usize.. {
            if written >= size {
                break;
            }
            let mut line = self.lines[at % self.lines.len()].clone();
            if let Some(named) = line.get_mut("sessionId") {
                *named = Value::String(session.clone());
            }
            let round = at / self.lines.len();
            change(&mut line, "", false, round, texts);
            written += put(&mut file, &line)?;
        }
        file.flush()?;
        Ok(written)
    }
}

/// The files with recordings in a folder and those in it, with their sizes.
fn find(folder: &Path, files: &mut Vec<(u64, PathBuf)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            files.push((entry.metadata()?.len(), path));
        }
    }
    Ok(())
}

/// Writes a line. Returns its size.
fn put(file: &mut impl Write, line: &Value) -> Result<u64> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    file.write_all(&text)?;
    Ok(text.len() as u64)
}

/// Gives a value new ids, those of this round, and new texts. `name` is that of the member that has it.
fn change(value: &mut Value, name: &str, is_result: bool, round: usize, texts: &mut Texts) {
    match value {
        Value::Object(members) => {
            let is_result = members.contains_key("tool_use_id");
            for (name, value) in members.iter_mut() {
                change(value, name, is_result, round, texts);
            }
        }
        Value::Array(items) => {
            for item in items {
                change(item, name, is_result, round, texts);
            }
        }
        Value::String(text) if IDS.split(' ').any(|id| id == name) => {
            *text = format!("{text}-{round}");
        }
        Value::String(text) if OUTPUTS.contains(&name) || (is_result && name == "content") => {
            *text = texts.after(text, &RESULTS);
        }
        Value::String(text) if TEXTS.contains(&name) => *text = texts.after(text, &TALK),
        _ => {}
    }
}

impl Texts {
    /// This text, without its secret, and more behind it: as long as the next of these lengths.
    fn after(&mut self, before: &str, lengths: &[usize]) -> String {
        self.made += 1;
        // Shifted each time: otherwise a line would always get the same one.
        let length = lengths[(self.made + self.made / lengths.len()) % lengths.len()];
        let mut text = before.replace(SECRET, "a-key");
        if self.made.is_multiple_of(SECRETS) {
            text.push_str("\nAWS_ACCESS_KEY_ID=");
            text.push_str(SECRET);
        }
        text.push('\n');
        let end = text.len() + length;
        while text.len() < end {
            let rest = &CORPUS[self.at..];
            let taken = rest.floor_char_boundary(rest.len().min(end - text.len()));
            text.push_str(&rest[..taken]);
            // The last character may not fit.
            self.at = if taken == 0 {
                0
            } else {
                (self.at + taken) % CORPUS.len()
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_have_their_size_and_the_same_secret_now_and_then() {
        let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/recordings");
        let home = std::env::temp_dir().join(format!("acp-chain-bench-{}", std::process::id()));
        let size = write(&recordings, &home, 3_000_000).unwrap();
        assert!((3_000_000..3_300_000).contains(&size), "{size}");
        let mut files = Vec::new();
        find(&home, &mut files).unwrap();
        let total: u64 = files.iter().map(|(size, _)| size).sum();
        assert_eq!((files.len(), total), (4, size));
        let mut lines = 0;
        let mut secrets = 0;
        for (_, path) in &files {
            let text = fs::read_to_string(path).unwrap();
            lines += text.lines().count();
            secrets += text.matches(SECRET).count();
            for line in text.lines() {
                serde_json::from_str::<Value>(line).unwrap();
            }
        }
        fs::remove_dir_all(&home).unwrap();
        assert!(secrets > 0 && secrets < lines / 10, "{secrets} in {lines}");
    }

    #[test]
    fn ids_differ_in_each_round_and_results_are_as_long_as_those_of_real_work() {
        let mut texts = Texts::default();
        let block = serde_json::json!([{ "tool_use_id": "t", "content": "mark-42", "name": "x" }]);
        let mut all = Vec::new();
        for round in 0..RESULTS.len() {
            let mut line = block.clone();
            change(&mut line, "", false, round, &mut texts);
            assert_eq!(line[0]["tool_use_id"], format!("t-{round}"));
            assert_eq!(line[0]["name"], "x");
            let text = line[0]["content"].as_str().unwrap().to_owned();
            assert!(text.starts_with("mark-42\n"), "{text}");
            all.push(text.len() - "mark-42\n".len());
        }
        assert!(all.iter().all(|length| RESULTS.contains(length)), "{all:?}");
    }
}
