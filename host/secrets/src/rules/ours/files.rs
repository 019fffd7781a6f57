//! Secrets in the files of tools, recognized by their position alone.

use super::{After, NONE, PLACEHOLDER, PLAIN, Rule, WORDS};

pub(super) const RULES: &[Rule] = &[
    // `auth` of Docker, Podman and Helm: a user and a password in Base64.
    Rule {
        name: "registry-auth",
        needles: &["auth"],
        apart: true,
        before: r#"auth\\?["']\s{0,2}:\s{0,3}\\?["']"#,
        secret: "[A-Za-z0-9+/]{12,}={0,2}",
        after: After::One(r#"["'\\]"#),
        entropy: 3.0,
        all: &["[0-9+/=]", "[a-z]", "[A-Z]"],
        none: &[
            "^dXNlcjpwYXNz",
            "^dXNlcm5hbWU6cGFzc3dvcm",
            r"^[A-Z]?[a-z]+(?:[A-Z0-9]+[a-z]*)?$",
        ],
        ..NONE
    },
    Rule {
        name: "npmrc-auth",
        needles: &["_auth", ":_password"],
        before: r#"(?:_auth(?:[tT]oken)?|:_password)["']?\s{0,2}=\s{0,2}["']?"#,
        secret: r"[\w+/.=-]{8,}",
        entropy: 2.5,
        all: &["[0-9]"],
        none: &[PLACEHOLDER, WORDS[1]],
        ..PLAIN
    },
    Rule {
        name: "netrc-password",
        needles: &["machine", "default"],
        apart: true,
        before: r"(?:machine\s{1,4}\S{1,200}|default)\s{1,20}login\s{1,4}\S{1,200}\s{1,20}(?:account\s{1,4}\S{1,200}\s{1,20})?password\s{1,4}",
        secret: r"\S{4,}",
        all: &["[^A-Za-z]"],
        none: &[PLACEHOLDER],
        ..PLAIN
    },
    // A line of `.pgpass`, from its port on.
    Rule {
        name: "pgpass-password",
        needles: &[":5432:", ":5433:"],
        before: r"(?::543[23]:[^:\s]{1,63}:[^:\s]{1,63}:)",
        exact: true,
        secret: r#"[^:\s"'\x60]{4,}"#,
        all: &["[^A-Za-z]"],
        none: &[PLACEHOLDER],
        ..PLAIN
    },
    Rule {
        name: "xml-password",
        needles: &["<password>", "<passphrase>"],
        before: "<pass(?:word|phrase)>",
        secret: r"[^<\s{}]{6,}",
        after: After::Rest("</"),
        all: &["[0-9]", "[A-Za-z]"],
        none: &[PLACEHOLDER],
        ..NONE
    },
    Rule {
        name: "nuget-password",
        needles: &["cleartextpas"],
        before: r#"(?i:ClearTextPassword)\\?["']\s{1,3}(?i:value)=\\?["']"#,
        secret: r#"[^"'\\\s]{4,}"#,
        none: &[PLACEHOLDER],
        ..PLAIN
    },
    Rule {
        name: "php-constant",
        needles: &["define("],
        before: r#"(?i:define)\(\s{0,2}\\?["']\w{0,40}(?:PASSWORD|PASSWD|SECRET|TOKEN|_KEY|SALT)\w{0,20}\\?["']\s{0,3},\s{0,3}\\?["']"#,
        secret: r#"[^"'\\\r\n]{8,}"#,
        after: After::One(r#"["'\\]"#),
        entropy: 2.5,
        all: &["[0-9]|[^A-Za-z0-9 _]"],
        none: &[PLACEHOLDER],
        ..NONE
    },
];
