//! A pattern for simple commands, word by word: `git log *`.

use super::is_within;
use super::programs::{INERT, PRINTING, READING, SHELLS};
use super::runs::{Runs, base, git_action, removes, without_ending};
use super::script::{Script, SimpleCommand, is_name};
use super::settings::{Use, use_of};
use super::values::SET;
use super::word::Word;
use crate::directory::Directory;
use crate::fold::fold;
use crate::pattern::{Pattern as Glob, Token};
use crate::verdict::Match;

/// How deep programs that run others are followed.
pub(super) const DEEPEST: usize = 8;

/// How many words in front of a subcommand are examined.
const MOST_OPTIONS: usize = 32;

/// Words of a shell's grammar in the place of a program.
const KEYWORDS: &[&str] = &[
    "!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "select",
    "then", "until", "while", "{", "}",
];

/// The words of an allowed command that may be expanded to what the text does not show. The script itself has to make
/// their values, and a `*` to stand for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansions {
    /// Those that are only printed or compared, so that no file is named by them.
    Printed,
    /// Those of programs that only read files, too.
    Read,
}

impl Expansions {
    /// Whether a program does no harm, whatever its words are.
    fn has(self, program: &str) -> bool {
        PRINTING.contains(&program) || (self == Self::Read && READING.contains(&program))
    }
}

pub struct Pattern {
    assignments: Vec<(String, Glob)>,
    words: Vec<Glob>,
    /// Whether any further words may follow: a last word `*`.
    rest: bool,
}

impl Pattern {
    pub fn new(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("`command` has `{text}`; {why}");
        let words = split(text).map_err(wrong)?;
        let assignments: Vec<_> = words.iter().map_while(|word| assignment(word)).collect();
        let mut words: Vec<_> = words
            .into_iter()
            .skip(assignments.len())
            .map(Glob::of)
            .collect();
        let rest = words.pop_if(|word| word.is_any()).is_some();
        if assignments.is_empty() && words.is_empty() && !rest {
            return Err(wrong(
                "it is empty; write the words of a command, such as `git log *`",
            ));
        }
        Ok(Self {
            assignments,
            words,
            rest,
        })
    }

    /// Whether it matches every command.
    pub fn is_any(&self) -> bool {
        self.rest && self.words.is_empty()
    }

    /// Whether it matches every `rm`.
    fn is_any_rm(&self) -> bool {
        let program = self.words.first().and_then(Glob::literal);
        self.rest
            && self.words.len() == 1
            && self.assignments.is_empty()
            && program.is_some_and(|program| fold(base(&program)) == "rm")
    }

    /// Whether it begins with what is no program: with an option, or a word of the grammar.
    pub fn has_no_program(&self) -> bool {
        self.words.first().is_some_and(|word| {
            let is_keyword = |word: String| KEYWORDS.contains(&&*word);
            word.begins_with('-') || word.literal().is_some_and(is_keyword)
        })
    }

    /// Whether it has options, which a command may have in another order or spelling.
    pub fn has_options(&self) -> bool {
        let mut words = self.words.iter().skip(1);
        words.any(|word| word.begins_with('-'))
    }

    /// Whether a word of it begins with `~`, which a shell expands unless it is quoted.
    pub fn has_home(&self) -> bool {
        self.words.iter().any(|word| word.begins_with('~'))
    }

    /// Whether a rule that denies or asks meets by it all commands that another one matches. Not every such pair is
    /// found.
    pub fn covers(&self, other: &Self) -> bool {
        let mut words = self.words.iter().enumerate();
        let is_covered = |(at, own): (usize, &Glob)| {
            let word = other.words.get(at);
            word.is_some_and(|word| own.covers(word))
        };
        self.assignments.is_empty()
            && words.all(is_covered)
            && (self.rest || (!other.rest && other.words.len() == self.words.len()))
    }

    /// Whether it matches a command letter by letter, but for these expansions. Its wildcards never stand for the words
    /// at the places in `pinned`.
    fn allows(&self, command: &SimpleCommand, pinned: &[usize], expansions: Expansions) -> bool {
        let named = |(name, value): &(String, Word)| {
            let mut own = self.assignments.iter().filter(|(own, _)| own == name);
            let is_run = use_of(name, &value.text) != Use::Unknown;
            let is_spelt = |glob: &Glob| glob.literal().as_ref() == Some(&value.text);
            let fits = |glob: &Glob| glob.matches(&value.text) && (!is_run || is_spelt(glob));
            value.exact && own.any(|(_, glob)| fits(glob))
        };
        let program = command.words.first().filter(|program| program.exact);
        let is_harmless = program.is_some_and(|program| expansions.has(&program.text));
        let word = |at: usize, word: &Word| match self.words.get(at) {
            Some(glob) if pinned.contains(&at) => {
                word.exact && glob.literal().as_ref() == Some(&word.text)
            }
            Some(glob) if word.exact => glob.matches(&word.text),
            Some(glob) => is_harmless && at > 0 && word.own && word.whole && glob.is_any(),
            None => self.rest && !pinned.contains(&at) && (word.exact || (is_harmless && word.own)),
        };
        let mut words = command.words.iter().enumerate();
        !command.more
            && command.assignments.iter().all(named)
            && command.words.len() >= self.words.len()
            && words.all(|(at, given)| word(at, given))
    }

    /// Whether it is for a subcommand or an operand, and may match a command that has options in front of that:
    /// `kubectl delete *`, and `kubectl -n a delete b`.
    fn meets_behind_options(&self, command: &SimpleCommand) -> Match {
        let names_word = self.words.get(1).is_some_and(|word| !word.begins_with('-'));
        let words = &command.words;
        let is_option = |at: usize| {
            let word = words.get(at).filter(|word| word.exact);
            word.is_some_and(|word| word.text.starts_with(['-', '+']))
        };
        if !names_word || !is_option(1) || shows_action_of_git(words) {
            return Match::No;
        }
        if meets_program(&self.words[0], &words[0]) == Match::No {
            return Match::No;
        }
        // An option may take the next word.
        let may_begin = |at: &usize| is_option(at - 1) || (*at > 2 && is_option(at - 2));
        if words.len() > MOST_OPTIONS && (2..=MOST_OPTIONS).all(|at| may_begin(&at)) {
            return Match::Maybe;
        }
        let places = (2..words.len()).take_while(may_begin);
        let found = places.map(|at| {
            // No more of them are compared.
            let compared = words[at..].iter().take(self.words.len());
            let behind = SimpleCommand {
                assignments: command.assignments.clone(),
                words: words[..1].iter().chain(compared).cloned().collect(),
                more: command.more,
                ..SimpleCommand::default()
            };
            self.meets(&behind).min(Match::Maybe)
        });
        found.max().unwrap_or(Match::No)
    }

    /// Whether its words stand in a row in code: `os.system('rm x')`.
    fn is_in(&self, code: &[Word]) -> bool {
        let fits = |window: &[Word]| {
            let mut pairs = self.words.iter().zip(window).enumerate();
            pairs.all(|(at, (glob, word))| {
                let met = if at == 0 {
                    meets_program(glob, word)
                } else {
                    meets(glob, word)
                };
                met != Match::No
            })
        };
        let count = self.words.len();
        count > 0 && code.windows(count).any(fits)
    }

    /// Whether it matches a command, however that is spelt.
    fn meets(&self, command: &SimpleCommand) -> Match {
        let mut met = Match::Yes;
        for (name, glob) in &self.assignments {
            let values = command.assignments.iter().filter(|(own, _)| own == name);
            let value = values.map(|(_, value)| meets(glob, value)).max();
            met = met.min(value.unwrap_or(Match::No));
        }
        for (at, glob) in self.words.iter().enumerate() {
            let word = match command.words.get(at) {
                Some(word) if at == 0 => meets_program(glob, word),
                Some(word) => meets(glob, word),
                None if command.more => Match::Maybe,
                None => Match::No,
            };
            met = met.min(word);
            // A word that is not exact may stand for any number of words.
            if command.words.get(at).is_none_or(|word| !word.exact) {
                return met;
            }
        }
        let behind = command.words.get(self.words.len());
        met.min(match behind {
            _ if self.rest => Match::Yes,
            Some(word) if word.exact => Match::No,
            None if !command.more => Match::Yes,
            _ => Match::Maybe,
        })
    }
}

/// What allows commands.
#[derive(Clone, Copy)]
pub(super) struct Allowed<'a> {
    pub(super) patterns: &'a [Pattern],
    pub(super) expansions: Expansions,
    pub(super) directory: Option<&'a Directory>,
}

impl Allowed<'_> {
    /// Whether all that a simple command runs is allowed.
    pub(super) fn has(self, command: &SimpleCommand, depth: usize) -> bool {
        let runs = Runs::of(command);
        let is_matched = |pattern: &Pattern| pattern.allows(command, &runs.pinned, self.expansions);
        let by_name = !runs.likely.unclear
            && (self.is_inert(command) || self.patterns.iter().any(is_matched));
        let Some(only) = runs.only.filter(|_| !by_name && depth > 0) else {
            return by_name;
        };
        let mut all = Script::default();
        all.run(only, &command.assignments);
        // Otherwise `command cd` changes the directory of what follows.
        let program = command.words.first();
        let is_apart = program.is_some_and(|program| SHELLS.contains(&base(&program.text)));
        let is_allowed =
            |inner: &SimpleCommand| (is_apart || !inner.moves()) && self.has(inner, depth - 1);
        all.is_plain()
            && !all.commands.is_empty()
            && all.files.is_empty()
            && all.commands.iter().all(is_allowed)
    }

    /// Whether a command has no effect beyond the script, and prints nothing, so that no rule need allow it.
    fn is_inert(self, command: &SimpleCommand) -> bool {
        // There, these may be programs: cmd runs `x` for `x=1`.
        if self.directory.is_some_and(Directory::is_windows) {
            return false;
        }
        let Some((program, arguments)) = command.words.split_first() else {
            return command.is_own;
        };
        let are =
            |fit: &dyn Fn(&str) -> bool| arguments.iter().all(|word| word.exact && fit(&word.text));
        let is_shown = arguments.iter().all(|word| word.exact || word.own);
        let is_builtin = match &*program.text {
            "cd" => arguments.len() == 1 && are(&|to| self.is_within(to)),
            "set" => !arguments.is_empty() && are(&|option| SET.contains(&option)),
            // zsh calculates, and so may run what is in a variable.
            "break" | "continue" | "exit" => arguments.iter().all(is_status),
            name => INERT.contains(&name) && is_shown,
        };
        let is_alone = command.assignments.is_empty() && !command.more;
        program.exact && (command.is_own || (is_builtin && is_alone))
    }

    /// Whether a shell that goes there stays in the session's directory.
    fn is_within(self, to: &str) -> bool {
        !to.starts_with(['-', '+']) && is_within(to, self.directory)
    }
}

/// Whether a word is a number, or how the last command ended.
fn is_status(word: &Word) -> bool {
    let is_number = word.exact && word.text.bytes().all(|byte| byte.is_ascii_digit());
    is_number || word.text == "$?"
}

/// Whether a simple command, and whatever it most likely runs, is one of these patterns. A program without an effect of
/// its own, such as `timeout`, need not be.
pub(super) fn means(patterns: &[Pattern], command: &SimpleCommand, depth: usize) -> bool {
    // It only assigns.
    if command.words.is_empty() {
        return true;
    }
    let runs = Runs::of(command);
    let met = |pattern: &Pattern| pattern.meets(command) == Match::Yes;
    let is_known = runs.only.is_some() || patterns.iter().any(met);
    let mut likely = runs.likely.commands.iter();
    is_known
        && depth > 0
        && !runs.likely.unclear
        && runs.likely.doubt.is_none()
        && likely.all(|command| means(patterns, command, depth - 1))
}

/// Whether one of these patterns matches something that a simple command runs.
pub(super) fn meet(patterns: &[Pattern], command: &SimpleCommand, depth: usize) -> Match {
    let met = patterns.iter().map(|pattern| {
        let behind = pattern.meets_behind_options(command);
        pattern.meets(command).max(behind)
    });
    let is_alike = removes(command) && patterns.iter().any(Pattern::is_any_rm);
    let own = met.fold(Match::perhaps(is_alike), Match::max);
    if own == Match::Yes {
        return own;
    }
    if depth == 0 {
        return Match::Maybe;
    }
    let runs = Runs::of(command);
    let unclear = Match::perhaps(runs.likely.unclear || runs.beside.unclear);
    let mut likely = Script::default();
    likely.run(runs.likely, &command.assignments);
    let likely = likely
        .commands
        .iter()
        .map(|command| meet(patterns, command, depth - 1));
    let perhaps = runs.perhaps.iter().flat_map(|command| {
        patterns
            .iter()
            .map(|pattern| pattern.meets(command).min(Match::Maybe))
    });
    // What a variable has run is not run with that variable again.
    let beside = runs.beside.commands.iter();
    let beside = beside.map(|command| meet(patterns, command, depth - 1));
    let in_code = patterns.iter().any(|pattern| pattern.is_in(&runs.code));
    let found = own.max(unclear).max(Match::perhaps(in_code));
    likely.chain(beside).chain(perhaps).fold(found, Match::max)
}

/// Whether it is git, and which of its words is the subcommand is certain: [`Runs`] has the command without the options
/// in front of that. So nothing more may be in `git -C "$X" log`.
fn shows_action_of_git(words: &[Word]) -> bool {
    let is_git = words
        .first()
        .is_some_and(|program| base(&program.text) == "git");
    is_git && words.iter().take(git_action(words)).all(|word| word.whole)
}

/// Whether a pattern for a word matches it, however it is spelt.
fn meets(glob: &Glob, word: &Word) -> Match {
    if word.exact {
        Match::sure(glob.matches_folded(&word.text))
    } else {
        Match::Maybe
    }
}

/// Whether a pattern for a program matches it, in any directory if the pattern names none.
fn meets_program(glob: &Glob, word: &Word) -> Match {
    let name = base(&word.text);
    let names = [name, without_ending(name)];
    let met = names.map(|name| meets(glob, &Word::exact(name)));
    met.into_iter().fold(meets(glob, word), Match::max)
}

/// The name and the value, if a pattern is for an assignment.
fn assignment(tokens: &[Token]) -> Option<(String, Glob)> {
    let sign = tokens
        .iter()
        .position(|token| matches!(token, Token::One('=')))?;
    let name = Glob::of(tokens[..sign].to_vec()).literal()?;
    let value = Glob::of(tokens[sign + 1..].to_vec());
    is_name(&name).then_some((name, value))
}

/// The words of a pattern. Quotes and `\` are a shell's; a quoted `*` is a character.
fn split(text: &str) -> Result<Vec<Vec<Token>>, &'static str> {
    const UNCLOSED: &str = "there is a quote without its end";
    let mut words = Vec::new();
    let mut word: Option<Vec<Token>> = None;
    let mut rest = text.chars();
    let mut quote = None;
    while let Some(c) = rest.next() {
        if quote.is_none() && c.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let tokens = word.get_or_insert_default();
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => {
                tokens.push(Token::One(rest.next().ok_or("it ends with a `\\`")?));
            }
            ('*', None) => tokens.push(Token::Some),
            (';' | '&' | '|' | '<' | '>' | '(' | ')' | '`' | '$', None) => {
                return Err(
                    "it is one program and its words: write a pattern for each command, and quote such characters",
                );
            }
            (c, _) => tokens.push(Token::One(c)),
        }
    }
    words.extend(word);
    if quote.is_some() {
        Err(UNCLOSED)
    } else {
        Ok(words)
    }
}
