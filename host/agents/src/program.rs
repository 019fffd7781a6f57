//! Recognizes programs by the beginning of a file: native ones, and scripts with their interpreters.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How many bytes of a file identify its kind.
pub const MAGIC: usize = 8;

/// How many bytes of a script's first line are read.
const FIRST_LINE: u64 = 1024;

/// Whether a file with this beginning is a program or a script.
pub fn may_be_run(head: &[u8]) -> bool {
    head.starts_with(b"#!") || is_native(head)
}

/// Whether a file with this beginning is a native program of Linux, macOS or Windows.
fn is_native(head: &[u8]) -> bool {
    match head {
        [0x7f, b'E', b'L', b'F', ..]
        | [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..]
        | [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..]
        | [b'M', b'Z', ..] => true,
        // A universal binary. A Java class begins with the same bytes, but has a version in place of the number of
        // architectures.
        [0xca, 0xfe, 0xba, 0xbe | 0xbf, 0, 0, 0, many, ..] => *many < 32,
        _ => false,
    }
}

/// What runs a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// The system.
    Native,
    /// Another program.
    Script(Line),
    /// Node, by the name of the file.
    JavaScript,
    /// Unknown.
    Unknown,
}

/// The first line of a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The program that runs it: a path, or, for `env`, a name.
    pub interpreter: String,
    /// Arguments of that program.
    pub options: Vec<String>,
    /// Variables that `env` sets, as `NAME=VALUE`.
    pub variables: Vec<String>,
}

/// The kind of a file.
pub fn kind(path: &Path) -> std::io::Result<Kind> {
    let mut head = Vec::new();
    let file = File::open(path)?;
    file.take(FIRST_LINE).read_to_end(&mut head)?;
    let line = head.strip_prefix(b"#!").and_then(|rest| {
        let line = rest.split(|byte| *byte == b'\n').next()?;
        Line::parse(&String::from_utf8_lossy(line))
    });
    let endings = ["js", "mjs", "cjs"].map(OsStr::new);
    Ok(match line {
        Some(line) => Kind::Script(line),
        None if is_native(&head) => Kind::Native,
        None if path
            .extension()
            .is_some_and(|ending| endings.contains(&ending)) =>
        {
            Kind::JavaScript
        }
        None => Kind::Unknown,
    })
}

impl Line {
    /// Parses the rest of the line after `#!`. Options of a program that `env` starts need `-S` there on Linux, and
    /// nothing elsewhere.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let mut parsed = Self {
            interpreter: words.next()?.to_owned(),
            ..Self::default()
        };
        if Path::new(&parsed.interpreter).file_name() == Some(OsStr::new("env")) {
            let mut of_env = words.by_ref().map(|word| {
                let split = ["--split-string=", "-S"].iter();
                let mut split = split.filter_map(|option| word.strip_prefix(option));
                split.next().unwrap_or(word)
            });
            parsed.interpreter = loop {
                let word = of_env.next()?;
                match word {
                    "" => {}
                    word if word.starts_with('-') => {}
                    word if word.contains('=') => parsed.variables.push(word.to_owned()),
                    word => break word.to_owned(),
                }
            };
        }
        parsed.options = words.map(str::to_owned).collect();
        Some(parsed)
    }

    /// The name of the program that runs it.
    pub fn name(&self) -> &str {
        let name = self.interpreter.rsplit(['/', '\\']).next();
        name.unwrap_or(&self.interpreter)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn line(text: &str) -> (String, Vec<String>, Vec<String>) {
        let line = Line::parse(text).unwrap();
        (line.interpreter, line.options, line.variables)
    }

    #[test]
    fn the_first_line_of_a_script_names_its_interpreter_and_options() {
        for (text, interpreter, options, variables) in [
            ("/bin/sh", "/bin/sh", &[][..], &[][..]),
            (" /bin/sh -e", "/bin/sh", &["-e"], &[]),
            ("/usr/bin/env bun", "bun", &[], &[]),
            ("/usr/bin/env node\r", "node", &[], &[]),
            (
                "/usr/bin/env -S node --max-old-space-size=8192",
                "node",
                &["--max-old-space-size=8192"],
                &[],
            ),
            (
                "/usr/bin/env node --no-warnings",
                "node",
                &["--no-warnings"],
                &[],
            ),
            (
                "/usr/bin/env -Snode --no-warnings",
                "node",
                &["--no-warnings"],
                &[],
            ),
            (
                "/usr/bin/env --split-string=deno run -A",
                "deno",
                &["run", "-A"],
                &[],
            ),
            (
                "/usr/bin/env -S NODE_NO_WARNINGS=1 node",
                "node",
                &[],
                &["NODE_NO_WARNINGS=1"],
            ),
            ("/usr/bin/env -S -i PATH=/bin sh", "sh", &[], &["PATH=/bin"]),
        ] {
            let expected = (
                interpreter.to_owned(),
                options.iter().map(ToString::to_string).collect(),
                variables.iter().map(ToString::to_string).collect(),
            );
            assert_eq!(line(text), expected, "{text}");
        }
        for text in ["", "  ", "/usr/bin/env", "/usr/bin/env -S"] {
            assert_eq!(Line::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_file_is_recognized_by_its_beginning_and_then_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content, expected) in [
            ("a", &b"\x7fELF\x02"[..], Kind::Native),
            ("a", b"\xcf\xfa\xed\xfe\x07", Kind::Native),
            ("a", b"\xca\xfe\xba\xbe\0\0\0\x02", Kind::Native),
            ("a.js", b"console.log(1)", Kind::JavaScript),
            ("a.mjs", b"", Kind::JavaScript),
            // A class of Java, and a stub that a script of its package is to replace.
            ("a", b"\xca\xfe\xba\xbe\0\0\0\x34", Kind::Unknown),
            (
                "a.exe",
                b"echo \"not installed\" >&2\nexit 1\n",
                Kind::Unknown,
            ),
            ("a", b"", Kind::Unknown),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            assert_eq!(kind(&path).unwrap(), expected, "{content:?}");
        }
    }
}
