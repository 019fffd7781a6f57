//! Passwords in addresses, and beside the names of their users.

use super::{After, Codes, NONE, PLACEHOLDER, PLAIN, Rule, SAMPLES, WORDS};

pub(super) const RULES: &[Rule] = &[
    // The catalogue's rule ends before the first `@`, has few schemes, and does not exclude the usual test databases.
    Rule {
        name: URI,
        needles: &["://", r":\/\/"],
        codes: Codes::Kept,
        ..PASSWORD
    },
    // In the query of another address.
    Rule {
        name: URI,
        needles: &["%3a%2f%2f"],
        ..PASSWORD
    },
    // As Go's driver for MySQL writes it: no scheme, and the network before the host.
    Rule {
        name: URI,
        needles: &["dsn", "mysql"],
        before: r#"(?i:dsn\w{0,12}|mysql)\\?["'\x60]?[,:=\s]{1,5}\\?["'\x60]?[^\s:@/"'\x60]{1,80}:"#,
        exact: true,
        secret: r#"[^\s"'\x60]+"#,
        after: After::Rest(r"@(?:tcp6?|udp|unix)?\("),
        none: &[PLACEHOLDER],
        ..NONE
    },
    Rule {
        name: "password-parameter",
        needles: &[
            "?password=",
            "?passwd=",
            "?pwd=",
            "&password=",
            "&passwd=",
            "&pwd=",
        ],
        before: r"(?i:[?&](?:password|passwd|pwd)=)",
        exact: true,
        secret: r#"[^&\s"'\x60<>#;]{6,}"#,
        entropy: 2.5,
        all: &["[0-9]"],
        none: &[PLACEHOLDER],
        ..PLAIN
    },
    // `user=… password=…`, as connection strings, options and files of settings have them: in a line, or line by line,
    // with a few others in between.
    Rule {
        name: "user-and-password",
        needles: &["user", "uid", "login"],
        before: concat!(
            r#"(?i:(?:user(?:[ _-]?(?:name|id))?|uid|login)\\?["']?\s{0,2}[=:]\s{0,2}\\?["']?[^\s"';,&={}()\[\]]{1,80}\\?["']?[;,&]?\s{0,20}"#,
            r#"(?:\\?["']?[\w .-]{1,30}\\?["']?\s{0,2}[=:]\s{0,2}\\?["']?[^\s"';,&={}()\[\]]{1,80}\\?["']?[;,&]?\s{1,20}){0,3}"#,
            r#"\\?["']?(?:password|passwd|pwd|pass)\\?["']?\s{0,2}[=:]\s{0,2}\\?["']?)"#
        ),
        exact: true,
        secret: r#"[^\s"'\x60;,&<>\\]{8,}"#,
        entropy: 2.5,
        all: &["[0-9]", "[A-Za-z]"],
        none: NO_PASSWORD,
        ..PLAIN
    },
];

const URI: &str = "generic-credential-uri";

/// RFC 3986, section 3.2.1, and what drivers accept beyond it: up to the last `@` of the authority.
const PASSWORD: Rule = Rule {
    before: r#"://[^:/?#\s"'\x60]{0,128}:"#,
    exact: true,
    secret: r#"[^/?#\s"'\x60]+"#,
    after: After::Rest(r"@(?:\[[0-9A-Fa-f:.%]+\]|[$%{<]|[A-Za-z0-9][\w.-]{0,252})"),
    none: &[
        PLACEHOLDER,
        // A port, and an e-mail address after it.
        r"^[0-9]{1,5}[\])>,;|&]",
        r"^\(.*\)$",
    ],
    around: &[
        r"(?i)^://(?:foo|user|username|example):(?:bar|pass)@",
        r"(?i)@(?:[a-z0-9_-]+\.)*example(?:\.(?:com|org|net))?\.?$",
        // The databases of tests and tutorials, on this machine or by the name of their service.
        concat!(
            r"(?i)^://[^:/]*:(?:admin|changeme|demo|dev|develop|development|example|guest|local|mariadb|minio|minioadmin|mongo|mongodb|mysql|",
            r"postgres|postgresql|rabbit|rabbitmq|redis|root|rootpassword|sa|test|testing|user|app|1234|12345|123456)",
            r"@(?:localhost|127(?:\.[0-9]{1,3}){3}|0\.0\.0\.0|\[::1\]|host\.docker\.internal|[a-z0-9_-]+)\.?$"
        ),
    ],
    repeats: true,
    ..NONE
};

const NO_PASSWORD: &[&str] = &[PLACEHOLDER, SAMPLES, WORDS[0], WORDS[1], WORDS[2]];
