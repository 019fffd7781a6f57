//! Rules that the catalogue lacks, or that are unsuitable there for conversations.

mod addresses;
mod assigned;
mod files;
mod headers;
mod keys;
#[cfg(test)]
mod tests;
mod tokens;
mod vendors;

pub use assigned::ASSIGNMENT;

use super::{After, Codes, NONE, Rule};

/// Our rules. If two match the same text, the first one counts.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule<'static>> {
    let rules = [
        keys::RULES,
        tokens::RULES,
        vendors::RULES,
        addresses::RULES,
        headers::RULES,
        files::RULES,
        assigned::RULES,
    ];
    rules.into_iter().flatten()
}

/// A rule with only its required parts, whose secret ends where its pattern does.
const PLAIN: Rule = Rule {
    after: After::Anything,
    ..NONE
};

/// Text that is no password: variables of shells, templates and formats, and placeholders for the reader.
const PLACEHOLDER: &str = concat!(
    r"^[$%{<\[*]|\$\{|\{\{|#\{|%\{",
    r"|(?i:^(?:[a-z0-9]+[_.-])?(?:my|your|the)?[_.-]?(?:pass|passwd|password|passphrase|pwd|pw|secret|token|credentials?|api[_-]?key)(?:[_.-]?here)?$)",
    r"|(?i:^(?:change|replace|insert|your|enter|put)[_.-]?(?:me|it|this|your|own|here)?(?:[_.-]|$))",
    r"|(?i:^(?:x{3,}|\.+|placeholder|redacted|masked|hidden|none|null|undefined|true|false)$)",
);

/// What is public although it has the form of a secret, whatever rule finds it: the token of jwt.io, which documentation
/// repeats.
pub(super) const PUBLIC: &[&str] =
    &[r"^eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l"];

/// Parts of sample secrets.
const SAMPLES: &str = r"(?i:example|sample|test|dummy|fake|change|your|placeholder|xxxx|1234|abcd|secret|password|token|default)";

/// Text like words, names of variables, paths or calls.
const WORDS: &[&str] = &[
    r"^[A-Za-z]?[a-z]*(?:[A-Z][a-z]+)*[0-9]{0,4}$",
    r"^[A-Za-z_]+[0-9]{0,4}(?:[._/-][A-Za-z_]+[0-9]{0,4})*$",
    r"[(){}]",
];
