//! Values assigned to names of secrets, such as `API_KEY`.

use super::{After, Codes, NONE, PLAIN, Rule, SAMPLES};

pub(super) const RULES: &[Rule] = &[
    // Only values that look random: with digits among letters, and no word, name, path, version or call.
    Rule {
        name: "random-assignment",
        needles: NAMES,
        before: concat!(
            r"(?i:(?:access|api|auth)[_-]?key|credentials?|pass(?:wd|word|phrase)?|pwd|secret|token)",
            r#"(?:[_-][\w-]{0,20}|[A-Z0-9]\w{0,20})?\\?["']?[ \t]{0,2}(?:=>|:=|=|:)[ \t]{0,2}\\?["'\x60]?"#
        ),
        around: &[NO_VALUE],
        ..RANDOM
    },
    // Behind an option of a command, without a sign in between.
    Rule {
        name: "random-assignment",
        needles: &[
            "--access-key",
            "--access-tok",
            "--api-key",
            "--api-token",
            "--auth-token",
            "--client-sec",
            "--passphrase",
            "--password",
            "--secret",
            "--token",
        ],
        before: concat!(
            r"(?i:--(?:(?:access|api)-(?:key|token)|auth-token|client-secret|pass(?:word|phrase)|secret(?:-(?:access-)?key)?|token))",
            r#"(?:[ \t]{1,3}|\\?["'],[ \t]{0,2})\\?["'\x60]?"#
        ),
        ..RANDOM
    },
    // As Django makes it, of signs, too.
    Rule {
        name: "django-secret-key",
        needles: &["secret_key"],
        before: r#"(?i:secret_key)\\?["']?\s{0,3}[=:]\s{0,3}\\?["'](?:django-insecure-)?"#,
        exact: true,
        secret: "[a-z0-9!@#$%^&*(_=+)-]{50}",
        codes: Codes::Kept,
        after: After::One(r#"["'\\]"#),
        entropy: 3.7,
        all: &["[0-9]", "[a-z]", "[!@#$%^&*(=+)]"],
        ..NONE
    },
    // Digits of base 16, as many vendors issue keys, and frameworks make them: too few kinds of characters to look
    // random. A name of a key alone, since hashes are assigned to others.
    Rule {
        name: "hex-assignment",
        needles: &[
            "access_key",
            "access_token",
            "admin_key",
            "api-key",
            "api_key",
            "api_token",
            "apikey",
            "app_key",
            "auth_token",
            "circle_token",
            "client_secre",
            "encryption_k",
            "master_key",
            "password",
            "secret_key",
            "signing_secr",
        ],
        before: concat!(
            r"(?i:access_key|access_token|admin_key|api[_-]?key|api_token|app_key|auth_token|circle_token|client_secret|encryption_key|master_key|password|secret_key(?:_base)?|signing_secret)",
            r#"\\?["']?[ \t]{0,2}(?:=>|:=|=|:)[ \t]{0,2}\\?["'\x60]?"#
        ),
        secret: "[0-9a-f]{32}(?:[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{96})?",
        after: After::End,
        entropy: 3.0,
        all: &["[0-9]", "[a-f]"],
        none: &["01234567", "12345678", "abcdef01", "deadbeef"],
        ..NONE
    },
];

/// What looks random.
const RANDOM: Rule = Rule {
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
};

/// Names that contain that of a secret, and whose values are none: `token_id`, `tokenAddress`, `api-key-name`.
const NO_VALUE: &str = concat!(
    r"^[\w-]*?(?i:token[_-]?(?:id|type)|(?:key|secret|token|credentials?)[_-]?(?:address|arn|hash|name|ref|ur[il]|version))",
    r#"\\?["']?[ \t]{0,2}(?:=>|:=|=|:)"#
);

/// Texts that names of secrets contain.
const NAMES: &[&str] = &[
    "accesskey",
    "access-key",
    "access_key",
    "apikey",
    "api-key",
    "api_key",
    "authkey",
    "auth-key",
    "auth_key",
    "credential",
    "pass",
    "pwd",
    "secret",
    "token",
];

/// A name of a secret.
const NAMED: &str = concat!(
    r"(?i:(?:access|api|auth)[_-]?key|credentials?|pass(?:wd|word|phrase)|secret|token)[\w-]{0,20}",
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
