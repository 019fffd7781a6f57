//! A pattern for simple commands, word by word: `git log *`.

use super::runs::{Runs, base};
use super::script::{Script, Simple, assigned};
use super::word::Word;
use crate::fold::fold;
use crate::verdict::Match;

/// How deep programs that run others are followed.
const DEEPEST: usize = 8;

pub(crate) struct Pattern {
    assignments: Vec<(String, Glob)>,
    words: Vec<Glob>,
    /// Whether any further words may follow: a last word `*`.
    rest: bool,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("`command` has `{text}`; {why}");
        let mut words = split(text).map_err(wrong)?;
        let rest = words.pop_if(|word| word.is_any()).is_some();
        let is_assignment = |word: &Glob| assigned(&word.pieces[0]).is_some();
        let count = words.iter().take_while(|word| is_assignment(word)).count();
        let behind = words.split_off(count);
        if words.is_empty() && behind.is_empty() && !rest {
            return Err(wrong(
                "it is empty; write the words of a command, such as `git log *`",
            ));
        }
        Ok(Self {
            assignments: words.into_iter().map(Glob::into_assignment).collect(),
            words: behind,
            rest,
        })
    }

    /// Whether it matches every command.
    pub(crate) fn is_any(&self) -> bool {
        self.rest && self.words.is_empty()
    }

    /// Whether it matches a command letter by letter. Its wildcards never stand for these words.
    fn allows(&self, command: &Simple, pinned: &[usize]) -> bool {
        let named = |(name, value): &(String, Word)| {
            let mut own = self.assignments.iter();
            value.exact && own.any(|(own, glob)| own == name && glob.matches(&value.text))
        };
        let word = |at: usize, word: &Word| match self.words.get(at) {
            Some(glob) if pinned.contains(&at) => glob.is_literal() && glob.matches(&word.text),
            Some(glob) => glob.matches(&word.text),
            None => self.rest && !pinned.contains(&at),
        };
        let mut words = command.words.iter().enumerate();
        !command.more
            && command.assignments.iter().all(named)
            && command.words.len() >= self.words.len()
            && words.all(|(at, given)| given.exact && word(at, given))
    }

    /// Whether it matches a command, however that is spelt.
    fn meets(&self, command: &Simple) -> Match {
        let mut met = Match::Yes;
        for (name, glob) in &self.assignments {
            let values = command.assignments.iter().filter(|(own, _)| own == name);
            let value = values.map(|(_, value)| glob.meets(value)).max();
            met = met.min(value.unwrap_or(Match::No));
        }
        for (at, glob) in self.words.iter().enumerate() {
            let word = match command.words.get(at) {
                Some(word) => glob.meets_at(at, word),
                None if command.more => Match::Maybe,
                None => Match::No,
            };
            met = met.min(word);
            // What is not known may be any number of words.
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

/// Whether these patterns allow all that a simple command runs.
pub(crate) fn allow(patterns: &[Pattern], command: &Simple) -> bool {
    allow_at(patterns, command, DEEPEST)
}

fn allow_at(patterns: &[Pattern], command: &Simple, depth: usize) -> bool {
    let runs = Runs::of(command);
    let by_name = !runs.likely.unclear
        && patterns
            .iter()
            .any(|pattern| pattern.allows(command, &runs.pinned));
    let Some(only) = runs.only.filter(|_| !by_name && depth > 0) else {
        return by_name;
    };
    let mut all = Script::default();
    all.run(only, &command.assignments);
    all.is_plain()
        && !all.commands.is_empty()
        && all.files.is_empty()
        && all
            .commands
            .iter()
            .all(|command| allow_at(patterns, command, depth - 1))
}

/// Whether one of these patterns matches something that a simple command runs.
pub(crate) fn meet(patterns: &[Pattern], command: &Simple) -> Match {
    meet_at(patterns, command, DEEPEST)
}

fn meet_at(patterns: &[Pattern], command: &Simple, depth: usize) -> Match {
    let own = patterns.iter().map(|pattern| pattern.meets(command)).max();
    let own = own.unwrap_or(Match::No);
    if own == Match::Yes {
        return own;
    }
    if depth == 0 {
        return Match::Maybe;
    }
    let runs = Runs::of(command);
    let unclear = if runs.likely.unclear {
        Match::Maybe
    } else {
        Match::No
    };
    let mut likely = Script::default();
    likely.run(runs.likely, &command.assignments);
    let likely = likely
        .commands
        .iter()
        .map(|command| meet_at(patterns, command, depth - 1));
    let perhaps = runs.perhaps.iter().flat_map(|command| {
        patterns
            .iter()
            .map(|pattern| pattern.meets(command).min(Match::Maybe))
    });
    likely.chain(perhaps).fold(own.max(unclear), Match::max)
}

/// A word in which `*` stands for any characters.
struct Glob {
    /// Around the `*`.
    pieces: Vec<String>,
}

impl Glob {
    fn is_any(&self) -> bool {
        self.pieces.len() == 2 && self.pieces.iter().all(String::is_empty)
    }

    fn is_literal(&self) -> bool {
        self.pieces.len() == 1
    }

    fn into_assignment(mut self) -> (String, Self) {
        let (name, value) = self.pieces[0].split_once('=').unwrap_or_default();
        let (name, value) = (name.to_owned(), value.to_owned());
        self.pieces[0] = value;
        (name, self)
    }

    fn matches(&self, text: &str) -> bool {
        let Some((last, pieces)) = self.pieces.split_last() else {
            return false;
        };
        let Some((first, middle)) = pieces.split_first() else {
            return text == last;
        };
        let Some(mut rest) = text
            .strip_prefix(&**first)
            .and_then(|rest| rest.strip_suffix(&**last))
        else {
            return false;
        };
        middle.iter().all(|piece| match rest.split_once(&**piece) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        })
    }

    fn meets(&self, word: &Word) -> Match {
        if !word.exact {
            return Match::Maybe;
        }
        let folded = Self {
            pieces: self.pieces.iter().map(|piece| fold(piece)).collect(),
        };
        Match::sure(self.matches(&word.text) || folded.matches(&fold(&word.text)))
    }

    /// A pattern without a directory stands for a program wherever it is.
    fn meets_at(&self, at: usize, word: &Word) -> Match {
        let own = self.meets(word);
        if at > 0 || own != Match::No || self.pieces.iter().any(|piece| piece.contains('/')) {
            return own;
        }
        self.meets(&Word::exact(base(&word.text)))
    }
}

/// The words of a pattern. Quotes and `\` are a shell's; a quoted `*` is a character.
fn split(text: &str) -> Result<Vec<Glob>, &'static str> {
    const UNCLOSED: &str = "there is a quote without its end";
    let mut words: Vec<Glob> = Vec::new();
    let mut word: Option<Vec<String>> = None;
    let mut rest = text.chars();
    let mut quote = None;
    while let Some(c) = rest.next() {
        if quote.is_none() && c.is_whitespace() {
            words.extend(word.take().map(|pieces| Glob { pieces }));
            continue;
        }
        let pieces = word.get_or_insert_with(|| vec![String::new()]);
        let mut push = |c: char| pieces.last_mut().map(|piece| piece.push(c));
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => drop(push(rest.next().ok_or("it ends with a `\\`")?)),
            ('*', None) => pieces.push(String::new()),
            (';' | '&' | '|' | '<' | '>' | '(' | ')' | '`' | '$', None) => {
                return Err(
                    "it is one program and its words: write a pattern for each command, and quote such characters",
                );
            }
            (c, _) => drop(push(c)),
        }
    }
    words.extend(word.map(|pieces| Glob { pieces }));
    if quote.is_some() {
        Err(UNCLOSED)
    } else {
        Ok(words)
    }
}
