//! Recorded calls of tools, and those in a trace.
//!
//! [`suggest`](fn@crate::suggest) takes those of any recording.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use acp_chain_acp::{BEFORE_TOOL, UPDATE};
use acp_chain_trace::{Kind, Line};
use serde_json::Value;

/// Members of an input with a command.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];
/// How much of a command is kept, in bytes. No rule is made of one as long.
const LONGEST: usize = 8192;
/// How many calls are told apart.
const MOST_CALLS: usize = 1 << 20;

/// A command that an agent ran, or was about to run, by a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// The file of the recording.
    pub file: PathBuf,
    /// The line in it, counted from 1.
    pub line: usize,
    /// The command, as a text for a shell.
    pub command: String,
}

impl RecordedCall {
    /// The call of a tool that runs commands, by its input: JSON text. `None` if that has no command.
    pub fn of_input(file: &Path, line: usize, input: &str) -> Option<Self> {
        let input: Value = serde_json::from_str(input).ok()?;
        Some(Self::of(file, line, &command(&input)?))
    }

    fn of(file: &Path, line: usize, command: &str) -> Self {
        Self {
            file: file.to_owned(),
            line,
            command: command[..command.floor_char_boundary(LONGEST)].to_owned(),
        }
    }
}

/// Finds the calls among the lines of a trace. The same call crosses several hops, and is reported more than once.
#[derive(Debug, Default)]
pub struct Recorded {
    known: HashSet<(String, String, String)>,
}

impl Recorded {
    /// The command of a line, with its number, if the line is the first about its call that has one.
    pub fn call(&mut self, file: &Path, number: usize, line: &Line) -> Option<RecordedCall> {
        if line.from.as_deref() != Some("agent") {
            return None;
        }
        // Updates, and what hooks report. A request for a permission may be about a call that never ran.
        let params: Value = match (line.method.as_deref()?, line.kind?) {
            (UPDATE, Kind::Notification) | (BEFORE_TOOL, Kind::Request) => {
                serde_json::from_str(line.body()?).ok()?
            }
            _ => return None,
        };
        let call = params.get("toolCall").or(params.get("update"))?;
        let command = command(call.get("rawInput")?)?;
        let id = call.get("toolCallId").and_then(Value::as_str);
        // Without an id, the number of the message tells calls apart.
        let id = match (id, line.message) {
            (Some(id), _) => id.to_owned(),
            (None, Some(message)) => format!("message {message}"),
            (None, None) => format!("line {number}"),
        };
        let session = line.session.clone().unwrap_or_default();
        let connection = line.connection.clone();
        let is_new = self.known.len() < MOST_CALLS && self.known.insert((connection, session, id));
        is_new.then(|| RecordedCall::of(file, number, &command))
    }
}

/// The command of an input: a text, or the words of one. A shell's script is taken out of them.
fn command(input: &Value) -> Option<String> {
    let given = COMMANDS.iter().find_map(|name| input.get(name))?;
    if let Some(text) = given.as_str() {
        return Some(text.to_owned());
    }
    let words = given.as_array()?.iter().map(Value::as_str);
    let words: Vec<_> = words.collect::<Option<_>>()?;
    match &words[..] {
        [shell, "-c" | "-lc", script] if is_shell(shell) => Some((*script).to_owned()),
        // Words with blanks would read as several.
        words if words.iter().any(|word| word.contains(char::is_whitespace)) => None,
        words => Some(words.join(" ")),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next();
    matches!(name, Some("sh" | "bash" | "zsh" | "dash"))
}
