//! `acp-chain permissions explain`: why each rule matches a request or not.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use acp_chain_tests::host::component;
use serde_json::json;

use crate::project::world::World;

/// A user whose manifest has these rules, one for each line that is asserted.
fn world() -> World {
    let world = World::new();
    let path = component("permissions");
    let rules = "[[proxy.config.rules]]\ndecision = \"deny\"\ncommand = \"rm *\"\n\
                 [[proxy.config.rules]]\ndecision = \"allow\"\npath = \"./**\"\nkind = \"read\"\n\
                 [[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"git log *\"\n";
    let powers = "powers = [\"permissions.read\", \"permissions.answer\", \"tool-calls.read\", \
                  \"session-setup.read\", \"turns.read\"]";
    let manifest = format!(
        "[[proxy]]\nid = \"permissions\"\npath = '{}'\n{powers}\n{rules}",
        path.display()
    );
    world.manifest(&manifest);
    world
}

const EXPLAIN: [&str; 2] = ["permissions", "explain"];

#[test]
fn a_call_as_json_is_explained_rule_by_rule() {
    let world = world();
    let mut command = world.command(EXPLAIN[0]);
    let command = command.args([EXPLAIN[1], "-", "--manifest", "acp-chain.toml"]);
    let mut running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let call =
        json!({ "kind": "execute", "title": "Terminal", "rawInput": { "command": "git log" } });
    running
        .stdin
        .take()
        .unwrap()
        .write_all(call.to_string().as_bytes())
        .unwrap();
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    for line in [
        "permissions: rule 1 does not match \"git log\": no `command` matches",
        "permissions: rule 2 does not match \"git log\": the call is of the kind \"execute\"",
        "permissions: rule 3 matches \"git log\"",
        "permissions: rule 3: allowed \"git log\" (allow_once)",
    ] {
        assert!(said.contains(line), "{said}\nlacks\n{line}");
    }
}

#[test]
fn a_line_of_a_trace_is_explained_with_what_was_said_before_and_the_directory_of_its_session() {
    let world = world();
    let call = |more: serde_json::Value| {
        let mut call = json!({ "toolCallId": "t", "kind": "read", "title": "Read" });
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call
    };
    let update =
        call(json!({ "sessionUpdate": "tool_call", "locations": [{ "path": "/proj/a" }] }));
    let line = |more: serde_json::Value| {
        let mut line = json!({ "connection": "c", "time": "2026-01-01T00:00:00Z" });
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        line.to_string() + "\n"
    };
    let crosses = |from: &str, to: &str, kind: &str, method: &str, more: serde_json::Value| {
        let mut hop = json!({ "from": from, "to": to, "kind": kind, "method": method });
        hop.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        line(hop)
    };
    let asked = json!({ "sessionId": "s9", "toolCall": { "toolCallId": "t" }, "options": [
        { "optionId": "y", "name": "Yes", "kind": "allow_once" },
    ] });
    let trace = [
        line(json!({ "version": 1, "proxies": [] })),
        crosses(
            "client",
            "agent",
            "request",
            "session/new",
            json!({ "request": 4, "params": { "cwd": "/proj", "mcpServers": [] } }),
        ),
        crosses(
            "agent",
            "client",
            "response",
            "session/new",
            json!({ "request": 4, "result": { "sessionId": "s9" } }),
        ),
        crosses(
            "agent",
            "client",
            "notification",
            "session/update",
            json!({ "session": "s9", "params": { "sessionId": "s9", "update": update } }),
        ),
        crosses(
            "agent",
            "client",
            "request",
            "session/request_permission",
            json!({ "request": 5, "session": "s9", "params": asked }),
        ),
    ];
    fs::write(world.path("trace.jsonl"), trace.concat()).unwrap();
    let more = ["--manifest", "acp-chain.toml"];
    let explain = |at: &'static str| [&EXPLAIN[..], &[at], &more].concat();
    let said = world.do_run(&explain("trace.jsonl:5"));
    assert!(
        said.contains("permissions: rule 2: allowed \"Read\" (allow_once)"),
        "{said}"
    );
    let said = world.fail(&explain("trace.jsonl:4"));
    assert!(
        said.contains(
            "trace.jsonl:4: this line is no permission request; the trace has none up to there"
        ),
        "{said}"
    );
    let said = world.fail(&explain("trace.jsonl:9"));
    assert!(
        said.contains("up to there the trace has them in the lines 5"),
        "{said}"
    );
}
