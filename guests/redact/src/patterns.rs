//! The secrets that are known without configuration.
//!
//! All of it is ASCII, so that the patterns stay small without Unicode tables. Lengths have a lower
//! bound only: a token that grows longer one day is still taken whole.

/// A kind of secret: its name and what it looks like.
pub(crate) type Pattern = (&'static str, &'static str);

/// On unless named in `without`. Where two match at the same place, the first one counts.
pub(crate) const DEFAULT: &[Pattern] = &[
    ("private-key", PRIVATE_KEY),
    (
        "aws-access-key-id",
        r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?-u:\b)",
    ),
    ("aws-secret-access-key", AWS_SECRET),
    (
        "github-token",
        r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    (
        "gitlab-token",
        r"(?-u:\b)gl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-[A-Za-z0-9_-]{20,}",
    ),
    (
        "slack-token",
        r"(?-u:\b)(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}",
    ),
    (
        "slack-webhook",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,}",
    ),
    ("anthropic-api-key", r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{20,}"),
    (
        "openai-api-key",
        r"(?-u:\b)sk-(?:(?:admin|or-v1|proj|svcacct)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})",
    ),
    ("google-api-key", r"(?-u:\b)AIza[A-Za-z0-9_-]{35,}"),
    (
        "google-oauth",
        r"(?-u:\b)(?:GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})",
    ),
    (
        "stripe-key",
        r"(?-u:\b)(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{32,})",
    ),
    ("npm-token", r"(?-u:\b)npm_[A-Za-z0-9]{36,}"),
    ("pypi-token", r"(?-u:\b)pypi-AgE[A-Za-z0-9_-]{50,}"),
    (
        "json-web-token",
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
];

/// A whole block, or as much of one as there is: header lines and Base64, with the line ends,
/// quotes and prefixes that a block gets in source code, diffs and quotations.
const PRIVATE_KEY: &str = concat!(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    r#"(?:[A-Za-z0-9+/=:,\t\r\n \\"'|>#*-]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"#,
    r#"|(?:(?:[\t\r\n "'|>#*+-]|\\[nr])*[A-Za-z0-9+/=]{40,})+(?:[\t\r\n "'|>#*+-]|\\[nr])*[A-Za-z0-9+/=]*"#,
    r#"(?:(?:[\t\r\n "'|>#*+]|\\[nr])*-{1,5}[A-Z ]*)?)"#,
);

const AWS_SECRET: &str = concat!(
    r"(?-u:\b|_)(?i-u:aws_?secret_?(?:access_?)?key|secret_?access_?key)",
    r#"["']?[\t ]{0,4}(?:=>?|:)[\t ]{0,4}["']?[A-Za-z0-9/+]{40,}"#,
);

/// On if `assignments = true`: whatever is assigned to a name that sounds like a secret.
pub(crate) const ASSIGNMENT: Pattern = (
    "assignment",
    concat!(
        r"(?-u:\b|_)(?i-u:api_?key|passwd|password|secret|token)",
        r#"["']?[\t ]{0,4}(?:=>?|:)[\t ]{0,4}["']?[^\t\r\n "',;]{8,}"#,
    ),
);
