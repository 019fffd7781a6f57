//! Code for interpreters, whose languages are not read: only which words are in it.

use super::runs::is_inline;
use super::word::Word;

/// Programs that run code in a word, or in their input. Versions are not part of the names.
const INTERPRETERS: &[&str] = &[
    "at",
    "awk",
    "batch",
    "bb",
    "bun",
    "clj",
    "clojure",
    "crontab",
    "crystal",
    "dc",
    "deno",
    "ed",
    "elixir",
    "emacs",
    "emacsclient",
    "erl",
    "ex",
    "expect",
    "ftp",
    "gawk",
    "gdb",
    "ghc",
    "ghci",
    "gnuplot",
    "groovy",
    "guile",
    "gvim",
    "ipython",
    "irb",
    "jrunscript",
    "jshell",
    "julia",
    "kotlin",
    "latex",
    "less",
    "lftp",
    "lldb",
    "lua",
    "luajit",
    "lualatex",
    "luatex",
    "m4",
    "make",
    "mawk",
    "maxima",
    "mysql",
    "nawk",
    "node",
    "nodejs",
    "nvim",
    "ocaml",
    "octave",
    "octave-cli",
    "osascript",
    "pdflatex",
    "pdftex",
    "perl",
    "php",
    "psql",
    "pypy",
    "python",
    "r",
    "racket",
    "rails",
    "rake",
    "rpm",
    "rpmbuild",
    "rscript",
    "ruby",
    "rvim",
    "sbcl",
    "scala",
    "scheme",
    "sed",
    "socat",
    "sqlite",
    "swift",
    "tclsh",
    "tex",
    "texlua",
    "ts-node",
    "tsx",
    "vi",
    "view",
    "vim",
    "vimdiff",
    "xelatex",
    "xetex",
];

/// Those that take a program from their input if no file is named.
const FED: &[&str] = &[
    "bun",
    "crontab",
    "deno",
    "ipython",
    "irb",
    "julia",
    "lua",
    "luajit",
    "make",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pypy",
    "python",
    "r",
    "rscript",
    "ruby",
    "tclsh",
    "ts-node",
    "tsx",
];

/// Those that run the lines of their input beside the file that they open, unless a word has code.
const INTERACTIVE: &[&str] = &["ed", "ex", "gdb", "lldb", "mysql", "psql", "sqlite"];

/// Those of [`FED`] that do so only if told.
const TOLD: &[&str] = &["crontab", "make"];

/// Those that always do.
const SCHEDULERS: &[&str] = &["at", "batch"];

/// Options with which an interpreter says something about itself, or runs files that it looks for.
const ABOUT: &[&str] = &[
    "--help",
    "--test",
    "--version",
    "--versions",
    "-V",
    "-VV",
    "-h",
    "-v",
];

/// Programs that only pass on, keep or ignore what they are given.
const COPIERS: &[&str] = &["cat", "cd", "echo", "gh", "git", "glab", "printf", "tee"];

/// Characters that end a name in scripts of other languages, and that names of files seldom have.
const SELDOM: &[char] = &[
    '\'', '"', '`', '(', ')', '[', ']', '{', '}', '<', '>', '|', ';', '&', ',', '=', ':', '@',
];

/// Whether a program, by its folded name without a directory, is an interpreter.
pub(super) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&stem(name)) || INTERPRETERS.contains(&name)
}

/// Whether what this program is given in a here-document is no more than text.
pub(super) fn is_copier(name: &str) -> bool {
    COPIERS.contains(&name)
}

/// Whether an interpreter takes its program from its input.
pub(super) fn is_fed(name: &str, arguments: &[Word]) -> bool {
    let is_input = |word: &Word| word.text == "-" || is_inline(word);
    let is_option = |word: &Word| {
        word.text.starts_with('-') && !is_code(&word.text) && !ABOUT.contains(&&*word.text)
    };
    let has_no_file = !TOLD.contains(&name) && arguments.iter().all(is_option);
    let may_be = FED.contains(&stem(name));
    let has_words =
        |word: &Word| is_code(&word.text) || matches!(&*word.text, "--help" | "--version");
    let is_interactive = INTERACTIVE.contains(&stem(name)) && !arguments.iter().any(has_words);
    SCHEDULERS.contains(&name)
        || is_interactive
        || (may_be && (has_no_file || arguments.iter().any(is_input)))
}

/// Whether a script of `sed` surely runs no program, and opens no file.
pub(super) fn is_plain_sed(script: &str) -> bool {
    let between = [' ', '\t', '\n', ';', '}'];
    let mut rest = script.trim_start_matches(between);
    while !rest.is_empty() {
        let Some(behind) = behind_sed_command(rest) else {
            return false;
        };
        if !behind.is_empty() && !behind.starts_with(between) {
            return false;
        }
        rest = behind.trim_start_matches(between);
    }
    true
}

/// What is behind the first command of a script of `sed`, if that only prints, deletes, adds or replaces text.
fn behind_sed_command(script: &str) -> Option<&str> {
    let is_of_address = |c: char| c.is_ascii_digit() || "$,~+!{ \t".contains(c);
    let mut rest = script.trim_start_matches(is_of_address);
    while let Some(pattern) = rest.strip_prefix('/') {
        let behind = behind_sign(pattern, '/')?.trim_start_matches('I');
        rest = behind.trim_start_matches(is_of_address);
    }
    let command = rest.chars().next()?;
    let behind = &rest[command.len_utf8()..];
    match command {
        '=' | 'D' | 'G' | 'H' | 'N' | 'P' | 'd' | 'g' | 'h' | 'n' | 'p' | 'q' | 'x' => Some(behind),
        'a' | 'c' | 'i' => {
            let (text, next) = behind.split_at(behind.find('\n').unwrap_or(behind.len()));
            (!text.contains('\\')).then_some(next)
        }
        's' => {
            let sign = behind.chars().next().filter(char::is_ascii_punctuation)?;
            let replacement = behind_sign(&behind[1..], sign)?;
            let flags = behind_sign(replacement, sign)?;
            Some(flags.trim_start_matches(|c: char| c.is_ascii_digit() || "giIp".contains(c)))
        }
        _ => None,
    }
}

/// What is behind the next of these signs that has no `\` in front. In brackets, it may stand for itself.
fn behind_sign(text: &str, sign: char) -> Option<&str> {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\\' {
            rest.next();
        } else if c == sign {
            let before = &text[..text.len() - rest.as_str().len()];
            let is_open = before.rfind('[') > before.rfind(']');
            return (!is_open).then_some(rest.as_str());
        }
    }
    None
}

/// Whether a word of an interpreter's is more than a name.
pub(super) fn is_code(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || "'\"`(){}[];|&<>!$".contains(c))
}

/// The words in code, whatever its language: `open('.env')` has two.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || SELDOM.contains(&c);
    text.split(is_end).filter(|part| !part.is_empty())
}

/// What is between the signs in code, for languages in which any sign quotes: `qx~rm x~`, `s#a#rm x#e`.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || (c.is_ascii_punctuation() && !"_-./".contains(c));
    text.split(is_end).filter(|part| !part.is_empty())
}

/// A name without its version: `python3.12`.
pub(super) fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_one_in_any_version() {
        for (name, expected) in [
            ("python", true),
            ("python3", true),
            ("python3.12", true),
            ("sqlite3", true),
            ("node", true),
            ("awk", true),
            ("m4", true),
            ("cat", false),
            ("cargo", false),
            ("3", false),
        ] {
            assert_eq!(is_interpreter(name), expected, "{name}");
        }
    }

    #[test]
    fn an_interpreter_without_a_file_takes_its_program_from_its_input() {
        for (name, arguments, expected) in [
            ("python3", &["-"][..], true),
            ("python3", &[], true),
            ("python3", &["-u"], true),
            ("python3", &["-", "a"], true),
            ("python3", &["/dev/stdin"], true),
            ("python3", &["--version"], false),
            ("node", &["--test"], false),
            ("python3", &["-c", "print(1)"], false),
            ("python3", &["-m", "json.tool"], false),
            ("python3", &["a.py"], false),
            ("perl", &["-e'print 1'"], false),
            ("make", &[], false),
            ("make", &["-f", "-"], true),
            ("make", &["-j4"], false),
            ("sed", &["-"], false),
            ("sqlite3", &["a.db"], true),
            ("sqlite3", &["a.db", "select 1"], false),
            ("psql", &["-h", "db"], true),
            ("psql", &["--version"], false),
            ("at", &["now"], true),
            ("crontab", &["-"], true),
            ("crontab", &["-l"], false),
        ] {
            let words: Vec<_> = arguments.iter().map(|word| Word::exact(word)).collect();
            assert_eq!(is_fed(name, &words), expected, "{name} {arguments:?}");
        }
    }

    #[test]
    fn a_script_of_sed_is_plain_if_it_only_changes_text() {
        for (script, expected) in [
            ("1,80p", true),
            ("$p", true),
            ("/a/,/b/p", true),
            ("/[0-9]/!d", true),
            ("s/a b/c d/g", true),
            ("s|a|b|; s,c,d,", true),
            (r"s/a\/b/c/", true),
            ("/a/{s/b/c/;p}", true),
            ("2i text", true),
            ("2i text\n3p", true),
            ("1e rm x", false),
            ("s/a/rm x/e", false),
            ("s/a/b/gw x", false),
            ("w .bashrc", false),
            ("/a/w x", false),
            ("r x", false),
            ("p;e", false),
            ("1i a\n1e rm x", false),
            ("1i\\", false),
            ("s/[/]/e rm x/", false),
            ("s/a/b", false),
            (r"\,a,e rm x", false),
            ("pe", false),
        ] {
            assert_eq!(is_plain_sed(script), expected, "{script}");
        }
    }

    #[test]
    fn code_is_taken_apart_in_any_language() {
        for (code, expected) in [
            ("open('.env')", &["open", ".env"][..]),
            ("system \"rm x\"", &["system", "rm", "x"]),
            ("run([\"git\",\"push\"])", &["run", "git", "push"]),
            ("process.env.X", &["process.env.X"]),
        ] {
            assert_eq!(parts(code).collect::<Vec<_>>(), expected, "{code}");
        }
    }
}
