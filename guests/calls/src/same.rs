//! Whether two calls of a tool are the same: by their inputs, however these are laid out, and whatever the agent says
//! about them.

use std::mem;

use serde_json::{Map, Value};

use crate::command;
use crate::input::{COMMANDS, LISTS};
use crate::line::Line;

/// The longest input that is read, in bytes without blanks. A longer one is compared as it is spelt.
const LONGEST: usize = 64 * 1024;

/// Members beside a command in which agents tell the user what it is for, in other words each time.
const NOTES: &[&str] = &["description", "explanation", "justification"];

/// How a patch begins, which Codex calls a command. What looks like a comment in it is a part of a file.
const PATCH: &str = "*** Begin Patch";

/// A text that is the same for inputs that are: JSON, whose members are in the order of their names, with commands in
/// one spelling and without notes about them. It is for comparing only.
pub fn input(json: &str) -> String {
    let compact = compact(json);
    if compact.len() > LONGEST {
        return compact;
    }
    let read = serde_json::from_str::<Value>(json);
    read.map_or(compact, |input| normal(input).to_string())
}

fn normal(mut input: Value) -> Value {
    if let Some(members) = input.as_str().and_then(object) {
        input = members;
    }
    if let Value::Object(members) = &mut input {
        simplify(members);
    } else if input.is_string() {
        spell(&mut input);
    }
    input
}

/// An object that is written as a text.
fn object(text: &str) -> Option<Value> {
    let read = serde_json::from_str::<Value>(text);
    read.ok().filter(Value::is_object)
}

fn simplify(members: &mut Map<String, Value>) {
    let mut has_command = false;
    for name in COMMANDS {
        has_command |= members.get_mut(*name).is_some_and(spell);
    }
    for name in LISTS {
        if let Some(Value::Array(commands)) = members.get_mut(*name) {
            for command in commands {
                has_command |= spell(command);
            }
        }
    }
    if has_command {
        for note in NOTES {
            members.remove(*note);
        }
    }
}

/// Puts a command into its one spelling. Returns whether it is a command.
fn spell(value: &mut Value) -> bool {
    let line = match value {
        Value::String(text) if !text.trim_start().starts_with(PATCH) => Line::Text(mem::take(text)),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            let words = words.iter().filter_map(Value::as_str);
            Line::List(words.map(str::to_owned).collect())
        }
        _ => return false,
    };
    *value = match command::spelt(line) {
        Line::Text(text) => text.into(),
        Line::List(words) => words.into(),
    };
    true
}

/// JSON without the blanks between its parts: Auggie's hooks report an input with blanks, and its updates without.
fn compact(json: &str) -> String {
    let (mut is_text, mut is_escaped) = (false, false);
    let keep = |c: &char| {
        let is_kept = is_text || !c.is_ascii_whitespace();
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ => {}
        }
        is_kept
    };
    json.chars().filter(keep).collect()
}
