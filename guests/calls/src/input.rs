//! The raw input of a tool (`rawInput`), whose form depends on the agent. Only members that commonly hold a command are
//! read as one; other texts can only cause denials and questions.

use std::collections::BTreeSet;

use acp_chain_proxy::{Step, Strings};

use crate::directory::drive;
use crate::line::Line;
use crate::object::{Object, Reader};

/// The longest input that is examined, in bytes.
const LONGEST: usize = 1024 * 1024;
/// The maximum size of its commands, in bytes. Anything beyond makes it odd.
const MOST_LINES: usize = 128 * 1024;
/// The maximum size of its texts, in bytes.
const MOST_TEXTS: usize = 32 * 1024;
/// The longest of these texts, in bytes.
const LONGEST_TEXT: usize = 4096;
/// The maximum depth of these texts in the input.
const DEEPEST_TEXT: usize = 8;

/// Members with a command: a text for a shell, or a program and its arguments.
pub(crate) const COMMANDS: &[&str] = &["command", "cmd", "script"];
/// Members with several commands.
pub(crate) const LISTS: &[&str] = &["commands"];
/// Members with the arguments of a program.
const ARGUMENTS: &[&str] = &["args", "arguments"];
/// Members with the working directory of a command.
const DIRECTORIES: &[&str] = &[
    "cwd",
    "workdir",
    "working_directory",
    "workingDirectory",
    "directory",
    "dir_path",
];
/// Members with the path of a file or folder, or several; at any depth.
const PATHS: &[&str] = &[
    "absolute_path",
    "file",
    "file_path",
    "file_paths",
    "filename",
    "filepath",
    "files",
    "notebook_path",
    "path",
    "paths",
];
/// How other texts begin that are paths.
const BEGINNINGS: &[&str] = &[
    "/", "\\\\", "~/", "~\\", "./", ".\\", "../", "..\\", "file:",
];
/// Members with additions to its environment.
const ENVIRONMENTS: &[&str] = &["env", "environment"];

#[derive(Clone, Debug, Default)]
pub struct Input {
    pub lines: Vec<Line>,
    pub directories: BTreeSet<String>,
    /// The texts that are one line.
    pub texts: BTreeSet<String>,
    /// The texts that are certainly paths, or begin like one.
    paths: BTreeSet<String>,
    /// Whether commands may have been missed.
    pub is_odd: bool,
    /// Whether it has anything.
    pub is_given: bool,
    /// Whether it has texts of several lines, or too long ones.
    pub has_more: bool,
}

impl Input {
    pub fn merge(&mut self, json: &str) {
        let signs = json.bytes().filter(|byte| !byte.is_ascii_whitespace());
        self.is_given |= !signs.eq(*b"{}") && !matches!(json, "[]" | "\"\"");
        if json.len() > LONGEST {
            (self.is_odd, self.has_more) = (true, true);
            return;
        }
        // Names of members may differ only in case here, as those of environments do.
        for text in Reader::default().every_text(json, DEEPEST_TEXT) {
            self.add_text(text);
        }
        let mut reader = Reader::default();
        match json.as_bytes().first() {
            Some(b'{') => self.merge_members(json, &mut reader),
            Some(b'"') => match reader.text(json) {
                Some(text) if text.starts_with('{') => self.merge_members(&text, &mut reader),
                text => self.add_lines(text.map(Line::Text)),
            },
            Some(b'[') => self.merge_paths(json),
            _ => {}
        }
        self.is_odd |= reader.unclear;
    }

    fn merge_members(&mut self, json: &str, reader: &mut Reader) {
        self.merge_paths(json);
        let input = reader.object(json);
        for name in DIRECTORIES {
            self.directories.extend(reader.texts(&input, name));
        }
        let arguments = members(&input, ARGUMENTS, reader);
        // Some agents pass on the call of a model, whose arguments are the text of JSON.
        for written in arguments.iter().filter(|json| json.starts_with('"')) {
            let json = Reader::default().text(written).unwrap_or_default();
            for text in Reader::default().every_text(json.trim(), DEEPEST_TEXT) {
                self.add_text(text);
            }
        }
        for command in members(&input, COMMANDS, reader) {
            let is_list = command.starts_with('[');
            let words = if is_list {
                reader.texts_of(command)
            } else {
                reader.text(command).into_iter().collect()
            };
            let more = arguments.iter().flat_map(|list| reader.texts_of(list));
            let words: Vec<_> = words.into_iter().chain(more).collect();
            // Some agents and editors hand a program and its arguments to a shell.
            let is_text = !is_list && arguments.is_empty();
            let program = words.first().filter(|program| !is_text && is_line(program));
            let line = program.map(|_| Line::Text(words.join(" ")));
            self.add_lines(match &words[..] {
                [text] if is_text => Some(Line::Text(text.clone())),
                _ => Some(Line::List(words)),
            });
            self.add_lines(line);
        }
        for commands in members(&input, LISTS, reader) {
            let commands = reader.texts_of(commands).into_iter();
            self.add_lines(commands.map(Line::Text));
        }
        let is_set = |set: &str| !matches!(set, "{}" | "[]");
        reader.unclear |= members(&input, ENVIRONMENTS, reader)
            .into_iter()
            .any(is_set);
    }

    fn merge_paths(&mut self, json: &str) {
        let mut strings = Strings::of(json);
        loop {
            let string = match strings.next() {
                Ok(Some(string)) => string,
                Ok(None) => return,
                Err(_) => {
                    self.is_odd = true;
                    return;
                }
            };
            let text = string.decoded();
            let name = strings.path().iter().rev().find_map(|step| match step {
                Step::Member(name) => Some(name.decoded()),
                Step::Item(_) => None,
            });
            let is_named = name.is_some_and(|name| {
                let mut names = PATHS.iter();
                names.any(|own| name.eq_ignore_ascii_case(own))
            });
            let begins = BEGINNINGS.iter().any(|start| text.starts_with(start));
            let is_shaped = (begins || drive(&text).is_some()) && !text.contains('\n');
            if (is_named || is_shaped) && !text.is_empty() {
                self.paths.insert(text.into_owned());
            }
        }
    }

    /// The paths that it names, beside working directories and what commands name.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        self.paths.iter().filter(|path| {
            let mut lines = self.lines.iter();
            !self.directories.contains(*path) && !lines.any(|line| line.texts().contains(path))
        })
    }

    /// Merges the earlier input of the same call.
    pub fn add(&mut self, known: &Self) {
        self.add_lines(known.lines.iter().cloned());
        self.directories.extend(known.directories.iter().cloned());
        self.paths.extend(known.paths.iter().cloned());
        for text in &known.texts {
            self.add_text(text.clone());
        }
        self.is_odd |= known.is_odd;
        self.is_given |= known.is_given;
        self.has_more |= known.has_more;
    }

    pub fn add_lines(&mut self, lines: impl IntoIterator<Item = Line>) {
        for line in lines {
            let size: usize = self.lines.iter().chain([&line]).map(Line::size).sum();
            if size > MOST_LINES {
                (self.is_odd, self.has_more) = (true, true);
            } else if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
    }

    fn add_text(&mut self, text: String) {
        let kept: usize = self.texts.iter().map(String::len).sum();
        let fits = text.len() <= LONGEST_TEXT && kept + text.len() <= MOST_TEXTS;
        if fits && !text.contains('\n') {
            self.texts.insert(text);
        } else {
            self.has_more = true;
        }
    }

    /// Its approximate size, in bytes.
    pub fn size(&self) -> usize {
        let texts = self.texts.iter().chain(&self.directories);
        let texts = texts.chain(&self.paths);
        let lines = self.lines.iter().map(Line::size);
        texts.map(String::len).chain(lines).sum()
    }
}

/// Whether the name of a program may be a line for a shell.
fn is_line(program: &str) -> bool {
    program.contains(|c: char| c.is_whitespace() || ";&|<>$`".contains(c))
}

fn members<'a>(input: &Object<'a>, names: &[&str], reader: &mut Reader) -> Vec<&'a str> {
    let names = names.iter();
    names.flat_map(|name| reader.all(input, name)).collect()
}
