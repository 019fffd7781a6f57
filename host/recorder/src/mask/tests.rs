use std::io;
use std::sync::{Arc, Mutex};

use acp_chain_trace::{Kind, Line, Sink};
use proptest::prelude::*;
use serde_json::{Value, json, value::to_raw_value};

use super::Masked;

/// A sink that keeps the lines.
#[derive(Clone, Default)]
struct MemorySink(Arc<Mutex<Vec<Line>>>);

impl Sink for MemorySink {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        self.0.lock().unwrap().extend_from_slice(lines);
        Ok(())
    }
}

struct Stage {
    masked: Masked<MemorySink>,
    kept: MemorySink,
}

impl Stage {
    fn new() -> Self {
        let kept = MemorySink::default();
        let mut masked = Masked::new(kept.clone());
        masked.write(&[heading()]).unwrap();
        Self { masked, kept }
    }

    fn say(&mut self, line: Line) {
        self.masked.write(&[line]).unwrap();
    }

    fn flush(&mut self) {
        self.masked.flush().unwrap();
    }

    /// The lines written so far, without the heading.
    fn lines(&self) -> Vec<Line> {
        self.kept.0.lock().unwrap()[1..].to_vec()
    }

    fn text(&self) -> String {
        let lines = self.lines();
        let lines = lines
            .iter()
            .map(|line| serde_json::to_string(line).unwrap());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The concatenated texts of chunks on a hop.
    fn streamed(&self, from: &str) -> String {
        let lines = self.lines();
        let here = lines
            .iter()
            .filter(|line| line.from.as_deref() == Some(from));
        let texts = here.filter_map(|line| {
            let body: Value = serde_json::from_str(line.body()?).unwrap();
            body["update"]["content"]["text"]
                .as_str()
                .map(str::to_owned)
        });
        texts.collect()
    }
}

fn heading() -> Line {
    Line {
        version: Some(1),
        proxies: Some(vec!["one".to_owned(), "two".to_owned()]),
        masked: Some(false),
        ..Line::default()
    }
}

fn line(hop: [&str; 2], method: &str, params: &Value) -> Line {
    Line {
        from: Some(hop[0].to_owned()),
        to: Some(hop[1].to_owned()),
        kind: Some(Kind::Notification),
        method: Some(method.to_owned()),
        session: Some("s".to_owned()),
        params: Some(to_raw_value(params).unwrap()),
        size: Some(1),
        ..Line::default()
    }
}

fn chunk(hop: [&str; 2], text: &str) -> Line {
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    line(
        hop,
        "session/update",
        &json!({ "sessionId": "s", "update": update }),
    )
}

const HOP: [&str; 2] = ["agent", "two"];
const NEXT: [&str; 2] = ["two", "one"];

/// Put together at run time, so that no scanner of this source takes it for a real one.
fn github(letters: &str) -> String {
    format!("ghp_{letters}")
}

const LETTERS: &str = "a1B2c3D4e5f6G7h8J9k0L1m2N3p4Q5r6S7t8";

#[test]
fn a_secret_has_the_same_marker_everywhere_and_different_secrets_differ() {
    let (one, other) = (github(LETTERS), github(&LETTERS.replace('a', "b")));
    let mut stage = Stage::new();
    stage.say(line(
        HOP,
        "x",
        &json!({ "a": [&one, { "b": &other }], "n": 1.50 }),
    ));
    stage.say(line(NEXT, "x", &json!({ "c": format!("see {one}.") })));
    let lines = stage.lines();
    assert_eq!(
        lines[0].body().unwrap(),
        r#"{"a":["[secret: github-pat 1]",{"b":"[secret: github-pat 2]"}],"n":1.5}"#
    );
    assert_eq!(
        lines[1].body().unwrap(),
        r#"{"c":"see [secret: github-pat 1]."}"#
    );
    assert_eq!(lines[1].size, Some(1));
    assert_eq!(stage.kept.0.lock().unwrap()[0].masked, Some(true));
}

#[test]
fn values_that_are_secret_by_their_name_are_masked_whatever_they_look_like() {
    let mut stage = Stage::new();
    let server = json!({
        "name": "files", "env": [{ "name": "HOME_OF", "value": "plain" }, { "name": "EMPTY", "value": "" }],
        "headers": [{ "name": "Accept", "value": "text" }],
    });
    stage.say(line(
        HOP,
        "session/new",
        &json!({ "mcpServers": [server], "cwd": "/" }),
    ));
    stage.say(line(
        HOP,
        "x",
        &json!({ "env": { "A": "plain" }, "Authorization": "Basic x", "cookie": "y" }),
    ));
    let bodies: Vec<Value> = stage
        .lines()
        .iter()
        .map(|line| serde_json::from_str(line.body().unwrap()).unwrap())
        .collect();
    let server = &bodies[0]["mcpServers"][0];
    assert_eq!(
        server["env"][0],
        json!({ "name": "HOME_OF", "value": "[secret: env 1]" })
    );
    assert_eq!(server["env"][1]["value"], "");
    assert_eq!(server["headers"][0]["value"], "[secret: headers 2]");
    assert_eq!(
        bodies[1],
        json!({
            "env": { "A": "[secret: env 1]" }, "Authorization": "[secret: authorization 3]",
            "cookie": "[secret: cookie 4]",
        })
    );
}

#[test]
fn values_that_are_secret_by_their_name_are_masked_in_lists_and_as_numbers() {
    let mut stage = Stage::new();
    let said = json!({
        "headers": { "set-cookie": ["sid"], "x-pin": 12, "x-on": true }, "authorization": ["Basic x"],
        "env": ["TOKEN=x", ["A", -1.5e-7]], "cookie": null, "ports": [80], "names": ["plain"],
    });
    stage.say(line(HOP, "x", &said));
    let body: Value = serde_json::from_str(stage.lines()[0].body().unwrap()).unwrap();
    let marked = |value: &Value| value.as_str().is_some_and(|it| it.starts_with("[secret: "));
    let headers = &body["headers"];
    for value in [
        &headers["set-cookie"][0],
        &headers["x-pin"],
        &body["authorization"][0],
        &body["env"][0],
        &body["env"][1][1],
    ] {
        assert!(marked(value), "{body}");
    }
    assert_eq!(headers["x-on"], true);
    assert_eq!(body["cookie"], Value::Null);
    assert_eq!(body["ports"], json!([80]));
    assert_eq!(body["names"], json!(["plain"]));
}

#[test]
fn errors_and_reasons_are_masked() {
    let mut stage = Stage::new();
    let secret = github(LETTERS);
    stage.say(Line {
        why: Some(format!("it said {secret}")),
        error: Some(to_raw_value(&json!({ "message": &secret })).unwrap()),
        session: Some(secret.clone()),
        ..Line::default()
    });
    assert!(!stage.text().contains(LETTERS), "{}", stage.text());
}

#[test]
fn chunks_keep_their_borders_and_texts_without_secrets_their_spelling() {
    let mut stage = Stage::new();
    let secret = github(LETTERS);
    let (head, tail) = secret.split_at(9);
    for text in ["use ", head, tail, " and go on"] {
        stage.say(chunk(HOP, text));
    }
    stage.say(line(HOP, "x", &json!({})));
    let lines = stage.lines();
    let texts = lines.iter().filter_map(|line| {
        let body: Value = serde_json::from_str(line.body()?).ok()?;
        body["update"]["content"]["text"]
            .as_str()
            .map(str::to_owned)
    });
    let texts: Vec<_> = texts.collect();
    assert_eq!(texts, ["use ", "[secret: github-pat 1]", "", " and go on"]);
    let spelt =
        r#"{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"\u0061 b"}}}"#;
    let mut plain = chunk(HOP, "");
    plain.params = Some(serde_json::from_str(spelt).unwrap());
    stage.say(plain);
    stage.say(line(HOP, "x", &json!({})));
    assert!(stage.text().contains(spelt));
}

#[test]
fn a_message_that_passes_several_parts_ends_the_texts_between_them() {
    let mut stage = Stage::new();
    stage.say(chunk(HOP, "it ends with gh"));
    stage.say(chunk(NEXT, "it ends with gh"));
    assert_eq!(stage.lines().len(), 0);
    stage.say(line(["client", "one"], "session/cancel", &json!({})));
    assert_eq!(stage.lines().len(), 0, "what the client says ends nothing");
    stage.say(line(["agent", "client"], "x", &json!({})));
    assert_eq!(stage.lines().len(), 4);
    assert_eq!(stage.streamed("agent"), "it ends with gh");
}

#[test]
fn waiting_lines_are_bounded() {
    let mut stage = Stage::new();
    let secret = github(LETTERS);
    stage.say(chunk(HOP, &secret[..10]));
    let long = "x ".repeat(1 << 20);
    for _ in 0..5 {
        stage.say(line(["client", "one"], "x", &json!({ "text": &long })));
    }
    assert!(stage.lines().len() > 3);
    stage.say(chunk(HOP, &secret[10..]));
    stage.flush();
    let streamed = stage.streamed("agent");
    assert!(
        !streamed.contains(&secret[4..12]) && !streamed.contains(&secret[10..]),
        "{streamed}"
    );
}

#[test]
fn the_output_of_a_terminal_is_masked_where_it_stands_as_base64() {
    use acp_chain_secrets::Coding;
    let mut stage = Stage::new();
    let secret = github(LETTERS);
    let coded = |text: &str| Coding::Base64.encoded(text).into_owned();
    let (head, tail) = secret.split_at(20);
    for piece in [head, tail] {
        let update = json!({ "sessionUpdate": "terminal_output_chunk", "data": coded(piece) });
        stage.say(line(HOP, "session/update", &json!({ "update": update })));
    }
    stage.flush();
    let text = stage.text();
    assert!(
        !text.contains(&coded(head)[..20]) && !text.contains(&coded(tail)[..16]),
        "{text}"
    );
}

/// A text with a secret of each form in the rules, and the part of it that must be masked.
fn secrets() -> impl Strategy<Value = (String, String)> {
    let token = |beginning: &'static str, regex: &'static str, end: &'static str| {
        let token = proptest::string::string_regex(regex).unwrap();
        token
            .prop_map(move |token| (format!("{beginning}{token}{end}"), token))
            .boxed()
    };
    prop_oneof![
        // Recognized by its prefix.
        token("", "ghp_[a-f0-9]{9}[A-Z0-9]{9}[a-z0-9]{9}[G-Z0-9]{9}", " "),
        token("", "glpat-[a-f0-9]{7}[A-Z0-9]{6}[a-z0-9]{7}", " "),
        // A rule of this program.
        token("", "sk-ant-[a-f0-9]{13}[A-Z0-9]{13}[a-z0-9]{20}", " "),
        // Assigned to a name.
        token(
            "aws_secret_access_key = ",
            "[a-f0-9]{13}[A-Z0-9]{13}[g-z0-9]{14}",
            "\n"
        ),
        // Of several lines.
        (prop::collection::vec("[a-z0-9]{20}[A-Z0-9]{44}", 3..6)).prop_map(|lines| {
            let body = lines.join("\n");
            let kind = "RSA PRIVATE KEY";
            (
                format!("-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n"),
                lines[1].clone(),
            )
        }),
    ]
}

/// A value that contains a text somewhere.
fn around(text: String, steps: Vec<bool>) -> Value {
    let mut value = Value::from(text);
    for is_object in steps {
        value = if is_object {
            json!({ "n": 1, "member": value, "after": "x" })
        } else {
            json!(["before", value, null])
        };
    }
    value
}

fn shows(text: &str, secret: &str) -> bool {
    // The fixed prefix of a kind is not secret.
    let (length, fixed) = (16, 8);
    let windows = (fixed..=secret.len() - length).map(|at| &secret[at..at + length]);
    windows.into_iter().any(|part| text.contains(part))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_secret_in_any_string_at_any_depth_is_in_no_line(
        (text, secret) in secrets(),
        before in "[ -~ä\n]{0,20} ",
        steps in prop::collection::vec(any::<bool>(), 0..6),
        slot in 0..3_usize,
    ) {
        let mut stage = Stage::new();
        let body = around(format!("{before}{text}"), steps);
        let mut said = line(HOP, "x", &Value::Null);
        let body = to_raw_value(&body).unwrap();
        match slot {
            0 => said.params = Some(body),
            1 => { said.params = None; said.result = Some(body); }
            _ => { said.params = None; said.error = Some(body); }
        }
        stage.say(said);
        prop_assert!(!shows(&stage.text(), &secret), "{}", stage.text());
        for line in stage.lines() {
            serde_json::from_str::<Value>(line.body().unwrap()).unwrap();
        }
    }

    #[test]
    fn a_secret_that_is_split_over_chunks_is_in_no_line(
        (text, secret) in secrets(),
        before in "[ -~ä\n]{0,40} ",
        cuts in prop::collection::vec((1..20_usize, 0..12_u8), 1..20),
    ) {
        let mut stage = Stage::new();
        let whole = format!("{before}{text} and more");
        let mut rest = &*whole;
        for (length, beside) in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(rest.len().min(*length)));
            rest = after;
            stage.say(chunk(HOP, piece));
            stage.say(chunk(NEXT, piece));
            match beside {
                0 => stage.flush(),
                1 => stage.say(line(["client", "one"], "session/cancel", &json!({}))),
                2 => {
                    let aside = json!({ "update": { "sessionUpdate": "usage_update" } });
                    stage.say(line(HOP, "session/update", &aside));
                }
                _ => {}
            }
        }
        stage.flush();
        for hop in [HOP, NEXT] {
            let streamed = stage.streamed(hop[0]);
            prop_assert!(!shows(&streamed, &secret), "{streamed}");
        }
        prop_assert!(!shows(&stage.text(), &secret));
    }

    #[test]
    fn lines_leave_in_their_order_and_none_is_lost(
        said in prop::collection::vec((0..4_u8, "[a-z_ -]{0,8}"), 0..40),
    ) {
        let mut stage = Stage::new();
        for (number, (what, text)) in said.iter().enumerate() {
            let mut line = match what {
                0 | 1 => chunk(HOP, text),
                2 => chunk(NEXT, text),
                _ => line(["client", "one"], "x", &json!({ "text": text })),
            };
            line.waited = Some(number as u64);
            stage.say(line);
        }
        stage.flush();
        let numbers: Vec<_> = stage.lines().iter().filter_map(|line| line.waited).collect();
        prop_assert_eq!(numbers, (0..said.len() as u64).collect::<Vec<_>>());
    }
}

fn end() -> Line {
    Line {
        ended: Some(true),
        ..Line::default()
    }
}

/// A line of a connection.
fn of(connection: &str, line: Line) -> Line {
    Line {
        connection: connection.to_owned(),
        ..line
    }
}

#[test]
fn a_text_that_is_not_over_delays_its_own_connection_alone_and_its_end_decides() {
    let secret = github(LETTERS);
    let mut stage = Stage::new();
    stage.say(of("x", chunk(HOP, &secret[..20])));
    stage.say(of("y", line(HOP, "m", &json!({ "a": &secret }))));
    let connections = |stage: &Stage| {
        let lines = stage.lines().into_iter();
        lines.map(|line| line.connection).collect::<Vec<_>>()
    };
    assert_eq!(connections(&stage), ["y"]);
    stage.say(of("x", chunk(HOP, &secret[20..])));
    stage.say(of("x", end()));
    assert_eq!(connections(&stage), ["y", "x", "x", "x"]);
    assert!(!stage.text().contains(LETTERS), "{}", stage.text());
    stage.say(of("z", heading()));
    stage.say(of("z", end()));
    for (connection, is_known) in [("x", false), ("y", true), ("z", false)] {
        let known = stage.masked.connections.contains_key(connection);
        assert_eq!(known, is_known, "{connection}");
    }
}

#[test]
fn lines_of_a_quiet_connection_are_released_and_others_continue() {
    let mut stage = Stage::new();
    for connection in ["x", "y"] {
        stage.say(of(connection, chunk(HOP, "see ghp_")));
    }
    assert_eq!(stage.lines().len(), 0);
    stage.masked.rest("x").unwrap();
    let lines = stage.lines();
    assert_eq!((lines.len(), &*lines[0].connection), (1, "x"));
    stage.masked.rest("y").unwrap();
    assert_eq!((stage.lines().len(), stage.masked.cost), (2, 0));
}

#[test]
fn when_too_much_waits_the_longest_backlog_is_released() {
    let mut stage = Stage::new();
    stage.say(of("small", chunk(HOP, "see ghp_")));
    let long = json!({ "long": "x ".repeat(1 << 19) });
    stage.say(of("large", chunk(HOP, "see ghp_")));
    for _ in 0..9 {
        stage.say(of("large", line(NEXT, "m", &long)));
    }
    let lines = stage.lines();
    assert!(lines.len() >= 8 && lines.iter().all(|line| line.connection == "large"));
}
