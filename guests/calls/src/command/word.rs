//! A word of a command line, and whether a shell expands it.

use crate::fold::is_ignorable;

#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// Without quotes; expansions stand as they are written.
    pub text: String,
    /// Whether every shell expands it to exactly this text, as one word.
    pub exact: bool,
    /// Whether it is one word, whatever a shell makes of it: nothing is expanded outside of double quotes.
    pub whole: bool,
}

impl Word {
    pub fn exact(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            exact: !text.chars().any(is_hidden),
            whole: true,
        }
    }

    pub fn unknown() -> Self {
        Self {
            text: String::new(),
            exact: false,
            whole: false,
        }
    }

    /// Removes the quotes of a word of a script (POSIX.1-2024, Shell Command Language, 2.2). Shells disagree about
    /// `$'…'`, braces, and `=` or a bracket at the start: such words are not exact.
    pub fn of_script(raw: &str) -> Self {
        let mut word = Self::exact("");
        let mut rest = raw.chars();
        let mut before = None;
        while let Some(c) = rest.next() {
            match c {
                '\'' => word.single_quoted(&mut rest),
                '"' => word.double_quoted(&mut rest),
                '\\' => match rest.next() {
                    Some('\n') => {}
                    Some(c) => word.push(c),
                    None => word.exact = false,
                },
                _ => {
                    let is_itself = is_literal(c, before, rest.as_str());
                    word.exact &= is_itself;
                    word.whole &= is_itself;
                    word.push(c);
                }
            }
            before = Some(c);
        }
        word
    }

    fn push(&mut self, c: char) {
        self.text.push(c);
        self.exact &= !is_hidden(c);
    }

    fn single_quoted(&mut self, rest: &mut std::str::Chars) {
        for c in rest {
            match c {
                '\'' => return,
                c => self.push_quoted(c),
            }
        }
        self.exact = false;
    }

    fn double_quoted(&mut self, rest: &mut std::str::Chars) {
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
                ('$' | '`', _) => {
                    self.exact = false;
                    self.whole &= !is_list(rest.as_str());
                    self.push_quoted(c);
                }
                _ => self.push_quoted(c),
            }
        }
        self.exact = false;
    }

    fn push_quoted(&mut self, c: char) {
        self.text.push(c);
        self.exact &= matches!(c, '\n' | '\t') || !is_hidden(c);
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
            '"' => quoted.double_quoted(&mut rest),
            '[' => return rest.as_str().contains(char::is_whitespace),
            // Substitutions are parsed separately.
            '(' | '`' => return false,
            _ => {}
        }
    }
    false
}

/// Whether shells, or this parser, read the parts of a word differently: within backquotes a `\` is removed before the
/// commands there are read, and in an expansion within double quotes only some shells take `'` for a quote.
pub fn has_unclear_quotes(raw: &str) -> bool {
    let mut rest = raw.chars();
    let mut is_double = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '\'' if !is_double => drop(rest.find(|c| *c == '\'')),
            '"' => is_double = !is_double,
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
        '{' => !(rest.contains('}') && (rest.contains(',') || rest.contains(".."))),
        '~' => !matches!(before, None | Some('=' | ':')),
        // Of zsh: the path of a program.
        '=' => before.is_some(),
        c => c.is_ascii() || !c.is_whitespace(),
    }
}

/// Characters that a reader does not see, or that some shell drops.
fn is_hidden(c: char) -> bool {
    c.is_control() || c == char::REPLACEMENT_CHARACTER || is_ignorable(c)
}
