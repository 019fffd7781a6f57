//! Words of commands that are texts and name no file: what is printed, the pattern of a search, the message of a commit.

use super::programs::FEEDERS;
use super::runs::takes_code;
use super::script::{Script, SimpleCommand};
use super::word::Word;

/// Print their words.
const PRINTERS: &[&str] = &["echo", "printf"];

/// Take numbers, and open nothing.
const COUNTERS: &[&str] = &["exit", "kill", "return", "sleep"];

/// Look for their first operand in files.
pub(super) const SEARCHES: &[&str] = &["egrep", "fgrep", "grep", "rg"];

/// Change what the names of later commands mean.
const CHANGERS: &[&str] = &[".", "alias", "enable", "eval", "hash", "source"];

/// Substitutions whose result is no name that others choose, and what stands for it.
const RESULTS: &[(&str, &str)] = &[
    ("$(date)", "1"),
    ("$(date +%F)", "1"),
    ("$(date +%Y%m%d)", "1"),
    ("$(date +%s)", "1"),
    ("$(git merge-base HEAD main)", "1"),
    ("$(git merge-base main HEAD)", "1"),
    ("$(git rev-parse --short HEAD)", "1"),
    ("$(git rev-parse --show-toplevel)", "$PWD/."),
    ("$(git rev-parse HEAD)", "1"),
    ("$(id -g)", "1"),
    ("$(id -u)", "1"),
    ("$(mktemp -d)", "/tmp/x"),
    ("$(mktemp)", "/tmp/x"),
    ("$(nproc)", "1"),
    ("$(pwd)", "$PWD/."),
    ("$(uname -m)", "1"),
    ("$(uname -s)", "1"),
    ("$(uname)", "1"),
];

/// What the names of programs in a script mean.
pub(super) struct Said {
    /// Whether each is what it usually is.
    is_usual: bool,
    /// Whether a program may take names of files, or code, from what another one prints.
    is_taken: bool,
}

impl Said {
    pub fn of(script: &Script) -> Self {
        let changes = |command: &SimpleCommand| {
            let program = command.words.first();
            program.is_some_and(|word| CHANGERS.contains(&&*word.text))
        };
        let feeds = |command: &SimpleCommand| {
            let program = command.words.first();
            program.is_some_and(|word| !word.exact || FEEDERS.contains(&&*word.text))
        };
        let mut commands = script.commands.iter();
        Self {
            is_usual: !script.unclear
                && script.doubt.is_none()
                && !script.commands.iter().any(changes),
            is_taken: commands.any(|command| feeds(command) || takes_code(command)),
        }
    }

    pub fn is_usual(&self) -> bool {
        self.is_usual
    }

    /// Whether the word at this place of a command is a text.
    pub fn has(&self, command: &SimpleCommand, at: usize) -> bool {
        let words = &command.words;
        let Some(program) = words.first().filter(|program| program.exact) else {
            return false;
        };
        if !self.is_usual || at == 0 || !command.assignments.is_empty() {
            return false;
        }
        let name = &*program.text;
        if PRINTERS.contains(&name) {
            return !command.is_piped && !self.is_taken;
        }
        if COUNTERS.contains(&name) {
            return true;
        }
        // Of several words, one may be an option, or a file.
        let is_one = words[at].whole;
        is_one
            && if SEARCHES.contains(&name) {
                pattern(words) == Some(at)
            } else {
                is_message(words, at)
            }
    }

    /// A word as it is without the substitutions whose results are known.
    pub fn known(&self, word: &Word) -> String {
        let mut text = word.text.clone();
        if self.is_usual && text.contains("$(") {
            for (substitution, result) in RESULTS {
                text = text.replace(substitution, result);
            }
        }
        text
    }
}

/// The place of the pattern of a search, if it is surely its first operand: the value of an option that comes first is
/// taken for it instead, and then names no file either.
fn pattern(words: &[Word]) -> Option<usize> {
    let is_option = |word: &Word| word.text.len() > 1 && word.text.starts_with('-');
    // `-e`, `-f`, also behind other letters; `--regexp`, `--file`, `--files`, `--pre`, also abbreviated.
    let gives_another = |word: &Word| match word.text.strip_prefix("--") {
        Some(name) => name.starts_with(['f', 'p', 'r']),
        None => is_option(word) && word.text.contains(['e', 'f']),
    };
    let given = words.iter().enumerate().skip(1);
    let mut operands = given.filter(|(_, word)| !is_option(word));
    let (at, _) = operands.next()?;
    let is_shown = words[..at].iter().all(|word| word.exact);
    let is_chosen = chooses_files(&words[at - 1].text);
    (is_shown && !is_chosen && !words[1..].iter().any(gives_another)).then_some(at)
}

/// Whether the word behind an option of a search says which files are searched.
fn chooses_files(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(name) => matches!(
            name,
            "glob" | "iglob" | "incl" | "inclu" | "includ" | "include"
        ),
        None => option.starts_with('-') && option.ends_with('g'),
    }
}

/// The place of the pattern of a search, if no option gives one. Unlike [`pattern`], it may be wrong.
pub(super) fn likely_pattern(words: &[Word]) -> Option<usize> {
    let gives_pattern = |word: &Word| {
        let text = &*word.text;
        let name = text.split('=').next().unwrap_or(text);
        let is_short = text.starts_with('-') && !text.starts_with("--");
        matches!(name, "--file" | "--files" | "--regexp") || is_short && text.contains(['e', 'f'])
    };
    let is_operand = |at: &usize| {
        let (before, text) = (&*words[*at - 1].text, &*words[*at].text);
        let is_option = text.len() > 1 && text.starts_with('-') && before != "--";
        !is_option && !takes_text(before) && !chooses_files(before)
    };
    let place = (1..words.len()).find(is_operand)?;
    (!words[1..].iter().any(gives_pattern)).then_some(place)
}

/// Whether the word behind an option of a search is a number, a type or a pattern, rather than a file.
pub(super) fn takes_text(option: &str) -> bool {
    const LONG: &[&str] = &[
        "--after-context",
        "--before-context",
        "--context",
        "--max-count",
        "--max-depth",
        "--regexp",
        "--type",
        "--type-not",
    ];
    let is_short = option.starts_with('-') && !option.starts_with("--");
    LONG.contains(&option)
        || (is_short && option.ends_with(['A', 'B', 'C', 'M', 'd', 'e', 'j', 'm', 't']))
}

/// Whether a word is the message of a commit or a tag, or the title or the text of an issue or a pull request.
fn is_message(words: &[Word], at: usize) -> bool {
    let text = |at: usize| {
        words
            .get(at)
            .filter(|word| word.exact)
            .map(|word| &*word.text)
    };
    if !words[..at].iter().all(|word| word.exact || word.whole) {
        return false;
    }
    let before = text(at - 1).unwrap_or_default();
    match (text(0), text(1)) {
        (Some("git"), Some("commit" | "merge" | "tag")) => {
            matches!(before, "-m" | "-am" | "--message")
        }
        (Some("gh"), Some("issue" | "pr")) => {
            matches!(before, "-b" | "-t" | "--body" | "--title")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(command: &str) -> Vec<String> {
        let script = Script::read(command);
        let said = &Said::of(&script);
        let commands = script.commands.iter();
        let found = commands.flat_map(|command| {
            let words = command.words.iter().enumerate();
            words.filter(move |(at, _)| said.has(command, *at))
        });
        found.map(|(_, word)| word.text.clone()).collect()
    }

    #[test]
    fn a_pattern_is_likely_behind_the_values_of_options() {
        for (command, expected) in [
            ("grep -r a b", Some("a")),
            ("rg -A 3 a b", Some("a")),
            ("rg -nC 3 --type rust a b", Some("a")),
            ("rg -g '*.rs' a", Some("a")),
            ("rg --fixed-strings a b", Some("a")),
            ("grep -- -a b", Some("-a")),
            ("grep -e a b", None),
            ("grep -ne a b", None),
            ("grep -f a b", None),
            ("grep --regexp=a b", None),
            ("rg --files a", None),
            ("rg", None),
        ] {
            let script = Script::read(command);
            let words = &script.commands[0].words;
            let found = likely_pattern(words).map(|at| &*words[at].text);
            assert_eq!(found, expected, "{command}");
        }
    }

    #[test]
    fn texts_are_told_from_names_of_files() {
        for (command, expected) in [
            ("echo a 'b c' >> d", &["a", "b c"][..]),
            ("echo a | xargs cat", &[]),
            ("echo a > b; xargs cat < b", &[]),
            ("echo a | tee b", &[]),
            ("cat $(echo a)", &[]),
            ("./echo a", &[]),
            ("echo() { cat $1; }; echo a", &[]),
            ("alias echo=cat; echo a", &[]),
            ("grep -rn a b", &["a"]),
            ("grep -A 3 a b", &["3"]),
            ("grep -- a b", &["a"]),
            ("grep -ne a b", &[]),
            ("grep -f a b", &[]),
            ("grep a b -e c", &[]),
            ("grep $X a", &[]),
            ("rg --files a", &[]),
            ("rg -g a b", &[]),
            ("rg a -g b", &["a"]),
            ("rg --glob a b", &[]),
            ("grep -r --include a b", &[]),
            ("grep -i --ignore-case a b", &["a"]),
            ("git commit -am a b", &["a"]),
            ("git commit -m $X a", &[]),
            ("git commit -F a", &[]),
            ("gh pr create --title a --body b --body-file c", &["a", "b"]),
            ("kill -9 a", &["-9", "a"]),
        ] {
            assert_eq!(texts(command), expected, "{command}");
        }
    }
}
