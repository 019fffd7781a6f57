use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::oracle::Oracle;
use crate::patterns::{ASSIGNMENT, DEFAULT};

fn detector() -> Detector {
    Detector::new(DEFAULT.iter().copied()).expect("the default patterns are right")
}

fn redacted(text: &str) -> String {
    detector()
        .redact(text)
        .expect("in memory")
        .unwrap_or_else(|| text.to_owned())
}

/// One secret of every default pattern. Put together at run time, so that no scanner of this
/// source takes them for real ones.
fn secrets() -> Vec<(&'static str, String)> {
    let long = "a1B2c3D4e5".repeat(10);
    let key = |label: &str, end: &str| {
        let lines = format!("{}{end}{}{end}", &long[..64], &long[..20]);
        format!("-----BEGIN {label}-----{end}{lines}-----END {label}-----")
    };
    vec![
        ("private-key", key("RSA PRIVATE KEY", "\n")),
        ("private-key", key("OPENSSH PRIVATE KEY", "\r\n")),
        ("private-key", key("PGP PRIVATE KEY BLOCK", "\\n")),
        ("private-key", key("PRIVATE KEY", "\n")[..120].to_owned()),
        ("aws-access-key-id", format!("AKIA{}", "ABCD2345".repeat(2))),
        (
            "aws-secret-access-key",
            format!("aws_secret_access_key = {}", &long[..40]),
        ),
        (
            "aws-secret-access-key",
            format!("SecretAccessKey\": \"{}", &long[..40]),
        ),
        ("github-token", format!("ghp_{}", &long[..36])),
        (
            "github-token",
            format!("github_pat_{}_{}", &long[..22], &long[..59]),
        ),
        ("gitlab-token", format!("glpat-{}", &long[..20])),
        ("slack-token", format!("xoxb-123456789012-{}", &long[..24])),
        (
            "slack-webhook",
            format!("https://hooks.slack.com/services/T0/B0/{}", &long[..24]),
        ),
        ("anthropic-api-key", format!("sk-ant-api03-{}", &long[..90])),
        ("openai-api-key", format!("sk-proj-{}", &long[..48])),
        ("openai-api-key", format!("sk-{}", &long[..48])),
        ("google-api-key", format!("AIza{}", &long[..35])),
        ("google-oauth", format!("GOCSPX-{}", &long[..28])),
        ("stripe-key", format!("sk_live_{}", &long[..24])),
        ("npm-token", format!("npm_{}", &long[..36])),
        ("pypi-token", format!("pypi-AgEIcHlwaS5vcmc{}", &long[..60])),
        ("json-web-token", format!("eyJ{0}.eyJ{0}.{0}", &long[..20])),
    ]
}

#[test]
fn every_default_pattern_finds_its_secret() {
    for (name, secret) in secrets() {
        let text = format!("before: {secret}; after");
        let expected = format!("before: [redacted: {name}]; after");
        assert_eq!(redacted(&text), expected);
    }
    for (name, _) in DEFAULT {
        assert!(
            secrets().iter().any(|(tried, _)| tried == name),
            "{name} is not tried"
        );
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "The key starts with AKIA, and a token with ghp_ or sk-.",
        "A file starts with `-----BEGIN PRIVATE KEY-----` and ends with `-----END PRIVATE KEY-----`.",
        "-----BEGIN PRIVATE KEY----- is what it says. Then come lines of Base64.",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "risk-assessment-of-the-whole-system-and-all-its-parts, task-0123456789012345678901234567890123",
        "<div class=\"sk-folding-cube sk-cube-grid-of-the-page\">",
        "https://example.org/ghp/0123456789012345678901234567890123456789",
        "password = hunter2, token: abcdefghijklmnop",
        "eyJhbGciOiJub25lIn0 is a header alone. Größe, 大小, 🔑.",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn assignments_are_secrets_on_demand() {
    let detector = Detector::new([ASSIGNMENT]).expect("right");
    for (text, expected) in [
        ("DB_PASSWORD=hunter2hunter2 x", "DB[redacted: assignment] x"),
        ("{\"apiKey\": \"abcdefgh\"}", "{\"[redacted: assignment]\"}"),
        (
            "the password is long; token: no",
            "the password is long; token: no",
        ),
    ] {
        let redacted = detector.redact(text).expect("in memory");
        assert_eq!(redacted.as_deref().unwrap_or(text), expected);
    }
}

#[test]
fn only_what_may_be_a_beginning_is_kept_back() {
    for (text, kept) in [
        ("no secret here.", ""),
        ("this ends with -----BEG", "-----BEG"),
        ("words", ""),
        ("a word and s", "s"),
        ("ends -", "-"),
        ("ghp_01", "ghp_01"),
        ("xghp_01", ""),
        ("ghp_!", ""),
    ] {
        let mut tail = Tail::default();
        let out = detector()
            .next(&mut tail, text, End::Open)
            .expect("in memory");
        assert_eq!(
            (format!("{out}{kept}").as_str(), tail.text.as_str()),
            (text, kept)
        );
    }
}

#[test]
fn what_is_kept_back_is_bounded() {
    let detector = detector();
    let mut tail = Tail::default();
    let mut out = detector
        .next(&mut tail, "-----BEGIN PRIVATE KEY-----", End::Open)
        .expect("in memory");
    for _ in 0..2 * WINDOW {
        out += &detector.next(&mut tail, "A", End::Open).expect("in memory");
        assert!(tail.text.len() <= WINDOW);
    }
    assert!(out.starts_with("[redacted: private-key]"), "{out}");
}

fn texts() -> impl Strategy<Value = String> {
    let secret = select(secrets()).prop_map(|(_, secret)| secret);
    let near = (select(secrets()), 1..60_usize)
        .prop_map(|((_, secret), length)| secret.chars().take(length).collect());
    let plain = "[a-zA-Z0-9 \n_.äß🔑-]{0,30}";
    let piece = prop_oneof![secret, near, plain];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_text_is_redacted_as_by_any_other_engine(text in texts()) {
        prop_assert_eq!(redacted(&text), Oracle::new(DEFAULT).redact(&text));
    }

    #[test]
    fn what_comes_out_does_not_depend_on_the_cuts(
        text in texts(),
        cuts in proptest::collection::vec(1..20_usize, 1..40),
    ) {
        let detector = detector();
        let whole = redacted(&text);
        let mut tail = Tail::default();
        let mut out = String::new();
        let characters: Vec<char> = text.chars().collect();
        let mut rest = characters.as_slice();
        for length in cuts.iter().cycle() {
            let (piece, after) = rest.split_at(rest.len().min(*length));
            let piece: String = piece.iter().collect();
            out += &detector.next(&mut tail, &piece, End::Open).expect("in memory");
            prop_assert!(whole.starts_with(&out), "{:?} left early", out);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        out += &detector.next(&mut tail, "", End::Here).expect("in memory");
        prop_assert_eq!(out, whole);
    }
}
