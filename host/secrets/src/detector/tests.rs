mod oracle;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use super::*;
use crate::machine::{LOOKED, WINDOW};
use crate::rules::{self, ASSIGNMENT, After};
use oracle::Oracle;

fn detector() -> Detector {
    Detector::new(rules::defaults().copied()).expect("the rules are right")
}

fn redacted_by(detector: &Detector, text: &str) -> String {
    let redacted = detector
        .marking(Marker::Redacted)
        .redact(text, &mut Effort::default())
        .expect("in memory");
    redacted.map_or_else(|| text.to_owned(), |redacted| redacted.text)
}

fn redacted(text: &str) -> String {
    redacted_by(&detector(), text)
}

/// The text decided by a piece.
fn next(detector: &Detector, tail: &mut Tail, piece: &str, end: End) -> String {
    let next = detector
        .marking(Marker::Redacted)
        .next(tail, piece, end)
        .expect("in memory");
    next.unwrap_or_else(|| piece.to_owned())
}

/// The result of a text in pieces of these lengths.
fn in_pieces(detector: &Detector, text: &str, lengths: &[usize]) -> String {
    let (mut tail, mut out) = (Tail::default(), String::new());
    let mut rest = text;
    for length in lengths.iter().cycle() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(rest.len().min(*length)));
        out += &next(detector, &mut tail, piece, End::Open);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    out + &next(detector, &mut tail, "", End::Here)
}

/// The text shown at a pause.
fn pause(detector: &Detector, tail: &mut Tail) -> String {
    let shown = detector.glimpse(tail).to_owned();
    tail.show(shown.len());
    shown
}

/// The result of a text in pieces of these lengths, with a pause after each.
fn with_pauses(detector: &Detector, text: &str, lengths: &[usize]) -> String {
    let (mut tail, mut out) = (Tail::default(), String::new());
    let (mut rest, mut lengths) = (text, lengths.iter().cycle());
    while !rest.is_empty() {
        let length = lengths.next().copied().unwrap_or(1);
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(rest.len().min(length)));
        out += &next(detector, &mut tail, piece, End::Open);
        out += &pause(detector, &mut tail);
        rest = after;
    }
    out + &next(detector, &mut tail, "", End::Here)
}

/// A text that matches a rule, made from its regexes, and the secret in it.
fn example(rule: &Rule, runner: &mut TestRunner) -> (String, String) {
    let mut sample = |regex: &str| {
        // Lookarounds cannot be generated, and the generated text is ASCII.
        let regex = regex
            .replace(r"\b", "")
            .replace("|$)", ")")
            .replace(r"|\z)", ")");
        let regex = regex.replace(r"\w", "[0-9A-Za-z_]").replace(r"\d", "[0-9]");
        let regex = regex.replace(r"\s", "[ \n]").replace(r"\x80-\xff", "");
        let strategy = string_regex(&regex).unwrap_or_else(|error| panic!("{regex}: {error}"));
        let text = strategy.new_tree(runner).expect("a text").current();
        // Case folding also leads to characters outside ASCII.
        let text = text.replace('ſ', "s").replace('\u{212a}', "k");
        text.replace(|character: char| !character.is_ascii(), "x")
    };
    let mut lead = sample(rule.before);
    if rule.assigned {
        lead += "_x = \"";
    }
    // A rule for escaped text.
    if let [escaped @ "%3a%2f%2f"] = rule.needles {
        lead = lead.replace("://", escaped);
    }
    let secret = sample(rule.secret);
    let after = match rule.after {
        After::End if rule.assigned => "\"".to_owned(),
        After::One(regex) | After::Rest(regex) => sample(regex),
        _ => " ".to_owned(),
    };
    (format!("{lead}{secret}{after}"), secret)
}

/// Examples of a rule that it considers secrets.
fn examples(rule: &Rule<'static>, count: usize) -> Vec<(String, String)> {
    let detector = Detector::new([*rule]).expect("right");
    let mut runner = TestRunner::deterministic();
    let tried = (0..400).map(|_| example(rule, &mut runner));
    let found = tried.filter(|(text, _)| redacted_by(&detector, text) != *text);
    found.take(count).collect()
}

#[test]
fn every_rule_finds_its_examples() {
    let detector = detector();
    for rule in rules::defaults() {
        let examples = examples(rule, 3);
        assert!(
            !examples.is_empty(),
            "`{}` finds none of its own",
            rule.name
        );
        for (text, secret) in examples {
            let text = format!("before {text} after");
            let out = redacted_by(&detector, &text);
            assert!(!out.contains(&secret), "{}: {text} became {out}", rule.name);
            assert!(
                out.starts_with("before ") && out.ends_with(" after"),
                "{text} became {out}"
            );
        }
    }
}

/// Concatenated at run time, so that scanners of this source report no secrets.
fn secrets() -> Vec<(&'static str, String)> {
    let long = "a1B2c3D4e5f6G7h8J9".repeat(6);
    vec![
        ("aws-access-token", format!("AKIA{}", "QWERT2YUIOPASD3F")),
        ("github-pat", format!("ghp_{}", &long[..36])),
        ("gitlab-pat", format!("glpat-{}", &long[..20])),
        (
            "slack-bot-token",
            format!("xoxb-123456789012-123456789012-{}", &long[..24]),
        ),
        (
            "anthropic-api-key",
            format!("sk-ant-api03-{}AA", &long[..93]),
        ),
        ("sk-api-key", format!("sk-proj-{}", &long[..48])),
        ("gcp-api-key", format!("AIza{}", &long[..35])),
        ("google-oauth", format!("GOCSPX-{}", &long[..28])),
        ("stripe-access-token", format!("sk_live_{}", &long[..24])),
        ("npm-access-token", format!("npm_{}", &long[..36])),
        ("jwt", format!("eyJ{0}.eyJ{0}.{0}", &long[..20])),
        ("private-key", key("\n")),
    ]
}

/// A private key with something before each of its lines.
fn key(line: &str) -> String {
    let long = "MIIEowIBAAKCAQEAyv3hGf2sT1mQ8bXcW9zLk4NnRrPpUuVvJjHhGgFfDdSsAa01";
    let lines = [
        "-----BEGIN RSA PRIVATE KEY-----",
        long,
        &long.chars().rev().collect::<String>(),
        &long[..40],
        "-----END RSA PRIVATE KEY-----",
    ];
    lines.join(line)
}

#[test]
fn well_known_secrets_have_the_names_of_their_rules() {
    for (name, secret) in secrets() {
        assert_eq!(
            redacted(&format!("it is {secret} so")),
            format!("it is [redacted: {name}] so")
        );
    }
}

#[test]
fn a_secret_is_found_in_every_kind_of_escaping() {
    let detector = detector();
    for (_, secret) in secrets() {
        for (before, after) in [
            (r"\n", r"\n"),
            (r"line\\n", r"\\nline"),
            ("\x1b[31m", "\x1b[0m"),
            ("\x1b[01;31m\x1b[K", "\x1b[m\x1b[K"),
            ("token%3D", "%26x"),
            ("MY_", ""),
            (r#"{\"key\": \""#, r#"\"}"#),
            ("\"", "\""),
            (r"\u003d", r"\u0026"),
        ] {
            let text = format!("{before}{secret}{after}");
            let out = redacted_by(&detector, &text);
            assert!(!out.contains(&secret), "{text:?} became {out:?}");
            assert_eq!(in_pieces(&detector, &text, &[1]), out);
        }
    }
}

#[test]
fn an_assignment_is_read_through_its_escapes() {
    let detector = detector();
    let secret = "0123456789abcdef0123456789abcdef";
    for text in [
        format!(r#"{{\"adobe_key\": \"{secret}\"}}"#),
        format!("adobe_key%3D{secret}%0A"),
        format!("\x1b[36madobe_key\x1b[0m=\x1b[32m\"{secret}\"\x1b[0m"),
        format!(r"adobe={secret}\n"),
    ] {
        let out = redacted_by(&detector, &text);
        assert!(
            !out.contains(secret) && out.contains("adobe"),
            "{text:?} became {out:?}"
        );
    }
}

#[test]
fn a_private_key_is_found_with_text_before_its_lines() {
    for line in [
        "\n",
        "\r\n",
        r"\n",
        r"\\n",
        "\n    ",
        "\n> ",
        "\n+",
        "\n- ",
        "\\n\" +\n  \"",
        "\n12\t",
        "\n   12→",
        "\n12: ",
        "\n | ",
        "\x1b[0m\n\x1b[32m",
        "\n# ",
        "\n 7 │ ",
    ] {
        let text = format!("it is{line}{} and that is it", key(line));
        let out = redacted(&text);
        assert!(out.contains("[redacted: private-key]"), "{line:?}: {out}");
        assert!(
            !out.contains("MIIE") && out.ends_with(" and that is it"),
            "{line:?}: {out}"
        );
        // A truncated key.
        let out = redacted(&text[..text.len() - 80]);
        assert!(!out.contains("MIIE"), "{line:?}: {out}");
    }
}

#[test]
fn a_private_key_is_found_from_its_second_line_on() {
    for first in [
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
        "MIIEpAIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun",
        "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHAQIAgJHTyW2fsoCAggA",
        "MHcCAQEEIAMLPSDWfN5x9t7bv1sZz8z1VxW1q0cV1k2m3n4o5p6qoAoGCCqGSM49",
        "MIGkAgEBBDBiVrN3c1u9Vv8x0sY5a6b7c8d9e0f1g2h3i4j5k6l7m8n9o0p1q2r3",
        "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2",
        "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz",
    ] {
        let text = format!(
            "2\t{first}\n3\t{}\n-----END PRIVATE KEY-----\nmore",
            "OF/2NxApJCzGCEDdfSp6".repeat(3)
        );
        let out = redacted(&text);
        assert!(out.contains("[redacted: private-key]"), "{out}");
        assert!(!out.contains("OF/2") && out.ends_with("\nmore"), "{out}");
    }
}

#[test]
fn a_private_key_without_its_first_line_is_found_wherever_it_is_cut() {
    let key =
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQAAACB1";
    let text = format!("see {key}!");
    let detector = detector();
    for cut in 1..text.len() {
        let shown = in_pieces(&detector, &text, &[cut, text.len()]);
        assert_eq!(shown, "see [redacted: private-key]!", "cut at {cut}");
    }
}

#[test]
fn ordinary_text_is_unchanged() {
    for text in [
        "The key starts with AKIA, and a token with ghp_ or sk-.",
        "A file starts with `-----BEGIN PRIVATE KEY-----` and ends with `-----END PRIVATE KEY-----`.",
        "-----BEGIN PRIVATE KEY----- is what it says. Then come lines of Base64.",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo4lgO",
        "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ",
        "MIDDLE of the MIXER, and MIGHT is right",
        "risk-assessment-of-the-whole-system-and-all-its-parts, task-0123456789012345678901234567890123",
        "<div class=\"sk-folding-cube sk-cube-grid-of-the-page\">",
        "https://example.org/ghp/0123456789012345678901234567890123456789",
        "password = hunter2, token: abcdefghijklmnop",
        "postgres://user:password@example.com/db, https://user:${PASSWORD}@here.org",
        "eyJhbGciOiJub25lIn0 is a header alone. Größe, 大小, 🔑.",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn random_values_assigned_to_names_of_secrets_are_found() {
    for (before, secret, behind) in [
        ("DB_PASSWORD=", "hXHdO2x93CJHLS45gqIO", "\n"),
        ("api_key = \"", "2zVZq81LmT0kWc7RbYpX", "\""),
        ("{\"client_secret\": \"", "5uUa8Qm1zT0kWc7RbYpX2f", "\"}"),
        ("JWT_SECRET='", "f3Kz9qLw2Xv7Bn5Tj8Rm4Hs6", "'"),
        (
            "export AUTH_TOKEN=",
            "9g8e7d6c5b4a3f2e1d0c9b8a7f6e5d4c",
            " npm run x",
        ),
        ("  password: ", "Tr0ub4dor&3-kX9vQ2", "\n"),
    ] {
        let expected = format!("{before}[redacted: random-assignment]{behind}");
        assert_eq!(redacted(&format!("{before}{secret}{behind}")), expected);
    }
    for text in [
        "const token = getToken(user, 1234)",
        "password: hunter2",
        "let secret = config.auth.secret_v2_name;",
        "token = \"app/models/user_token_v2.rb\"",
        "api_key: process.env.MY_SERVICE_API_KEY_2",
        "API_KEY=your-api-key-goes-here-1234",
        "secretName: my-application-tls-v1beta1",
        "tokenizer = \"bert-base-uncased-2024-01\"",
        "discord_client_id = 123456789012345678",
        "pass=true&retry=100&timeout=20000",
        "credentials: https://example.org/v1/keys/2024",
        "const PASSWORD_MIN_LENGTH_V2 = MIN_LENGTH_OF_ALL_16",
    ] {
        assert_eq!(redacted(text), text);
    }
}

#[test]
fn other_assigned_values_are_secrets_only_if_configured() {
    let detector = Detector::new([ASSIGNMENT]).expect("right");
    for (text, expected) in [
        ("DB_PASS=hunter2hunter2", "DB_PASS=[redacted: assignment]"),
        ("pwd = hunter2hunter2", "pwd = [redacted: assignment]"),
        ("authkey=hunter2hunter2", "authkey=[redacted: assignment]"),
        ("passenger = hunter2hunter2", "passenger = hunter2hunter2"),
        (
            "DB_PASSWORD=hunter2hunter2 x",
            "DB_PASSWORD=[redacted: assignment] x",
        ),
        (
            "{\"apiKey\": \"abcdefgh\"}",
            "{\"apiKey\": \"[redacted: assignment]\"}",
        ),
        (
            "the password is long; token: no",
            "the password is long; token: no",
        ),
    ] {
        assert_eq!(redacted_by(&detector, text), expected);
    }
}

#[test]
fn only_a_possible_beginning_of_a_secret_is_withheld() {
    for (text, kept) in [
        ("no secret here. ", ""),
        ("this ends with -----BEG", "-----BEG"),
        ("words and s", "s"),
        ("adobe_key = ", "adobe_key = "),
        ("ghp_01! ", ""),
        ("a word 大小", ""),
    ] {
        let mut tail = Tail::default();
        let out = next(&detector(), &mut tail, text, End::Open);
        assert_eq!(
            (format!("{out}{kept}").as_str(), &tail.text[tail.from..]),
            (text, kept)
        );
    }
}

const TOKEN: &str = "ghp_x7Kp2Vq9Zt4Lm8Rw3Ns6Yb1Hc5Jd0Gf7Te2u";

#[test]
fn at_a_pause_the_common_beginning_of_a_rules_secrets_is_shown() {
    let detector = detector();
    for (text, shown) in [
        ("All is do", "All is do"),
        ("this ends with -----BEG", "this ends with -----BEG"),
        ("adobe_key = ", "adobe"),
        ("redis://:hunter2", "redis://"),
        (&TOKEN[..30], "ghp_"),
        (&format!("it is {TOKEN}"), "it is ghp_"),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B",
            "-----BEGIN",
        ),
    ] {
        let mut tail = Tail::default();
        let mut out = next(&detector, &mut tail, text, End::Open);
        out += &pause(&detector, &mut tail);
        assert_eq!(out, shown);
        assert_eq!(pause(&detector, &mut tail), "", "{text}");
    }
}

#[test]
fn the_rest_of_a_secret_that_began_before_a_pause_is_replaced() {
    for (text, shown) in [
        (format!("{TOKEN} is it"), "ghp_[redacted: github-pat] is it"),
        (
            "redis://:hunter2@cache.internal:6379 is it".to_owned(),
            "redis://:[redacted: generic-credential-uri]@cache.internal:6379 is it",
        ),
    ] {
        assert_eq!(with_pauses(&detector(), &text, &[16, 100]), shown);
    }
}

#[test]
fn a_pattern_of_the_users_shows_no_more_than_its_literal_text_at_a_pause() {
    for (regex, text, shown) in [
        (
            r"pin:(\d{4});",
            "my pin:1234; is",
            "my pin:[redacted: own] is",
        ),
        (
            "acme-[0-9]{6}",
            "my acme-012345 is",
            "my acme-[redacted: own] is",
        ),
        ("[0-9]{6}", "my 012345 is", "my [redacted: own] is"),
        ("[^a-z ]{6}", "my 012345 is", "my [redacted: own] is"),
    ] {
        let rule = crate::pattern("own", regex).expect("right");
        let detector = Detector::new([rule]).expect("right");
        assert_eq!(with_pauses(&detector, text, &[1]), shown);
    }
}

#[test]
fn the_withheld_length_is_bounded() {
    let detector = detector();
    let mut tail = Tail::default();
    let begin = "-----BEGIN PRIVATE KEY-----";
    let mut out = next(&detector, &mut tail, begin, End::Open);
    for _ in 0..300 {
        out += &next(&detector, &mut tail, &"Ab3".repeat(40), End::Open);
        assert!(tail.len() <= 2 * WINDOW, "{}", tail.len());
    }
    assert!(out.starts_with("[redacted: private-key]"), "{out}");
}

/// Texts on which rules fail repeatedly.
const HOSTILE: &[&str] = &[
    "eyJ-",
    "eyJ_",
    "ey ",
    "ey0123456789012345678.",
    "a3-",
    "adobe ",
    "secret",
    "sk-a",
    "00 ",
    "https://a:",
    "user=me password=",
    "AKIAQWERT2YUIOPASD3F ",
    "authorization: basic ",
    "curl ",
    "ghp_",
    "-----BEGIN PRIVATE KEY-----",
    "influx token ",
    r"\",
    "%3",
    "\x1b[",
    r"\u0000",
    "cloudinary key ",
];

#[test]
fn the_effort_for_hostile_text_is_bounded() {
    let detector = detector();
    let needles: String = rules::defaults()
        .flat_map(|rule| rule.needles)
        .copied()
        .collect();
    for text in HOSTILE.iter().copied().chain([needles.as_str()]) {
        let text = text.repeat(512 * 1024 / text.len());
        LOOKED.set(0);
        let out = redacted_by(&detector, &text);
        let looked = LOOKED.get();
        assert!(
            looked <= 5 * text.len(),
            "{} times {} for {:.9}",
            looked,
            text.len(),
            text
        );
        let pieces = in_pieces(&detector, &text, &[1000]);
        let same = pieces
            .bytes()
            .zip(out.bytes())
            .position(|(one, other)| one != other);
        let around = |text: &str| {
            text[same.unwrap_or(0).saturating_sub(60)..]
                .chars()
                .take(160)
                .collect::<String>()
        };
        assert!(
            pieces == out,
            "{:?}: {:?}, {:?}",
            same,
            around(&pieces),
            around(&out)
        );
    }
}

#[test]
fn unexamined_text_is_removed() {
    let secret = &secrets()[1].1;
    let text = format!("{}{secret} and on it goes", "eyJ-".repeat(64 * 1024));
    let out = redacted(&text);
    assert!(out.contains("[redacted: unclear]") && !out.contains(&secret[..10]));
    assert!(
        out.ends_with(" and on it goes"),
        "{}",
        &out[out.len() - 40..]
    );
}

fn texts() -> impl Strategy<Value = String> {
    let secret = select(secrets()).prop_map(|(_, secret)| secret);
    let near = (select(secrets()), 1..60_usize)
        .prop_map(|((_, secret), length)| secret.chars().take(length).collect());
    let plain = "[a-zA-Z0-9 \n_.äß🔑%\\\\\x1b\\[\"=-]{0,30}";
    let lead = select(vec![
        "adobe_key=",
        "curl -u ",
        "aws_secret = \"",
        "https://u:",
        "user: me, pass: ",
        "box: ",
        r"\n",
    ]);
    let piece = prop_oneof![secret, near, plain, lead.prop_map(str::to_owned)];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// A few rules, and a text that some of them match.
fn rules_and_text() -> impl Strategy<Value = (Vec<Rule<'static>>, String)> {
    let all: Vec<Rule<'static>> = rules::defaults().copied().collect();
    subsequence(all, 6).prop_flat_map(|rules| {
        let texts = rules
            .iter()
            .flat_map(|rule| examples(rule, 2))
            .map(|(text, _)| text);
        let example = select(texts.collect::<Vec<_>>());
        let cut = (example.clone(), 1..40_usize)
            .prop_map(|(text, length)| text.chars().take(length).collect::<String>());
        let piece = prop_oneof![example, cut, "[a-z0-9 .=_-]{0,8}"];
        let text = proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat());
        (Just(rules), text)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn redaction_matches_the_reference_implementation((rules, text) in rules_and_text()) {
        prop_assume!(!text.contains(['\\', '%', '\x1b']));
        let detector = Detector::new(rules.clone()).expect("right");
        prop_assert_eq!(redacted_by(&detector, &text), Oracle::new(rules).redact(&text));
    }

    #[test]
    fn the_output_does_not_depend_on_the_cuts(
        text in texts(),
        cuts in proptest::collection::vec(1..20_usize, 1..40),
    ) {
        let detector = detector();
        prop_assert_eq!(in_pieces(&detector, &text, &cuts), redacted_by(&detector, &text));
    }

    #[test]
    fn pauses_lose_nothing_and_show_only_the_beginning_of_a_secret(
        text in texts(),
        cuts in proptest::collection::vec(1..20_usize, 1..40),
    ) {
        let detector = detector();
        let out = with_pauses(&detector, &text, &cuts);
        let secrets = detector.find(&text, &mut Effort::default()).expect("in memory");
        if secrets.is_empty() {
            prop_assert_eq!(&out, &text);
        }
        for Secret { range, .. } in secrets {
            let begins = text.ceil_char_boundary(range.start + 12).min(range.end);
            for hidden in [&text[begins..range.end], &text[range.clone()]] {
                let is_else = text.matches(hidden).count() > 1;
                prop_assert!(hidden.len() < 4 || is_else || !out.contains(hidden), "{hidden} in {out}");
            }
        }
    }

    #[test]
    fn nothing_that_is_shown_was_hidden_too_late(text in texts(), cut in 0..400_usize) {
        let detector = detector();
        let whole = redacted_by(&detector, &text);
        let mut tail = Tail::default();
        let piece = &text[..text.floor_char_boundary(cut)];
        let out = next(&detector, &mut tail, piece, End::Open);
        prop_assert!(whole.starts_with(&out), "{:?} left early", out);
    }
}
