//! The format: printing, parsing, and errors.

use std::time::Duration;

use proptest::prelude::*;

use super::act::{Act, Call, Kind, Said, ValuesOf};
use super::format::Script;
use super::json::Json;
use super::pattern::JsonPattern;
use acp_chain_channel::Peer;

const ALL: &str = r#"# A comment, and a head.
[[proxy]]
path = "shout.wasm"
---
session a {"cwd": "/a"}
client: p1 session/prompt {
  "prompt": [{"type": "text", "text": "hello"}]
}
agent gets: p1 session/prompt {"prompt": ["[..]"], "more": "<more>"}
# In between.

agent: session/update {"update": "<more>"}
client gets: session/update
shout logs: "it [..]"
agent calls: c1 words/count {"text": "a b"}
agent gets: c1 result {"content": ["[..]"]}
agent calls: c2 words resources/list {}
client: p1 cancel
agent gets: p1 cancel
agent: p1 error {"code": -32800}
client gets: p1 error
after 1m 30s
shout fails
shout restarts
shout restarts with {"count": 1}
client gets: error {"code": -32700}
shout has stored {"seen": "1"}
shout has stored in /a {"seen": {"count": 1}}
shout stores: {"seen": "<seen>", "more": null}
shout stores in /a: {"seen": "<seen>"}
"#;

fn acts(text: &str) -> Vec<Act> {
    let script = Script::read(text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    script.steps.into_iter().map(|step| step.act).collect()
}

#[test]
fn every_line_is_printed_as_it_is_written() {
    let script = Script::read(ALL).unwrap();
    assert_eq!(
        script.head(),
        "# A comment, and a head.\n[[proxy]]\npath = \"shout.wasm\"\n"
    );
    assert_eq!(script.steps.len(), 22);
    for step in &script.steps {
        let written = &ALL[step.place.clone()];
        let on_one_line = written.replace("\n  ", "").replace("\n}", "}");
        assert_eq!(format!("{}\n", step.act), on_one_line);
        assert_eq!(ALL[..step.place.start].lines().count() + 1, step.line);
    }
    let Act::After(time) = script.steps[13].act else {
        panic!("a time")
    };
    assert_eq!(time, Duration::from_secs(90));
}

#[test]
fn a_last_line_without_a_line_feed_is_a_line() {
    assert_eq!(acts("after 1s"), [Act::After(Duration::from_secs(1))]);
    assert_eq!(acts(""), []);
    assert_eq!(acts("---\nafter 1s"), acts("after 1s"));
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_what_to_write() {
    for (text, told) in [
        (
            "clinet: a",
            "1: `clinet:` does not begin a line; a line is `client: …`, ",
        ),
        (
            "#\n\nclient:",
            "3: the message is missing; write `p1 session/prompt {…}`",
        ),
        (
            "client: a b {",
            "1: this is not JSON: EOF while parsing an object; continuation lines begin",
        ),
        (
            "client: a b {\n  \"x\": 1,\n  y\n}",
            "3: this is not JSON: key must be a string",
        ),
        (
            "client: result {}",
            "1: `result` needs the name of its request: write `p1 result`",
        ),
        (
            "agent: p1 result {}",
            "1: the agent receives no request `p1` above; write `agent gets: p1 METHOD` there",
        ),
        (
            "client gets: p1 error",
            "1: the client sends no request `p1` above; write `client: p1 METHOD`",
        ),
        (
            "client: p1 cancel",
            "1: there is no request `p1` above that could be cancelled here",
        ),
        (
            "client: a b\nclient: a b",
            "2: the name `a` is already used by the request in line 1; choose another",
        ),
        (
            "client: a/b c {}",
            "1: `a/b` is not a name; a name has 1 to 64 letters, digits, `-` or `_`",
        ),
        (
            "client: a b {\"x\": \"[..]\"}",
            "1: `[..]` matches anything, and so cannot be sent",
        ),
        (
            "client: a b {\"x\": \"<y>\"}",
            "1: `<y>` is not captured above; write it in an expectation",
        ),
        (
            "agent calls: c words {}",
            "1: the agent calls a tool, `c1 SERVER/TOOL {…}`, or any MCP method",
        ),
        ("after noon", "1: `noon` is not a time; write `after 30s`"),
        ("after 10000000y", "1: `10000000y` is not a time"),
        (
            "x restarts now",
            "1: `now`: a proxy `restarts`, or `restarts with` its saved state",
        ),
        ("client: a\u{1b}[2J b", "1: `a\\u{1b}[2J` is not a name"),
        (
            "x has stored [1]",
            "1: stored values are an object with a member for each key",
        ),
        (
            "x has stored {\"k\": \"[..]\"}",
            "1: `[..]` matches anything, and so cannot be sent",
        ),
        (
            "x stores in /a: {",
            "1: this is not JSON: EOF while parsing an object",
        ),
        ("x stores {}", "1: `x` does not begin a line; a line is "),
    ] {
        let wrong = Script::read(text).unwrap_err().to_string();
        assert!(wrong.starts_with(told), "{text}: {wrong}");
    }
    let long = "#".repeat(super::format::LONGEST + 1);
    let wrong = Script::read(&long).unwrap_err().to_string();
    assert_eq!(wrong, "1: a transcript has at most 16 MiB; split it");
}

fn name() -> impl Strategy<Value = String> + Clone {
    "[a-z][a-z0-9-]{0,6}"
}

fn method() -> impl Strategy<Value = String> + Clone {
    "[a-z_$]{1,5}/[a-z_]{1,9}"
}

fn object() -> impl Strategy<Value = JsonPattern> + Clone {
    let value = prop_oneof![
        any::<i32>().prop_map(|number| Json::Number(number.into())),
        "[ -~äß\n]{0,12}".prop_map(Json::Text),
        "[ -~]{100,120}".prop_map(Json::Text),
        Just(Json::Null),
    ];
    let members = prop::collection::vec(("[ -~]{0,8}", value), 0..4);
    members.prop_map(|members| JsonPattern::of(Json::Object(members.into_iter().collect())))
}

fn values_of() -> impl Strategy<Value = ValuesOf> {
    let folder = prop::option::of("/[a-z/]{0,9}");
    (name(), folder).prop_map(|(proxy, folder)| ValuesOf { proxy, folder })
}

fn act() -> impl Strategy<Value = Act> {
    let end = || prop_oneof![Just(Peer::Client), Just(Peer::Agent)];
    let said = |kind, name, body| Said { kind, name, body };
    let request = (method(), name(), prop::option::of(object()))
        .prop_map(move |(method, name, body)| said(Kind::Request(method), Some(name), body));
    let notification = (method(), prop::option::of(object()))
        .prop_map(move |(method, body)| said(Kind::Notification(method), None, body));
    let call = (name(), name(), method(), object());
    prop_oneof![
        (end(), request.clone()).prop_map(|(end, said)| Act::Says(end, said)),
        (end(), notification.clone()).prop_map(|(end, said)| Act::Says(end, said)),
        (end(), request).prop_map(|(end, said)| Act::Gets(end, said)),
        (end(), notification).prop_map(|(end, said)| Act::Gets(end, said)),
        call.prop_map(|(name, server, method, params)| Act::Calls(Call {
            name,
            server,
            method,
            params,
        })),
        (name(), object()).prop_map(|(name, params)| Act::Session(name, params)),
        (0..100_000_000_u64).prop_map(|time| Act::After(Duration::from_millis(time))),
        (name(), prop::option::of(object())).prop_map(|(name, saved)| Act::Restarts(name, saved)),
        name().prop_map(Act::Fails),
        (values_of(), object()).prop_map(|(of, values)| Act::HasStored(of, values)),
        (values_of(), object()).prop_map(|(of, values)| Act::Stores(of, values)),
    ]
}

proptest! {
    #[test]
    fn what_is_printed_reads_as_the_same(act in act()) {
        let printed = act.to_string();
        prop_assert_eq!(acts(&printed), [act]);
    }

    #[test]
    fn nothing_panics(text in "(client: |agent gets: |a b |\\{|\\[|\"|---|\n| |\\PC){0,40}") {
        let _ = Script::read(&text);
    }
}
