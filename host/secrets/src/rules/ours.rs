//! Rules that the catalogue lacks, or that are unsuitable there for conversations.

use super::{After, NONE, Rule};

pub(super) static RULES: &[Rule] = &[
    // The catalogue requires the end of the block, and accepts anything up to there.
    Rule {
        name: "private-key",
        needles: &["-----begin"],
        secret: PRIVATE_KEY,
        after: After::Anything,
        ..NONE
    },
    // From its second line on, as files are read in parts: what the formats of keys begin with, but for lengths.
    Rule {
        name: "private-key",
        needles: &[
            "b3blbnnzac1rzxktdjea",
            "bgkqhkig9w0bbq",
            "ibaak",
            "ibadan",
            "mc4caqaw",
            "mhccaqee",
            "mig2agea",
            "mighagea",
            "migkageb",
            "mihcageb",
            "mihuagea",
        ],
        secret: concat!(
            r"(?:b3BlbnNzaC1rZXktdjEA|BgkqhkiG9w0BBQ|IBAAK|IBADAN|MC4CAQAw|MHcCAQEE|MI(?:G2|GH|Hu)AgEA|MI(?:Gk|Hc)AgEB)",
            r"[A-Za-z0-9+/=]{16,}(?:(?:[^A-Za-z+/=]|\+\s){0,60}[A-Za-z0-9+/=]{40,})*",
            r"(?:(?:[^A-Za-z+/=]|\+\s){0,60}[A-Za-z0-9+/=]+)?(?:\s*-{1,5}[A-Z ]*)?"
        ),
        after: After::Anything,
        ..NONE
    },
    // In the catalogue it only supplements a finding of the id, and any forty characters after `key` match.
    Rule {
        name: "aws-secret-access-key",
        needles: &["aws", "secret"],
        before: r"(?i:aws[_.-]?(?:\w{0,16}[_.-])?secret|secret[_.-]?access[_.-]?key|aws[_.-]?secret[_.-]?key)",
        assigned: true,
        secret: r"[A-Za-z0-9/+]{40,}={0,2}",
        after: After::Anything,
        entropy: 3.5,
        ..NONE
    },
    Rule {
        name: "google-oauth",
        needles: &["gocspx-", "ya29.", "1//0"],
        apart: true,
        secret: r"GOCSPX-[\w-]{20,}|ya29\.[\w.-]{19,}[\w-]|1//0[\w-]{40,}",
        entropy: 3.0,
        ..NONE
    },
    // The format of many model vendors.
    Rule {
        name: "sk-api-key",
        needles: &["sk-"],
        apart: true,
        secret: r"sk-(?:(?:admin|ant|or-v1|proj|svcacct)-[\w-]{20,}|[A-Za-z0-9]{32,})",
        entropy: 3.5,
        ..NONE
    },
    // What is assigned to a name that sounds like a secret, if it looks random: with digits among letters, and no word,
    // name, path, version or call.
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
            r"(?i:example|sample|test|dummy|fake|change|your|placeholder|xxxx|1234|abcd|secret|password|token|default)",
        ],
        ..NONE
    },
    Rule {
        name: "stripe-webhook-secret",
        needles: &["whsec_"],
        apart: true,
        secret: r"whsec_[A-Za-z0-9+/=]{32,}",
        after: After::Anything,
        entropy: 3.0,
        ..NONE
    },
];

/// What a name that sounds like a secret has.
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

/// Such a name.
const NAMED: &str = concat!(
    r"(?i:(?:access|api|auth)_?key|credentials?|pass(?:wd|word|phrase)|secret|token)[\w-]{0,20}",
    r"|(?i:pass|pwd)(?:\b|_[\w-]{0,20})"
);

/// Not one of the defaults, since it has many false positives: any value assigned to a name that sounds like a secret.
pub static ASSIGNMENT: Rule = Rule {
    name: "assignment",
    needles: NAMES,
    before: NAMED,
    assigned: true,
    secret: r#"[^\s"'`,;<>(){}\[\]$]{8,}"#,
    after: After::Anything,
    ..NONE
};

/// A whole block, or a part of one: header lines and Base64, with the line ends, line numbers, quotes and prefixes that
/// a block gets in source code, listings, diffs and quotations.
const PRIVATE_KEY: &str = concat!(
    r"(?i:-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----)",
    r#"(?:[A-Za-z0-9+/=:,;\s\\"'|>#*\x80-\xff-]*?[A-Za-z0-9+/=]{16}"#,
    r#"[A-Za-z0-9+/=:,;\s\\"'|>#*\x80-\xff-]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"#,
    r"|(?:(?:[^A-Za-z+/=]|\+\s){0,60}[A-Za-z0-9+/=]{40,})+",
    r"(?:(?:[^A-Za-z+/=]|\+\s){0,60}[A-Za-z0-9+/=]+)?(?:\s*-{1,5}[A-Z ]*)?)",
);
