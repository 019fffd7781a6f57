//! Texts with `*` for commands, as Claude, Gemini and opencode have them, as patterns of `permissions`.
//!
//! There `*` stands for any text; in a pattern it stands for text within a word, and at the end for any further words.
//! So a pattern that allows may match less, and of a text that denies there is, beside the pattern, a wider one for a
//! question.

use wildmatch::WildMatch;

/// Programs that run the words behind them.
const WRAPPERS: &[&str] = &[
    "builtin", "command", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "time", "timeout",
    "xargs",
];

/// The pattern for every command.
pub(crate) const ANY: &str = "*";

/// What a text that denies, or asks, becomes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// A pattern that matches what the text matches, as far as it goes.
    pub(crate) pattern: Option<String>,
    /// A pattern that matches all that the text matches, if the other one does not.
    pub(crate) wider: Option<String>,
}

/// A text, word by word.
struct Text<'t> {
    words: Vec<&'t str>,
    /// Whether any words may follow.
    is_open: bool,
    /// Whether there must be at least one more, since only a sole `*` at the end may stand for nothing.
    needs_more: bool,
}

impl<'t> Text<'t> {
    fn of(text: &'t str) -> Self {
        let mut words: Vec<_> = text.split_whitespace().collect();
        let is_any = words.pop_if(|word| *word == ANY).is_some();
        let ends = words.last().is_some_and(|word| word.ends_with('*'));
        Self {
            is_open: is_any || ends || text.trim().is_empty(),
            needs_more: is_any && words.iter().any(|word| word.contains('*')),
            words,
        }
    }
}

/// Whether a shell takes a word for itself. It may have `*`.
fn is_plain(word: &str) -> bool {
    word.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-./:=,@+%^*".contains(c))
}

/// Whether a word may name a file outside of the working directory.
fn leads_out(word: &str) -> bool {
    word.starts_with('/') || word.contains("..") || word.contains("=/") || word.contains(":/")
}

/// The name of a program, without its folder.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A pattern that allows nothing that the text does not. `confined` are programs that the agent allows only for files
/// in its working directories, which no pattern can say.
///
/// A pattern with a variable also matches the command without it, so a text with one has no pattern.
pub(crate) fn allowed(given: &str, confined: &str) -> Result<String, String> {
    // Agents compare blanks as they stand.
    if given
        .split(' ')
        .any(|word| word.is_empty() || word.contains(char::is_whitespace))
    {
        return Err("its words are not separated by one space each".to_owned());
    }
    let text = Text::of(given);
    if let Some(word) = text.words.iter().find(|word| !is_plain(word)) {
        return Err(format!(
            "`{word}` has characters that a shell interprets, and a rule that allows is about words as they stand"
        ));
    }
    let program = text.words.first().copied();
    if let Some(word) = program.filter(|word| word.contains('=')) {
        return Err(format!(
            "a rule with `{word}` would also allow the command without it"
        ));
    }
    if let Some(program) = program {
        let is_confined = |word: &str| {
            let pattern = WildMatch::new(&base(word).to_lowercase());
            let mut programs = confined.split_whitespace();
            programs.any(|program| pattern.matches(program))
        };
        let runs_others = WRAPPERS.contains(&base(program));
        let reaching = text.words.iter().find(|word| {
            let may_run = **word == program || runs_others;
            may_run && is_confined(word)
        });
        let is_open = text.is_open || text.words.iter().any(|word| word.contains('*'));
        if let Some(word) = reaching
            && (is_open || text.words.iter().any(|word| leads_out(word)))
        {
            return Err(format!(
                "the agent lets `{word}` reach only its working directories, which `command` cannot say"
            ));
        }
    }
    let mut words = text.words;
    if text.needs_more {
        words.push(ANY);
    }
    if text.is_open {
        words.push(ANY);
    }
    Ok(words.join(" "))
}

/// Patterns for all that a text denies, or asks about.
pub(crate) fn refused(text: &str) -> Refused {
    let text = Text::of(text);
    let is_last = |at: usize| at + 1 == text.words.len();
    let fixed = |(at, word): (usize, &&str)| {
        let stem = word.strip_suffix('*').filter(|_| is_last(at));
        is_plain(word) && !stem.unwrap_or(word).contains('*')
    };
    let count = text
        .words
        .iter()
        .enumerate()
        .take_while(|word| fixed(*word))
        .count();
    let joined = |words: &[&str], is_open: bool| {
        let rest = is_open.then_some(ANY);
        let words: Vec<_> = words.iter().copied().chain(rest).collect();
        words.join(" ")
    };
    let is_exact = count == text.words.len();
    let is_said = text.words.iter().all(|word| is_plain(word));
    Refused {
        pattern: is_said.then(|| joined(&text.words, text.is_open)),
        wider: (!is_exact).then(|| joined(&text.words[..count], true)),
    }
}

/// The pattern for the commands that begin with these words, however they are spelt; `None` if a pattern cannot have
/// one of them.
pub(crate) fn prefix(words: &[&str]) -> Option<String> {
    let quoted = words.iter().map(|word| quoted(word));
    let quoted: Vec<_> = quoted.collect::<Option<_>>()?;
    let is_program = words.first().is_some_and(|word| !word.contains('='));
    is_program.then(|| format!("{} {ANY}", quoted.join(" ")))
}

/// A word as a pattern has it.
fn quoted(word: &str) -> Option<String> {
    if !word.is_empty() && is_plain(word) && !word.contains('*') {
        return Some(word.to_owned());
    }
    let fits = !word.contains(|c: char| c == '\'' || c.is_control());
    fits.then(|| format!("'{word}'"))
}

/// A pattern for all commands that a regular expression may match at their beginning: the words before its first
/// special character.
pub(crate) fn beginning(regex: &str) -> String {
    let is_special = |c: char| !(c.is_ascii_alphanumeric() || "_-/ ".contains(c));
    let plain = &regex[..regex.find(is_special).unwrap_or(regex.len())];
    if has_alternatives(regex) {
        return ANY.to_owned();
    }
    // The last word may go on, or its last character may be optional.
    let words = plain.rsplit_once(' ').map_or("", |(words, _)| words);
    let words: Vec<_> = words.split_whitespace().chain([ANY]).collect();
    words.join(" ")
}

/// Whether a regular expression has alternatives outside of parentheses, each of which begins anew.
fn has_alternatives(regex: &str) -> bool {
    let mut depth = 0;
    let mut rest = regex.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '(' => depth += 1,
            ')' => depth -= 1,
            '|' if depth <= 0 => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFINED: &str = "cat rm";

    #[test]
    fn what_allows_becomes_the_same_or_less() {
        for (text, expected) in [
            ("npm run test", "npm run test"),
            ("npm run test *", "npm run test *"),
            ("npm run test*", "npm run test* *"),
            ("git * main", "git * main"),
            ("git * main *", "git * main * *"),
            ("*", "*"),
            ("cat README.md", "cat README.md"),
            ("npm run cat *", "npm run cat *"),
        ] {
            assert_eq!(allowed(text, CONFINED).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "rm -rf $HOME",
            "echo 'x' *",
            "a; b",
            "cat *",
            "/bin/cat *",
            "CAT *",
            "c* x",
            "timeout 5 cat *",
            "cat /etc/passwd",
            "cat ../x",
            "A=1 *",
            "NODE_ENV=test npm test *",
            "",
            " *",
            "git  log",
            "git log ",
            "git\tlog",
        ] {
            assert!(allowed(text, CONFINED).is_err(), "{text}");
        }
    }

    #[test]
    fn what_denies_becomes_the_same_or_more() {
        for (text, pattern, wider) in [
            ("rm -rf *", Some("rm -rf *"), None),
            ("rm*", Some("rm* *"), None),
            ("git push", Some("git push"), None),
            ("git * main", Some("git * main"), Some("git *")),
            ("git pu* main", Some("git pu* main"), Some("git *")),
            ("rm -rf ~", None, Some("rm -rf *")),
            ("* install", Some("* install"), Some("*")),
            ("*secret*", Some("*secret* *"), Some("*")),
            ("$X", None, Some("*")),
            ("*", Some("*"), None),
        ] {
            let expected = Refused {
                pattern: pattern.map(str::to_owned),
                wider: wider.map(str::to_owned),
            };
            assert_eq!(refused(text), expected, "{text}");
        }
    }

    #[test]
    fn words_are_quoted_where_they_have_to_be() {
        assert_eq!(prefix(&["git", "log"]).as_deref(), Some("git log *"));
        assert_eq!(
            prefix(&["sh", "-c", "a b"]).as_deref(),
            Some("sh -c 'a b' *")
        );
        assert_eq!(prefix(&["ls", "*"]).as_deref(), Some("ls '*' *"));
        assert_eq!(prefix(&["ls", "it's"]), None);
        assert_eq!(prefix(&["A=b", "x"]), None);
        assert_eq!(prefix(&[]), None);
    }

    #[test]
    fn a_regular_expression_keeps_its_first_words() {
        for (regex, expected) in [
            ("git (commit|push)", "git *"),
            ("rm -rf", "rm *"),
            ("git push origin .*", "git push origin *"),
            ("git|rm x", "*"),
            ("git (a|b)|rm x", "*"),
            (".*", "*"),
            ("npm?", "*"),
        ] {
            assert_eq!(beginning(regex), expected, "{regex}");
        }
    }
}
