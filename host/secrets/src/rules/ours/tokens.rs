//! Tokens that are recognized by their prefix, or by the text around them.

use super::{After, NONE, PLAIN, Rule};

pub(super) const RULES: &[Rule] = &[
    // In the catalogue, this rule requires an id nearby, and any forty characters after `key` match.
    Rule {
        name: "aws-secret-access-key",
        needles: &["aws", "secret"],
        before: r"(?i:aws[_.-]?(?:\w{0,16}[_.-])?secret|secret[_.-]?access[_.-]?key|aws[_.-]?secret[_.-]?key)",
        assigned: true,
        secret: r"[A-Za-z0-9/+]{40,}={0,2}",
        entropy: 3.5,
        none: &["EXAMPLE"],
        ..PLAIN
    },
    // As `aws sts` and lists of keys print them: no name, but on the line of its id, with at most a date in between. So
    // prose after an id is not withheld.
    Rule {
        name: "aws-secret-access-key",
        needles: &["akia", "asia"],
        apart: true,
        before: r#"(?:AKIA|ASIA)[A-Z2-7]{16}[\t ,:;|"'0-9TZ+.-]{0,60}?[\t ,:;|"']"#,
        secret: r"[A-Za-z0-9/+]{40}",
        after: After::One(r"(?:[^A-Za-z0-9/+=]|$)"),
        entropy: 3.5,
        all: &["[0-9/+]", "[A-Z]", "[a-z]"],
        none: &["EXAMPLE"],
        ..NONE
    },
    Rule {
        name: "aws-session-token",
        needles: &[
            "iqojb3jpz2lu",
            "fwogzxivyxdz",
            "fqogzxivyxdz",
            "fwodyxdz",
            "fqodyxdz",
        ],
        apart: true,
        secret: r"(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz|F[wQ]oDYXdz)[A-Za-z0-9+/_-]{60,}={0,2}",
        entropy: 4.0,
        ..PLAIN
    },
    // Session tokens of any cloud.
    Rule {
        name: "session-token",
        needles: &[
            "session_toke",
            "sessiontoken",
            "session-toke",
            "security_tok",
            "securitytoke",
            "security-tok",
        ],
        before: r#"(?i:(?:session|security)[_-]?token)["']?\s{0,3}(?:=>|:=|[=:>,])?\s{0,3}["'\x60]?"#,
        secret: r"[A-Za-z0-9+/=_-]{80,}",
        entropy: 4.0,
        ..PLAIN
    },
    Rule {
        name: "google-oauth",
        needles: &["gocspx-", "ya29.", "1//0"],
        apart: true,
        secret: r"GOCSPX-[\w-]{20,}|ya29\.[\w.-]{19,}[\w-]|1//0[\w-]{40,}",
        entropy: 3.0,
        ..NONE
    },
    // Longer than the catalogue's: the app's number, and a JWT.
    Rule {
        name: "github-app-token",
        needles: &["ghs_", "ghu_", "gho_", "ghr_"],
        secret: r"gh[orsu]_[0-9]{1,12}_[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
        entropy: 3.0,
        ..NONE
    },
    // Routable tokens of any kind, with their length and checksum.
    Rule {
        name: "gitlab-token-routable",
        needles: &[
            "glagent-", "glcbt-", "gldt-", "glffct-", "glft-", "glimt-", "gloas-", "glpat-",
            "glptt-", "glrt-", "glrtr-", "glsoat-", "glwt-",
        ],
        secret: r"gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|rtr|soat|wt)-[\w-]{20,300}\.[0-9a-z]{2}(?:\.[0-9a-z]{9}|[0-9a-z]{7})",
        entropy: 3.0,
        ..NONE
    },
    Rule {
        name: "crates-io-token",
        needles: &["cio"],
        apart: true,
        secret: "cio[A-Za-z0-9]{32}",
        after: After::Boundary,
        entropy: 3.5,
        all: &["[0-9]", "[A-Z]", "[a-z]"],
        ..NONE
    },
    // The format of many model vendors.
    Rule {
        name: "sk-api-key",
        needles: &["sk-"],
        apart: true,
        secret: r"sk-(?:(?:None|admin|ant|or-v1|proj|svcacct)-[\w-]{20,}|[A-Za-z0-9]{32,})",
        entropy: 3.5,
        ..NONE
    },
    Rule {
        name: "stripe-webhook-secret",
        needles: &["whsec_"],
        apart: true,
        secret: r"whsec_[A-Za-z0-9+/=]{32,}",
        entropy: 3.0,
        ..PLAIN
    },
];
