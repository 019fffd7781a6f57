//! Wildcards within a name, and braces.

use crate::fold::fold;
use crate::name::Name;

/// A pattern for one name, or for one word.
pub struct Pattern {
    given: Vec<Token>,
    folded: Vec<Token>,
}

#[derive(Clone, PartialEq)]
pub enum Token {
    One(char),
    /// `?`
    Any,
    /// `*`
    Some,
    /// `[…]`
    Class(Class),
}

#[derive(Clone, PartialEq)]
pub struct Class {
    except: bool,
    ranges: Vec<(char, char)>,
}

impl Pattern {
    pub fn new(text: &str) -> Result<Self, &'static str> {
        Ok(Self::of(tokens(text)?))
    }

    pub fn of(given: Vec<Token>) -> Self {
        let is_text = |token: &Token| matches!(token, Token::One(_));
        // Folding composes characters, so those side by side are folded together.
        let texts = given.chunk_by(|one, next| is_text(one) && is_text(next));
        let fold_text = |tokens: &[Token]| match literal(tokens) {
            Some(text) => fold(&text).chars().map(Token::One).collect(),
            None => tokens.to_vec(),
        };
        let folded = texts.flat_map(fold_text).collect();
        Self { given, folded }
    }

    /// Whether it is `*`.
    pub fn is_any(&self) -> bool {
        matches!(self.given[..], [Token::Some])
    }

    /// The name, if it has no wildcards.
    pub fn literal(&self) -> Option<String> {
        literal(&self.given)
    }

    pub fn begins_with_text(&self) -> bool {
        matches!(self.given.first(), Some(Token::One(_)))
    }

    pub fn begins_with(&self, sign: char) -> bool {
        matches!(self.given.first(), Some(Token::One(own)) if *own == sign)
    }

    /// Whether it has characters other than wildcards.
    pub fn names_something(&self) -> bool {
        let is_named = |token: &Token| matches!(token, Token::One(_) | Token::Class(_));
        self.given.iter().any(is_named)
    }

    /// Whether some name may match both, as far as the texts before their first wildcards tell.
    pub fn may_share(&self, other: &Self) -> bool {
        let (one, another) = (self.beginning(), other.beginning());
        let have_text = !one.is_empty() && !another.is_empty();
        have_text && (one.starts_with(&another) || another.starts_with(&one))
    }

    /// Whether it matches a name as it is spelt.
    pub fn matches(&self, name: &str) -> bool {
        matches(&self.given, name, Class::has)
    }

    /// Whether it matches a text, whatever its case.
    pub fn matches_folded(&self, text: &str) -> bool {
        self.matches(text) || matches(&self.folded, &fold(text), Class::has_folded)
    }

    /// Whether it matches, whatever the case, all that another one does. Not every such pair is found.
    pub fn covers(&self, other: &Self) -> bool {
        let is_matched = |text: String| self.matches_folded(&text);
        self.is_any() || self.given == other.given || other.literal().is_some_and(is_matched)
    }

    /// Whether it matches a possible meaning of the name for a file system.
    pub fn meets(&self, name: &Name) -> bool {
        self.matches(&name.given)
            || matches(&self.folded, &name.folded, Class::has_folded)
            || (name.bare != name.folded && matches(&self.folded, &name.bare, Class::has_folded))
            || name.may_be_short_of(&self.beginning(), &self.end())
    }

    /// The text before the first wildcard, folded.
    fn beginning(&self) -> String {
        self.folded.iter().map_while(plain).collect()
    }

    /// The text behind the last wildcard, folded.
    fn end(&self) -> String {
        let reversed = self.folded.iter().rev().map_while(plain);
        let end: Vec<char> = reversed.collect();
        end.into_iter().rev().collect()
    }
}

fn plain(token: &Token) -> Option<char> {
    match token {
        Token::One(c) => Some(*c),
        _ => None,
    }
}

/// The text of tokens without wildcards.
fn literal(tokens: &[Token]) -> Option<String> {
    tokens.iter().map(plain).collect()
}

fn matches(tokens: &[Token], name: &str, has: fn(&Class, char) -> bool) -> bool {
    let (mut tokens, mut name) = (tokens, name.chars());
    // Where to retry if the part after the last `*` does not match: with one more character for the `*`.
    let mut again = None;
    loop {
        let mut rest = name.clone();
        let fits = match (tokens.first(), rest.next()) {
            (None, None) => return true,
            (Some(Token::Some), _) => {
                tokens = &tokens[1..];
                again = Some((tokens, name.clone()));
                continue;
            }
            (Some(Token::One(own)), Some(c)) => *own == c,
            (Some(Token::Any), Some(_)) => true,
            (Some(Token::Class(class)), Some(c)) => has(class, c),
            (None, Some(_)) | (Some(_), None) => false,
        };
        if fits {
            (tokens, name) = (&tokens[1..], rest);
        } else if let Some((behind, from)) = &mut again
            && from.next().is_some()
        {
            (tokens, name) = (behind, from.clone());
        } else {
            return false;
        }
    }
}

impl Class {
    fn has(&self, c: char) -> bool {
        self.except
            != self
                .ranges
                .iter()
                .any(|(from, to)| (*from..=*to).contains(&c))
    }

    /// Whether it contains a folded character, or one that folds to it.
    fn has_folded(&self, c: char) -> bool {
        self.has(c) || c.to_uppercase().any(|c| self.has(c))
    }
}

/// Characters that a backslash may escape.
const ESCAPED: &str = r"*?[]{}!,\^-";

fn tokens(text: &str) -> Result<Vec<Token>, &'static str> {
    let mut tokens = Vec::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        tokens.push(match c {
            '?' => Token::Any,
            '*' => Token::Some,
            '[' => Token::Class(class(&mut rest)?),
            c => Token::One(character(c, &mut rest)?),
        });
    }
    Ok(tokens)
}

/// A character, or the one after a backslash.
fn character(c: char, rest: &mut std::str::Chars) -> Result<char, &'static str> {
    if c != '\\' {
        return Ok(c);
    }
    rest.next()
        .filter(|c| ESCAPED.contains(*c))
        .ok_or("write `/` between names; a `\\` escapes a special character")
}

/// A class, from after its `[`. A `]` that comes first is one of its characters.
fn class(rest: &mut std::str::Chars) -> Result<Class, &'static str> {
    let except = rest.as_str().starts_with(['!', '^']);
    if except {
        rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        let c = rest.next().ok_or(UNCLOSED)?;
        if c == ']' && !ranges.is_empty() {
            return Ok(Class { except, ranges });
        }
        let from = character(c, rest)?;
        let mut behind = rest.as_str().chars();
        let to = match (behind.next(), behind.next()) {
            (Some('-'), Some(to)) if to != ']' => {
                *rest = behind;
                character(to, rest)?
            }
            _ => from,
        };
        if from > to {
            return Err("a class has a range that ends before it begins");
        }
        ranges.push((from, to));
    }
}

const UNCLOSED: &str = "there is a `[` without its `]`; write `\\[` for the character";

/// The patterns that one with braces expands to.
pub fn choices(pattern: &str) -> Result<Vec<String>, &'static str> {
    let mut open = None;
    let mut depth = 0;
    let mut commas = Vec::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let at = pattern.len() - rest.as_str().len() - 1;
        match c {
            '\\' => drop(rest.next()),
            '[' => drop(class(&mut rest)?),
            '{' => {
                open = open.or(Some(at));
                depth += 1;
            }
            ',' if depth == 1 => commas.push(at),
            '}' if depth == 1 => {
                let bounds = open.into_iter().chain(commas).chain([at]);
                return join(pattern, &bounds.collect::<Vec<_>>());
            }
            '}' if depth > 1 => depth -= 1,
            _ => {}
        }
    }
    match open {
        Some(_) => Err("there is a `{` without its `}`; write `\\{` for the character"),
        None => Ok(vec![pattern.to_owned()]),
    }
}

/// The patterns for the choices between these bounds: a `{`, commas, and its `}`.
fn join(pattern: &str, bounds: &[usize]) -> Result<Vec<String>, &'static str> {
    let (before, behind) = (
        &pattern[..bounds[0]],
        &pattern[bounds[bounds.len() - 1] + 1..],
    );
    let behind = choices(behind)?;
    let mut all = Vec::new();
    for bound in bounds.windows(2) {
        for inner in choices(&pattern[bound[0] + 1..bound[1]])? {
            all.extend(behind.iter().map(|rest| format!("{before}{inner}{rest}")));
            if all.len() > MOST_CHOICES {
                return Err("its braces expand to too many globs");
            }
        }
    }
    Ok(all)
}

/// How many globs one with braces may expand to.
const MOST_CHOICES: usize = 256;
