//! The built-in rules for secrets: a public catalogue, and a few rules of our own.

mod betterleaks;
mod ours;

pub use ours::ASSIGNMENT;

use crate::text::Codes;

/// One kind of secret. All regexes are over bytes, and ASCII only.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub struct Rule<'r> {
    /// The kind of secret, as markers and the configuration name it.
    pub name: &'r str,
    /// Every match begins with one of these, regardless of case. If there are none, the rule is tried at every
    /// position.
    pub(crate) needles: &'r [&'r str],
    /// Whether no letter or digit may precede the match.
    pub(crate) apart: bool,
    /// The part of the match before the secret.
    pub(crate) before: &'r str,
    /// Whether the secret is assigned to that part: the rest of a name, and an assignment operator, may come in
    /// between.
    pub(crate) assigned: bool,
    /// Whether that part is matched in full, even where the secret's pattern could match earlier.
    pub(crate) exact: bool,
    pub(crate) secret: &'r str,
    /// How percent codes are read.
    pub(crate) codes: Codes,
    pub(crate) after: After<'r>,
    /// The minimum entropy of the secret, in bits per character.
    pub(crate) entropy: f64,
    /// Whether a secret that reads like words is rejected.
    pub(crate) random: bool,
    /// The secret must match none of these.
    pub(crate) none: &'r [&'r str],
    /// The secret must match all of these.
    pub(crate) all: &'r [&'r str],
    /// The match around it must match none of these.
    pub(crate) around: &'r [&'r str],
    /// Whether a secret is rejected that is also the user's name before it: `://app:app@`.
    pub(crate) repeats: bool,
    /// Whether it is a pattern of the user, whose matches are not judged.
    pub(crate) custom: bool,
}

/// The text required after a secret.
#[derive(Clone, Copy, Debug)]
pub(crate) enum After<'r> {
    /// Nothing. The secret includes the rest of the word, since token formats get longer over the years.
    Word,
    /// Nothing. The secret ends where its pattern does.
    Anything,
    /// The end of a word.
    Boundary,
    /// A quote, white space, or another sign that no token contains; or the end of the text.
    End,
    /// One character, or the end of the text.
    One(&'r str),
    /// Something longer.
    Rest(&'r str),
}

/// A rule with only its required parts.
pub(crate) const NONE: Rule = Rule {
    name: "",
    needles: &[],
    apart: false,
    before: "",
    assigned: false,
    exact: false,
    secret: "",
    codes: Codes::Read,
    after: After::Word,
    entropy: 0.0,
    random: false,
    none: &[],
    all: &[],
    around: &[],
    repeats: false,
    custom: false,
};

/// The text between a name and the value assigned to it.
const ASSIGNED: &str =
    r#"[ \t\w.-]{0,20}[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"#;
/// The end of a secret. Unlike the catalogue's, it allows secrets in lists, addresses and sentences.
const END: &str = r#"(?:['"\x60\s;,&)<>\]}|]|\.(?:\s|$)|$)"#;

impl<'r> Rule<'r> {
    /// The beginning of the match, if it is not a part of the secret.
    pub(crate) fn lead(&self) -> String {
        let Self { before, .. } = self;
        match (self.assigned, before.is_empty()) {
            (true, _) => format!("(?:{before}){ASSIGNED}"),
            (false, true) => String::new(),
            (false, false) => format!("(?:{before})"),
        }
    }

    /// The secret, including the rest of its word.
    pub(crate) fn body(&self) -> String {
        let more = match self.after {
            After::Word => r"[\w-]*",
            _ => "",
        };
        format!("(?:{}){more}", self.secret)
    }

    /// The text after the secret in the match, if there is any.
    pub(crate) fn tail(&self) -> Option<&'r str> {
        match self.after {
            After::Word | After::Anything | After::Boundary => None,
            After::End => Some(END),
            After::One(regex) | After::Rest(regex) => Some(regex),
        }
    }

    /// The whole match.
    pub(crate) fn regex(&self) -> String {
        let tail = match self.after {
            After::Boundary => r"\b",
            _ => self.tail().unwrap_or_default(),
        };
        format!("{}{}{tail}", self.lead(), self.body())
    }
}

/// The rules that apply unless the configuration excludes them. If two match the same text, the first one counts.
pub fn defaults() -> impl Iterator<Item = &'static Rule<'static>> {
    betterleaks::RULES.iter().chain(ours::rules())
}

/// Patterns that no secret of the rules matches: placeholders, variables, paths.
pub(crate) fn never() -> Vec<&'static str> {
    [betterleaks::NOT, ours::PUBLIC].concat()
}
