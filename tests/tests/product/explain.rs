//! `acp-chain permissions explain`: why each rule matches a request or not.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use acp_chain_tests::host::component;
use serde_json::{Value, json};

use crate::project::world::World;

/// A user whose manifest has these rules, one for each line that is asserted.
fn world() -> World {
    let world = World::new();
    let path = component("permissions");
    let rules = "[[proxy.config.rules]]\ndecision = \"deny\"\ncommand = \"rm *\"\n\
                 [[proxy.config.rules]]\ndecision = \"allow\"\npath = \"./**\"\nkind = \"read\"\n\
                 [[proxy.config.rules]]\ndecision = \"allow\"\ncommand = \"git log *\"\n\
                 [[proxy.config.rules]]\ndecision = \"ask\"\ncommand = \"make *\"\n";
    let powers = "powers = [\"permissions.read\", \"permissions.answer\", \"permissions.ask\", \
                  \"tool-calls.read\", \"tool-runs.read\", \"tool-runs.refuse\", \
                  \"session-setup.read\", \"turns.read\"]";
    let manifest = format!(
        "[[proxy]]\nid = \"permissions\"\npath = '{}'\n{powers}\n{rules}",
        path.display()
    );
    world.manifest(&manifest);
    world
}

const EXPLAIN: [&str; 2] = ["permissions", "explain"];

/// What is printed about this JSON.
fn explained(world: &World, input: &Value) -> String {
    let mut command = world.command(EXPLAIN[0]);
    let command = command.args([EXPLAIN[1], "-", "--manifest", "acp-chain.toml"]);
    let mut running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(input.to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = running.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// What a hook reports before a command runs.
fn reported(command: &str) -> Value {
    json!({
        "sessionId": "s9",
        "toolCall": {
            "title": "Bash", "kind": "execute", "status": "pending", "locations": [],
            "rawInput": { "command": command },
        },
        "canChange": true,
    })
}

#[test]
fn a_call_as_json_is_explained_rule_by_rule() {
    let call =
        json!({ "kind": "execute", "title": "Terminal", "rawInput": { "command": "git log" } });
    let said = explained(&world(), &call);
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
fn a_command_is_explained_as_it_is_typed() {
    let world = world();
    for (command, line) in [
        ("rm -rf x", "permissions: rule 1 matches \"rm -rf x\""),
        ("ls", "permissions: the user is asked about \"ls\""),
    ] {
        let explain = ["--command", command, "--manifest", "acp-chain.toml"];
        let said = world.do_run(&[&EXPLAIN[..], &explain].concat());
        assert!(said.contains(line), "{said}\nlacks\n{line}");
    }
}

#[test]
fn a_tool_before_it_runs_is_explained_with_what_becomes_of_it() {
    let world = world();
    for (command, lines) in [
        (
            "git log",
            [
                "permissions: rule 3 matches \"git log\"",
                "permissions: rule 3: \"git log\" runs, unless the agent asks",
            ],
        ),
        (
            "rm -rf x",
            [
                "permissions: rule 1 matches \"rm -rf x\"",
                "permissions: rule 1: refused \"rm -rf x\" before it ran",
            ],
        ),
        (
            "make all",
            [
                "permissions: rule 4 matches \"make all\"",
                "permissions: rule 4: \"make all\" waits for the user's permission",
            ],
        ),
        (
            "rm $(x",
            [
                "permissions: rule 1 may match \"rm $(x\", so the user is asked: ",
                "permissions: \"rm $(x\" waits for the user's permission",
            ],
        ),
        (
            "ls",
            [
                "permissions: no rule matches \"ls\"",
                "permissions: \"ls\" runs, unless the agent asks",
            ],
        ),
    ] {
        let params = reported(command);
        let request = json!({ "method": "_acp-chain/hook/before_tool", "params": params });
        for input in [&params, &request] {
            let said = explained(&world, input);
            for line in lines {
                assert!(said.contains(line), "{said}\nlacks\n{line}");
            }
        }
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
        crosses(
            "agent",
            "permissions",
            "request",
            "_acp-chain/hook/before_tool",
            json!({ "request": 6, "session": "s9", "params": reported("git log") }),
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
    let said = world.do_run(&explain("trace.jsonl:6"));
    assert!(
        said.contains("permissions: rule 3: \"git log\" runs, unless the agent asks"),
        "{said}"
    );
    let said = world.fail(&explain("trace.jsonl:4"));
    let neither = "trace.jsonl:4: this line is neither a permission request nor a tool that is about to run; \
                   the trace has none up to there";
    assert!(said.contains(neither), "{said}");
    let said = world.fail(&explain("trace.jsonl"));
    let lines =
        "it is a trace, so name a line, as in `trace.jsonl:42`; it has requests in the lines 5, 6";
    assert!(said.contains(lines), "{said}");
    let said = world.fail(&explain("trace.jsonl:9"));
    let missing = "trace.jsonl:9: there is no such line, the last one is 6; \
                   up to there the trace has them in the lines 5, 6";
    assert!(said.contains(missing), "{said}");
}
