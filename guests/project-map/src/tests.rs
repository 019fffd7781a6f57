use std::collections::BTreeMap;

use acp_chain_proxy::testing::{Host, SentKind, SentMessage};
use acp_chain_proxy::{Error, MessageId, Peer};
use serde_json::{Value, json};

use super::ProjectMap;

/// The powers in the README.
const LEAST: &[&str] = &[
    "capabilities.read",
    "session-setup.read",
    "turns.read",
    "answers.send",
    "files.read",
    "tools",
];

/// A host whose client reads files or not, with the session `s` in `/proj`.
fn host_that(reads: bool) -> Host {
    let mut host = Host::start_exported::<ProjectMap>(json!({})).expect("no configuration");
    host.powers(LEAST);
    let reads = json!({ "fs": { "readTextFile": reads } });
    host.request(
        Peer::Client,
        "initialize",
        json!({ "clientCapabilities": reads }),
    );
    let id = host.request(
        Peer::Client,
        "session/new",
        json!({ "cwd": "/proj", "mcpServers": [] }),
    );
    host.answer(id, json!({ "sessionId": "s" }));
    host.sent();
    host
}

fn host() -> Host {
    host_that(true)
}

/// Answers one read.
fn serve_one(host: &mut Host, request: &SentMessage, files: &BTreeMap<&str, &str>) {
    let path: String = request.get("/path").expect("a path");
    match path.strip_prefix("/proj/").and_then(|name| files.get(name)) {
        Some(content) => host.answer(request.id, json!({ "content": content })),
        None => host.fail(request.id, Error::new(-32002, "Resource not found")),
    }
}

/// Calls a tool, and answers every read from these files in `/proj`. Returns the structured content, and the requested
/// paths.
fn run(
    host: &mut Host,
    tool: &str,
    arguments: Value,
    files: &[(&str, &str)],
) -> (Value, Vec<String>) {
    let call = host.call_tool(Some("s"), tool, arguments);
    let (files, mut asked) = (files.iter().copied().collect(), Vec::new());
    while host.result(call).is_none() {
        for sent in host.sent() {
            assert_eq!(
                (sent.to, sent.method.as_str()),
                (Peer::Client, "fs/read_text_file")
            );
            if sent.what == SentKind::Request {
                asked.push(sent.get("/path").expect("a path"));
                serve_one(host, &sent, &files);
            }
        }
    }
    let result = done(host, call);
    assert_eq!(result.get("isError"), None, "{result}");
    (result["structuredContent"].clone(), asked)
}

fn done(host: &Host, call: MessageId) -> Value {
    let result = host.result(call).expect("it is done");
    result.expect("no error of the protocol")
}

const CARGO: (&str, &str) = ("Cargo.toml", "[workspace]\nmembers = [\"one\", \"gone\"]\n");
const ONE: (&str, &str) = ("one/Cargo.toml", "[package]\n");
const LIB: (&str, &str) = ("one/src/lib.rs", "mod a;\npub fn needle() {\n}\n");
const A: (&str, &str) = ("one/src/a.rs", "struct A;\n// a Needle\n");

#[test]
fn without_paths_the_whole_project_is_outlined_as_far_as_it_can_be_found() {
    let (outlines, asked) = run(&mut host(), "outline", json!({}), &[CARGO, ONE, LIB, A]);
    let files: Vec<_> = outlines["files"]
        .as_array()
        .expect("files")
        .iter()
        .collect();
    let paths: Vec<_> = files
        .iter()
        .map(|file| file["path"].as_str().expect("a path"))
        .collect();
    assert_eq!(paths, [CARGO.0, ONE.0, LIB.0, A.0]);
    assert_eq!(
        files[2],
        &json!({ "path": LIB.0, "language": "Rust", "lines": 3, "declarations": [
            "1: mod a;", "2: pub fn needle()",
        ] })
    );
    assert_eq!(
        outlines["unread"],
        json!(["`gone` of Cargo.toml: Resource not found (-32002)"])
    );
    assert_eq!(outlines["stopped"], Value::Null);
    let mut once = asked.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), asked.len(), "nothing is read twice");
}

#[test]
fn with_paths_these_files_are_outlined_and_no_others() {
    let paths = json!({ "paths": ["one/src/lib.rs", "/proj/./one/src/a.rs"] });
    let (outlines, asked) = run(&mut host(), "outline", paths, &[LIB, A]);
    assert_eq!(asked, ["/proj/one/src/lib.rs", "/proj/one/src/a.rs"]);
    assert_eq!(outlines["files"][1]["path"], A.0);
    let follow = json!({ "paths": ["one/src/lib.rs"], "follow": true });
    let (outlines, _) = run(&mut host(), "outline", follow, &[LIB, A]);
    assert_eq!(outlines["files"][1]["path"], A.0);
}

#[test]
fn a_text_or_a_regular_expression_is_found_with_its_place() {
    for (arguments, expected) in [
        (
            json!({ "pattern": "needle" }),
            vec!["one/src/lib.rs:2: pub fn needle()"],
        ),
        (
            json!({ "pattern": "Needle", "ignore_case": true }),
            vec![
                "one/src/lib.rs:2: pub fn needle()",
                "one/src/a.rs:2: // a Needle",
            ],
        ),
        (
            json!({ "pattern": r"^struct\s+\w;", "regex": true }),
            vec!["one/src/a.rs:1: struct A;"],
        ),
        (
            json!({ "pattern": "needle(.", "ignore_case": true }),
            vec![],
        ),
    ] {
        let (found, _) = run(&mut host(), "find", arguments, &[CARGO, ONE, LIB, A]);
        assert_eq!(
            (&found["matches"], &found["files"]),
            (&json!(expected), &json!(4))
        );
    }
}

#[test]
fn a_path_out_of_the_project_is_not_read() {
    let paths = [
        "../etc/passwd",
        "/etc/passwd",
        "a/../../b",
        "/project/x",
        ".",
    ];
    let (outlines, asked) = run(&mut host(), "outline", json!({ "paths": paths }), &[]);
    assert!(asked.is_empty(), "{asked:?}");
    let unread: Vec<String> = serde_json::from_value(outlines["unread"].clone()).expect("texts");
    assert_eq!(unread.len(), paths.len());
    assert_eq!(
        unread[0],
        "../etc/passwd: it is not a file in the project, /proj"
    );
    // A reference out of the project is not followed either.
    let lib = ("x.js", "import '../../secret.js';\n");
    let follow = json!({ "paths": ["x.js"], "follow": true });
    let (_, asked) = run(&mut host(), "outline", follow, &[lib]);
    assert_eq!(asked, ["/proj/x.js"]);
}

#[test]
fn several_files_are_read_at_once_but_not_all_and_the_order_stays() {
    let mut host = host();
    let paths: Vec<_> = (0..20).map(|n| format!("{n}.md")).collect();
    let call = host.call_tool(Some("s"), "outline", json!({ "paths": paths }));
    let first = host.sent();
    assert_eq!(first.len(), 8);
    for request in first.iter().rev() {
        host.answer(request.id, json!({ "content": "# x\n" }));
    }
    let mut rest = host.sent();
    assert_eq!(rest.len(), 8);
    while !rest.is_empty() {
        for request in &rest {
            host.answer(request.id, json!({ "content": "" }));
        }
        rest = host.sent();
    }
    let outlines = &done(&host, call)["structuredContent"];
    let files = outlines["files"].as_array().expect("files");
    let read: Vec<_> = files
        .iter()
        .map(|file| file["path"].as_str().expect("a path"))
        .collect();
    assert_eq!(read, paths);
    let progress = host.progress(call);
    assert_eq!(progress.len(), 20);
    assert_eq!(
        (progress[19].progress, progress[19].total),
        (20.0, Some(20.0))
    );
    assert_eq!(progress[19].message.as_deref(), Some("19.md"));
}

#[test]
fn a_cancelled_call_cancels_its_reads() {
    let mut host = host();
    let call = host.call_tool(Some("s"), "find", json!({ "pattern": "x" }));
    assert_eq!(host.sent().len(), 8);
    host.cancel(call);
    let sent = host.sent();
    assert!(sent.len() == 8 && sent.iter().all(|sent| sent.what == SentKind::Cancel));
    assert!(host.result(call).expect("it is settled").is_err());
}

#[test]
fn results_are_bounded_and_say_when_they_are_incomplete() {
    let long = "x\n".repeat(300 * 1024);
    let many = "needle\n".repeat(500);
    let files = [("long.md", long.as_str()), ("many.md", many.as_str())];
    let arguments = json!({ "pattern": "needle", "paths": ["long.md", "many.md", "none.md"] });
    let (found, _) = run(&mut host(), "find", arguments, &files);
    assert_eq!(found["matches"].as_array().map(Vec::len), Some(200));
    assert!(
        found["stopped"]
            .as_str()
            .expect("a reason")
            .contains("matches")
    );
    assert!(
        found["unread"][0]
            .as_str()
            .expect("a reason")
            .starts_with("long.md: its 614400 bytes")
    );
}

#[test]
fn an_endless_project_does_not_block_a_call_for_ever() {
    let mut host = host();
    let call = host.call_tool(
        Some("s"),
        "outline",
        json!({ "paths": ["m0.rs"], "follow": true }),
    );
    let mut asked = 0;
    while host.result(call).is_none() {
        for sent in host
            .sent()
            .into_iter()
            .filter(|sent| sent.what == SentKind::Request)
        {
            asked += 1;
            let text = format!("mod m{asked};\nmod n{asked};\n");
            host.answer(sent.id, json!({ "content": text }));
        }
    }
    assert!(asked <= 160, "{asked}");
    let outlines = &done(&host, call)["structuredContent"];
    assert_eq!(
        outlines["stopped"],
        "the limit of files or bytes per call is reached"
    );
}

#[test]
fn an_invalid_pattern_is_a_failure_with_the_reason() {
    for (pattern, why) in [
        (json!({ "pattern": "(", "regex": true }), "unclosed group"),
        (json!({ "pattern": "" }), "`pattern` has 0 bytes"),
        (
            json!({ "pattern": r"(\w{900}){900}", "regex": true }),
            "not a valid regular expression",
        ),
    ] {
        let mut host = host();
        let call = host.call_tool(Some("s"), "find", pattern);
        let result = done(&host, call);
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(result["isError"] == true && text.contains(why), "{text}");
    }
}

#[test]
fn the_map_of_the_project_is_a_resource_too() {
    let mut host = host();
    let listed = host.list_resources(Some("s")).expect("a list").resources;
    assert_eq!(listed[0]["uri"], "project-map:/map");
    let map = |host: &mut Host, call| {
        while host.result(call).is_none() {
            for sent in host.sent() {
                let text = match sent.at("/path").as_str() {
                    Some("/proj/README.md") => "# The project",
                    _ => "",
                };
                host.answer(sent.id, json!({ "content": text }));
            }
        }
        host.result(call).expect("it is done").expect("a result")
    };
    let call = host.read_resource(Some("s"), "project-map:/map");
    let read = map(&mut host, call);
    let call = host.call_tool(Some("s"), "outline", json!({}));
    let called = map(&mut host, call);
    assert_eq!(read["contents"][0]["text"], called["content"][0]["text"]);
    let text = read["contents"][0]["text"].as_str().expect("a text");
    assert!(text.contains("1: # The project"), "{text}");
    let call = host.read_resource(Some("s"), "project-map:/x");
    let gone = host
        .result(call)
        .expect("it is done")
        .expect_err("it is not there");
    assert_eq!(gone.code, -32002);
}

#[test]
fn there_are_no_tools_if_the_client_reads_no_files() {
    let mut host = host_that(false);
    assert_eq!(host.list_tools(Some("s")).expect("a list").tools.len(), 0);
    assert!(
        host.list_resources(Some("s"))
            .expect("a list")
            .resources
            .is_empty()
    );
    assert_eq!(host.log().len(), 1);
}

#[test]
fn a_new_instance_knows_the_sessions_of_the_old_one() {
    let mut host = host();
    host.restart().expect("restores the saved state");
    let (outlines, _) = run(&mut host, "outline", json!({ "paths": [A.0] }), &[A]);
    assert_eq!(
        outlines["files"][0]["declarations"],
        json!(["1: struct A;"])
    );
}

#[test]
fn a_call_in_an_unknown_session_fails() {
    let mut host = host();
    for session in [None, Some("other")] {
        let call = host.call_tool(session, "outline", json!({}));
        assert_eq!(done(&host, call)["isError"], true);
    }
}

#[test]
fn missing_references_do_not_block_a_call_for_ever() {
    let links: Vec<_> = (0..100_000).map(|n| format!("[x]({n}.md)")).collect();
    let readme = links.join("\n");
    let readme = ("README.md", &readme[..400_000]);
    let (outlines, asked) = run(&mut host(), "outline", json!({}), &[readme]);
    assert!((400..430).contains(&asked.len()), "{}", asked.len());
    assert!(
        outlines["stopped"]
            .as_str()
            .expect("a reason")
            .contains("names")
    );
}

#[test]
fn a_pattern_that_is_too_complex_ends_the_search_and_not_the_proxy() {
    let mut seed = 7_u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if seed >> 31 == 0 { 'a' } else { 'b' }
    };
    let text: String = (0..500_000).map(|_| random()).collect();
    let pattern = json!({ "pattern": "[ab]*a[ab]{400}c", "regex": true, "paths": ["x"] });
    let (found, _) = run(&mut host(), "find", pattern, &[("x", &text)]);
    assert_eq!(found["stopped"], "`pattern` is too complex; simplify it");
}

#[test]
fn without_tools_the_user_is_notified_once_in_the_first_turn() {
    for (reads, version, notice) in [
        (true, 1, Value::Null),
        (false, 1, json!("agent_message_chunk")),
        (false, 2, json!("notice")),
    ] {
        let mut host = host_that(reads);
        let params = json!({ "clientCapabilities": { "fs": { "readTextFile": reads } } });
        let id = host.request(Peer::Client, "initialize", params);
        host.answer(id, json!({ "protocolVersion": version }));
        for expected in [notice.clone(), Value::Null] {
            let prompt = json!({ "sessionId": "s", "prompt": [] });
            let id = host.request(Peer::Client, "session/prompt", prompt);
            host.sent();
            host.answer(id, json!({}));
            let sent = host.sent();
            assert_eq!(sent[0].at("/update/sessionUpdate"), expected);
            assert_eq!(sent.last().expect("the answer").what, SentKind::Response);
        }
    }
}
