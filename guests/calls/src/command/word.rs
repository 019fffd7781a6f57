//! A word of a command line, and whether a shell expands it.

use std::str::Chars;

use super::parameter::{Parameter, has_calculated_index, substitution};
use crate::fold::is_ignorable;

#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// Without quotes; expansions of which the script does not show the value stand as they are written.
    pub text: String,
    /// Whether every shell expands it to exactly this text, as one word.
    pub exact: bool,
    /// Whether it is one word, whatever a shell makes of it: nothing is expanded outside of double quotes.
    pub whole: bool,
    /// Whether all that it expands to is made by the script itself, of texts, of names of files, and of what its own
    /// commands print or read: nothing comes from the environment, which may have secrets.
    pub own: bool,
}

impl Word {
    pub fn exact(text: &str) -> Self {
        let exact = !text.chars().any(is_hidden);
        Self {
            text: text.to_owned(),
            exact,
            whole: true,
            own: exact,
        }
    }

    pub fn unknown() -> Self {
        Self {
            text: String::new(),
            exact: false,
            whole: false,
            own: false,
        }
    }

    /// Removes the quotes of a word of a script (POSIX.1-2024, Shell Command Language, 2.2). Shells disagree about
    /// `$'…'`, braces, and `=` or a bracket at the start: such words are not exact.
    pub fn of_script(raw: &str) -> Self {
        Self::expanded(raw, &|_| None)
    }

    /// As [`Word::of_script`], with the values of variables as far as `value` knows them. Without quotes around a
    /// variable, its value is split and expanded again, so only a plain one is put in its place.
    pub fn expanded(raw: &str, value: &dyn Fn(&str) -> Option<Self>) -> Self {
        let nothing = |_: &str| -> Option<Self> { None };
        let mut known: &dyn Fn(&str) -> Option<Self> = value;
        let mut word = Self::exact("");
        let mut rest = raw.chars();
        let mut before = None;
        while let Some(c) = rest.next() {
            match c {
                '\'' => word.single_quoted(&mut rest),
                '"' => word.double_quoted(&mut rest, known),
                '\\' => match rest.next() {
                    Some('\n') => {}
                    Some(c) => word.push(c),
                    None => word.mark_unclear(),
                },
                '$' | '`' if !is_literal(c, before, rest.as_str()) => {
                    word.expand(c, &mut rest, false, known);
                }
                // bash makes `$xb` of `{$x,a}b`, and zsh expands braces once more when values are in them.
                '{' if has_parameters(raw, rest.as_str()) => {
                    known = &nothing;
                    (word.exact, word.whole, word.own) = (false, false, false);
                    word.push(c);
                }
                _ => {
                    let is_itself = is_literal(c, before, rest.as_str());
                    word.exact &= is_itself;
                    word.whole &= is_itself;
                    // Of names of files, a shell makes names of files.
                    word.own &= is_itself || matches!(c, '*' | '?' | '[' | '{' | '~');
                    word.push(c);
                }
            }
            before = Some(c);
        }
        word
    }

    fn mark_unclear(&mut self) {
        (self.exact, self.own) = (false, false);
    }

    fn push(&mut self, c: char) {
        self.text.push(c);
        if is_hidden(c) {
            self.mark_unclear();
        }
    }

    /// Adds an expansion, of which the sign has been read: its value, or else the way in which it is written.
    fn expand(
        &mut self,
        sign: char,
        rest: &mut Chars,
        is_quoted: bool,
        value: &dyn Fn(&str) -> Option<Self>,
    ) {
        let text = rest.as_str();
        let parameter = Parameter::of(text).filter(|_| sign == '$');
        let given = parameter
            .as_ref()
            .and_then(|parameter| value(parameter.name));
        if let (Some(parameter), Some(given)) = (&parameter, &given)
            && parameter.operation.is_empty()
            && (is_quoted || (given.exact && is_plain(&given.text)))
        {
            self.text += &given.text;
            self.exact &= given.exact;
            self.own &= given.own;
            *rest = text[parameter.length..].chars();
            return;
        }
        self.exact = false;
        self.whole &= is_quoted && !is_list(text);
        self.text.push(sign);
        if let Some(parameter) = parameter {
            self.own &= parameter.is_own(given.is_some_and(|given| given.own));
        } else if let Some(length) = substitution(sign, text) {
            // Its commands are judged on their own.
            self.text += &text[..length];
            *rest = text[length..].chars();
        } else {
            self.own = false;
        }
    }

    fn single_quoted(&mut self, rest: &mut Chars) {
        for c in rest {
            match c {
                '\'' => return,
                c => self.push_quoted(c),
            }
        }
        self.mark_unclear();
    }

    fn double_quoted(&mut self, rest: &mut Chars, value: &dyn Fn(&str) -> Option<Self>) {
        while let Some(c) = rest.next() {
            match (c, rest.as_str().chars().next()) {
                ('"', _) => return,
                ('\\', Some(next @ ('$' | '`' | '"' | '\\' | '\n'))) => {
                    rest.next();
                    if next != '\n' {
                        self.push_quoted(next);
                    }
                }
                ('$', Some('"' | ' ' | '|' | ')' | '/' | '.' | ',')) => self.push_quoted('$'),
                ('$' | '`', _) => self.expand(c, rest, true, value),
                _ => self.push_quoted(c),
            }
        }
        self.mark_unclear();
    }

    fn push_quoted(&mut self, c: char) {
        self.text.push(c);
        if is_hidden(c) && !matches!(c, '\n' | '\t') {
            self.mark_unclear();
        }
    }
}

/// Whether a word has a bracket outside of quotes, and blanks behind it: the parser takes it for the index of an array,
/// which reaches beyond blanks and lines to the next bracket or to the end, where a shell begins another word or
/// command.
pub fn is_subscript_with_blanks(raw: &str) -> bool {
    let mut quoted = Word::exact("");
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '\'' => quoted.single_quoted(&mut rest),
            '"' => quoted.double_quoted(&mut rest, &|_| None),
            '[' => return rest.as_str().contains(char::is_whitespace),
            // Substitutions are parsed separately.
            '(' | '`' => return false,
            _ => {}
        }
    }
    false
}

/// Whether shells, or this parser, read the parts of a word differently: within backquotes a `\` is removed before the
/// commands there are read, in an expansion within double quotes only some shells take `'` for a quote, and only zsh
/// calculates the index in `$x[i]`, and runs what is in `?(e:'rm x':)`.
pub fn has_unclear_parts(raw: &str) -> bool {
    // Of zsh: a file with what the commands print.
    if raw.starts_with("=(") {
        return true;
    }
    let mut rest = raw.chars();
    let mut is_double = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '\'' if !is_double => drop(rest.find(|c| *c == '\'')),
            '"' => is_double = !is_double,
            '?' | '@' | '+' if !is_double && rest.as_str().starts_with('(') => return true,
            '$' if has_calculated_index(rest.as_str()) => return true,
            '$' if is_double && rest.as_str().starts_with('{') => {
                let expansion = rest.as_str().split('}').next();
                if expansion.is_some_and(|text| text.contains('\'')) {
                    return true;
                }
            }
            '`' => {
                let text = rest.as_str();
                let end = text.find(['`', '\\']).unwrap_or(text.len());
                if text[end..].starts_with('\\') {
                    return true;
                }
                rest = text[end..].strip_prefix('`').unwrap_or_default().chars();
            }
            _ => {}
        }
    }
    false
}

/// Whether what follows a `$` within double quotes may stand for several words: `"$@"`, `"${a[@]}"`.
fn is_list(rest: &str) -> bool {
    let braces = rest
        .strip_prefix('{')
        .and_then(|rest| rest.split('}').next());
    rest.starts_with('@') || braces.is_some_and(|text| text.contains('@'))
}

/// Whether a character outside of quotes stands for itself.
fn is_literal(c: char, before: Option<char>, rest: &str) -> bool {
    match c {
        '`' | '*' | '?' | '(' | ')' | '<' | '>' => false,
        '$' => rest.is_empty(),
        '[' => !rest.contains(']'),
        '{' => !(rest.contains('}') && [",", "..", "$"].iter().any(|sign| rest.contains(sign))),
        '~' => !matches!(before, None | Some('=' | ':')),
        // Of zsh: the path of a program, in assignments also behind a `:`.
        '=' => !matches!(before, None | Some(':')) || rest.is_empty(),
        c => c.is_ascii() || !c.is_whitespace(),
    }
}

/// Whether a brace in front of the rest of a word begins several words, with parameters among them. That of `${` does
/// not.
fn has_parameters(raw: &str, rest: &str) -> bool {
    let before = &raw[..raw.len() - rest.len() - 1];
    let is_of_one = before.ends_with('$') && !before.ends_with("\\$");
    !is_of_one && rest.contains('$') && !is_literal('{', None, rest)
}

/// Whether every shell takes the value of a variable for one word, also outside of quotes: it has nothing at which words
/// are split, and no wildcard.
fn is_plain(value: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@%".contains(c);
    !value.is_empty() && value.chars().all(fits)
}

/// Characters that a reader does not see, or that some shell drops.
fn is_hidden(c: char) -> bool {
    c.is_control() || c == char::REPLACEMENT_CHARACTER || is_ignorable(c)
}
