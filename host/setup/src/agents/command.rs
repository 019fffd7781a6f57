//! The positions of an agent's command words in a configuration, and edits that insert other words before them, or
//! remove those again. The words of the agent's own command stay as written.

use std::ops::Range;
use std::path::Path;

use crate::launch::{LaunchPrefix, is_acp_chain, ours};
use crate::shell::{shell_line, shell_words};

/// Replacements for parts of a text.
pub type Edits = Vec<(Range<usize>, String)>;

/// A text with these edits, which do not overlap.
pub fn edited(text: &str, mut edits: Edits) -> String {
    let mut text = text.to_owned();
    edits.sort_by_key(|(range, _)| range.start);
    for (range, new) in edits.into_iter().rev() {
        text.replace_range(range, &new);
    }
    text
}

/// An agent's command in an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// acp-chain, as written by `acp-chain setup`.
    Chain,
    /// acp-chain, as configured by the user.
    ByHand,
    /// Another command.
    Other(String),
    /// Unknown, or impossible to change.
    Unfit(&'static str),
}

/// A string of the configuration: its range, including quotes, and its value.
pub struct ConfigString {
    pub at: Range<usize>,
    pub says: String,
}

/// The positions of a command's words.
pub enum Command {
    /// In a list: the command and its arguments.
    List {
        open: usize,
        words: Vec<ConfigString>,
    },
    /// In a text, and a list with the arguments.
    Split {
        /// The position of the command's key.
        key: usize,
        program: ConfigString,
        arguments: Arguments,
    },
    /// In a single string, as in a shell.
    Line(ConfigString),
}

pub enum Arguments {
    /// There is no such key.
    None,
    /// The value is `null`.
    Null(Range<usize>),
    /// A list, with its brackets.
    List {
        /// The position of its key.
        key: usize,
        at: Range<usize>,
        words: Vec<ConfigString>,
    },
}

impl Command {
    pub fn words(&self) -> Vec<String> {
        let says = |words: &[ConfigString]| words.iter().map(|word| word.says.clone()).collect();
        match self {
            Self::List { words, .. } => says(words),
            Self::Split {
                program, arguments, ..
            } => {
                let mut all = vec![program.says.clone()];
                if let Arguments::List { words, .. } = arguments {
                    all.extend(says(words) as Vec<_>);
                }
                all
            }
            Self::Line(line) => shell_words(&line.says)
                .into_iter()
                .map(|(word, _)| word)
                .collect(),
        }
    }

    pub fn ours(&self) -> Option<LaunchPrefix> {
        ours(self.words().iter().map(String::as_str))
    }

    pub fn runs(&self) -> Runs {
        let words = self.words();
        let program = words.first().filter(|program| !program.trim().is_empty());
        match program {
            None => Runs::Unfit("has an empty command"),
            Some(_) if self.ours().is_some() => Runs::Chain,
            Some(program) if is_acp_chain(program) => Runs::ByHand,
            Some(_) => Runs::Other(words.join(" ")),
        }
    }

    /// Edits that insert `prefix` before the command, replacing its first `count` words. A `~` in its program is
    /// expanded, as editors do and `acp-chain` does not.
    pub fn wrapped(&self, text: &str, count: usize, prefix: &[String], home: &Path) -> Edits {
        let all: Vec<_> = prefix.iter().map(|word| json(word)).collect();
        match self {
            Self::List { open, words } => vec![before(text, *open, words, count, &all)],
            Self::Line(line) => {
                let all = shell_words(&line.says);
                let start = all.get(count).map_or(0, |(_, start)| *start);
                let new = format!("{} {}", shell_line(prefix), &line.says[start..]);
                vec![(line.at.clone(), json(&new))]
            }
            Self::Split {
                key,
                program,
                arguments,
            } => {
                let (first, mut rest) = (all[0].clone(), all[1..].to_vec());
                if count == 0 {
                    let written = || text[program.at.clone()].to_owned();
                    rest.push(
                        expanded(&program.says, home).map_or_else(written, |path| json(&path)),
                    );
                }
                let list = format!("[{}]", rest.join(", "));
                let arguments = match arguments {
                    Arguments::List { at, words, .. } => {
                        before(text, at.start, words, count.saturating_sub(1), &rest)
                    }
                    Arguments::Null(at) => (at.clone(), list),
                    Arguments::None => {
                        let gap = gap(text, *key);
                        let end = program.at.end;
                        (end..end, format!(",{gap}\"args\": {list}"))
                    }
                };
                vec![(program.at.clone(), first), arguments]
            }
        }
    }

    /// Edits that remove the command's first `count` words. `original` is the command in an earlier text, and that
    /// text.
    pub fn bare(&self, text: &str, count: usize, original: Option<(&Self, &str)>) -> Edits {
        match self {
            Self::List { words, .. } => vec![without(text, words, count)],
            Self::Line(line) => {
                let (_, start) = shell_words(&line.says)[count];
                vec![(line.at.clone(), json(&line.says[start..]))]
            }
            Self::Split {
                program, arguments, ..
            } => {
                let Arguments::List { key, at, words } = arguments else {
                    return Vec::new();
                };
                let (old, had) = match original {
                    Some((old, earlier)) => (old.program(earlier), old.arguments()),
                    None => (None, None),
                };
                // The agent's program is among the arguments, as it was written, or expanded.
                let agent = &words[count - 1];
                let written = match old {
                    Some((word, written)) if is_expansion(&agent.says, &word.says) => written,
                    _ => &text[agent.at.clone()],
                };
                let (ours, nothing) = without(text, words, count);
                let around = [at.start + 1..ours.start, ours.end..at.end - 1];
                let is_empty = around.into_iter().all(|part| text[part].trim().is_empty());
                let between = text.get(program.at.end..*key).unwrap_or_default();
                let rest = match had {
                    // The list follows the program, where it was inserted.
                    Some(Arguments::None) if is_empty && between.trim() == "," => {
                        (program.at.end..at.end, nothing)
                    }
                    Some(Arguments::Null(_)) if is_empty => (at.clone(), "null".to_owned()),
                    _ => (ours, nothing),
                };
                vec![(program.at.clone(), written.to_owned()), rest]
            }
        }
    }

    /// The program beside a list with its arguments, and how it is written in this text.
    fn program<'t>(&self, text: &'t str) -> Option<(&ConfigString, &'t str)> {
        match self {
            Self::Split { program, .. } => Some((program, &text[program.at.clone()])),
            Self::List { .. } | Self::Line(_) => None,
        }
    }

    /// The arguments beside a program.
    fn arguments(&self) -> Option<&Arguments> {
        match self {
            Self::Split { arguments, .. } => Some(arguments),
            Self::List { .. } | Self::Line(_) => None,
        }
    }
}

/// Inserts words at the beginning of a list, replacing the first `count` words, in the list's layout.
fn before(
    text: &str,
    open: usize,
    words: &[ConfigString],
    count: usize,
    new: &[String],
) -> (Range<usize>, String) {
    let inside = open + 1;
    match (words.first(), words.get(count)) {
        (Some(first), Some(rest)) => {
            let gap = gap(text, first.at.start);
            let new = new.iter().map(|word| format!("{word},{gap}"));
            (first.at.start..rest.at.start, new.collect())
        }
        _ => (inside..inside, new.join(", ")),
    }
}

/// Removes words from the beginning of a list, with the comma after the last of them.
fn without(text: &str, words: &[ConfigString], count: usize) -> (Range<usize>, String) {
    let start = words[0].at.start;
    let end = match words.get(count) {
        Some(next) => next.at.start,
        None => {
            let end = words[count - 1].at.end;
            let behind = text[end..].trim_start().strip_prefix(',');
            behind.map_or(end, |behind| text.len() - behind.len())
        }
    };
    (start..end, String::new())
}

/// The text before an item: a line break with the indentation, or a space.
pub fn gap(text: &str, start: usize) -> &str {
    let before = &text[..start];
    let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
    let line = before[..before.len() - blank].strip_suffix('\n');
    match line.map(|line| line.strip_suffix('\r').unwrap_or(line)) {
        Some(line) => &text[line.len()..start],
        None => " ",
    }
}

/// The path relative to the home folder, if it begins with `~` as editors read it.
fn below_home(path: &str) -> Option<&str> {
    let rest = path.strip_prefix('~')?;
    rest.starts_with(std::path::is_separator).then_some(rest)
}

/// A path with the home folder in place of `~`.
fn expanded(path: &str, home: &Path) -> Option<String> {
    let rest = below_home(path)?;
    Some(format!("{}{rest}", home.to_str()?))
}

/// Whether a path may be another one with the home folder in place of `~`.
fn is_expansion(path: &str, original: &str) -> bool {
    below_home(original).is_some_and(|rest| path.ends_with(rest))
}

/// A text in JSON.
pub fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
