//! Private keys.

use super::{PLAIN, Rule};

pub(super) const RULES: &[Rule] = &[
    // The catalogue's rule requires the end of the block, and accepts any text up to it.
    Rule {
        name: "private-key",
        needles: &["-----begin"],
        secret: PRIVATE_KEY,
        ..PLAIN
    },
    // A key without its first line, as files are read in parts: the bytes with which the formats of keys begin.
    Rule {
        name: "private-key",
        needles: &[
            "b3blbnnzac1r",
            "bgkqhkig9w0b",
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
        ..PLAIN
    },
    // A whole file in Base64, as `kubectl` writes it: its first line may be of any kind of private key.
    Rule {
        name: "private-key",
        needles: &["ls0tls1crudj"],
        secret: concat!(
            r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BEU0EgUFJJVkFURS|BPUEVOU1NI|BFTkNSWVBURUQg)",
            r"[A-Za-z0-9+/]{20,}={0,2}"
        ),
        ..PLAIN
    },
    // A key of PuTTY: the number of its lines, and these.
    Rule {
        name: "private-key",
        needles: &["private-line"],
        before: r"(?i:Private-Lines): {1,3}[0-9]{1,4}[\r\n]{1,2}",
        secret: r"(?:[A-Za-z0-9+/]{64}[\r\n]{1,2})*[A-Za-z0-9+/]{4,64}={0,2}",
        ..PLAIN
    },
    Rule {
        name: "wireguard-key",
        needles: &["privatekey", "presharedkey", "private_key", "preshared_ke"],
        before: r"(?i:private|preshared)(?i:_?key)\s{0,2}=\s{0,2}",
        secret: r"[A-Za-z0-9+/]{43}=",
        entropy: 4.0,
        ..PLAIN
    },
];

/// A whole block, or a part of one: header lines and Base64, with the line ends, line numbers, quotes and prefixes that
/// a block gets in source code, listings, diffs and quotations.
const PRIVATE_KEY: &str = concat!(
    r"(?i:-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----)",
    r#"(?:[A-Za-z0-9+/=:,;\s\\"'|>#*\x80-\xff-]*?[A-Za-z0-9+/=]{16}"#,
    r#"[A-Za-z0-9+/=:,;\s\\"'|>#*\x80-\xff-]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"#,
    r"|(?:(?:[^A-Za-z+/=]|\+\s){0,60}[A-Za-z0-9+/=]{40,})+",
    r"(?:(?:[^A-Za-z+/=]|\+\s){0,60}[A-Za-z0-9+/=]+)?(?:\s*-{1,5}[A-Z ]*)?)",
);
