//! Values assigned to names of secrets, such as `API_KEY`.

use super::{After, NONE, PLAIN, Rule, SAMPLES};

pub(super) const RULES: &[Rule] = &[
    // Only values that look random: with digits among letters, and no word, name, path, version or call.
    Rule {
        name: "random-assignment",
        needles: NAMES,
        before: concat!(
            r"(?i:(?:access|api|auth)_?key|credentials?|pass(?:wd|word|phrase)?|pwd|secret|token)",
            r#"(?:[_-][\w-]{0,20}|[A-Z0-9]\w{0,20})?\\?["']?[ \t]{0,2}(?:=>|:=|=|:)[ \t]{0,2}\\?["'\x60]?"#
        ),
        secret: r"[A-Za-z0-9+/~!@%^&*_.-]{16,}={0,2}",
        after: After::End,
        entropy: 3.7,
        random: true,
        all: &[
            "[0-9].*[0-9]",
            "[A-Za-z]",
            "[A-Z0-9].*[a-z]|[a-z].*[A-Z0-9]",
        ],
        none: &[
            r"^[A-Za-z_]+[0-9]{0,4}(?:[._/-][A-Za-z_]+[0-9]{0,4})*$",
            r"^(?:[a-z]+:)?//|/[A-Za-z_.-]+/",
            r"^[a-z]+(?:[A-Z][a-z]*)+[0-9]{0,2}$",
            r"\.\.|^[.*-]|[.*-]$",
            SAMPLES,
        ],
        ..NONE
    },
];

/// Texts that names of secrets contain.
const NAMES: &[&str] = &[
    "accesskey",
    "access_key",
    "apikey",
    "api_key",
    "authkey",
    "auth_key",
    "credential",
    "pass",
    "pwd",
    "secret",
    "token",
];

/// A name of a secret.
const NAMED: &str = concat!(
    r"(?i:(?:access|api|auth)_?key|credentials?|pass(?:wd|word|phrase)|secret|token)[\w-]{0,20}",
    r"|(?i:pass|pwd)(?:\b|_[\w-]{0,20})"
);

/// Any value assigned to a name of a secret. Not one of the defaults, since it has many false positives.
pub static ASSIGNMENT: Rule = Rule {
    name: "assignment",
    needles: NAMES,
    before: NAMED,
    assigned: true,
    secret: r#"[^\s"'`,;<>(){}\[\]$]{8,}"#,
    ..PLAIN
};
