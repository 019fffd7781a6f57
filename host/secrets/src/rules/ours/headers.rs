//! HTTP's authentication headers.

use super::{PLAIN, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "authorization-basic",
        needles: &["authorizatio"],
        before: concat!(
            r#"(?i:authorization)\\?["'\x60]?\]?\s{0,2}(?:=>|:=|[=:,])\s{0,3}\\?["'\x60]?"#,
            "(?i:basic)[ \t]{1,4}"
        ),
        secret: "[A-Za-z0-9+/_-]{8,}={0,2}",
        entropy: 2.5,
        none: &[
            "^[a-z]+$",
            "^[A-Z_]+$",
            "^[A-Z]?[a-z]+$",
            "^dXNlcjpwYXNz",
            "^dXNlcm5hbWU6cGFzc3dvcm",
        ],
        ..PLAIN
    },
    Rule {
        name: "authorization-token",
        needles: &["authorizatio"],
        before: concat!(
            r#"(?i:authorization)\\?["'\x60]?\]?\s{0,2}(?:=>|:=|[=:,])\s{0,3}\\?["'\x60]?"#,
            "(?i:bearer|token|bot|apikey|api-key|key|oauth|ssws|geniekey)[ \t]{1,4}"
        ),
        secret: r"[\w=~@.+/:-]{16,}",
        entropy: 3.0,
        all: &["[0-9]"],
        none: &[
            r"^(?:[A-Za-z]+[._-])*[A-Za-z]+[0-9]{0,2}$",
            "(?i:your|example|placeholder|xxxx|token|secret|api_?key)",
        ],
        ..PLAIN
    },
];
