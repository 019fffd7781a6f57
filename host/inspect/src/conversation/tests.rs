//! Turns, as they are told.

use serde_json::{Value, json};

use super::reading::Reading;

/// A turn of these lines, without their `connection` and `session`.
fn told(lines: &[Value]) -> Vec<Value> {
    let mut reading = Reading::default();
    for (row, line) in (0..).zip(lines) {
        let mut line = line.clone();
        line["connection"] = "c".into();
        line["session"] = "s".into();
        reading.take(row, &serde_json::from_value(line).unwrap());
    }
    let whole = serde_json::to_value(reading.whole()).unwrap();
    assert_eq!(whole["is_cut"], false);
    whole["items"].as_array().unwrap().clone()
}

fn hop(message: u64, from: &str, to: &str, kind: &str, method: &str, body: Value) -> Value {
    let slot = if kind == "response" {
        "result"
    } else {
        "params"
    };
    json!({
        "message": message, "from": from, "to": to, "kind": kind, "method": method, slot: body,
    })
}

fn asks(message: u64, request: u64, from: &str, to: &str, method: &str, body: Value) -> Value {
    let mut line = hop(message, from, to, "request", method, body);
    line["id"] = request.into();
    line["request"] = request.into();
    line
}

fn answers(message: u64, request: u64, from: &str, to: &str, method: &str, body: Value) -> Value {
    let mut line = hop(message, from, to, "response", method, body);
    line["request"] = request.into();
    line
}

fn prompt(from: &str, to: &str, text: &str) -> Value {
    let body = json!({"prompt": [{"type": "text", "text": text}]});
    asks(1, 1, from, to, "session/prompt", body)
}

fn update(message: u64, from: &str, to: &str, update: Value) -> Value {
    let body = json!({ "update": update });
    hop(message, from, to, "notification", "session/update", body)
}

fn chunk(message: u64, from: &str, to: &str, kind: &str, text: &str) -> Value {
    let body = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    update(message, from, to, body)
}

/// These members of each item.
fn members(items: &[Value], names: &[&str]) -> Value {
    let of = |item: &Value| names.iter().map(|name| item[name].clone()).collect();
    items.iter().map(of).collect::<Vec<Value>>().into()
}

#[test]
fn a_prompt_has_what_each_proxy_made_of_it() {
    let decided = json!({"proxy": "redact", "decision": "change", "message": 1, "request": 1});
    let items = told(&[
        prompt("client", "rules", "KEY"),
        asks(
            2,
            2,
            "rules",
            "client",
            "fs/read_text_file",
            json!({"path": "/a"}),
        ),
        prompt("rules", "redact", "be brief\nKEY"),
        decided,
        prompt("redact", "agent", "be brief\n***"),
        answers(
            3,
            1,
            "agent",
            "client",
            "session/prompt",
            json!({"stopReason": "end_turn"}),
        ),
    ]);
    let expected = json!([["prompt", "KEY", "end_turn"], ["end", "", "end_turn"]]);
    assert_eq!(members(&items, &["part", "text", "status"]), expected);
    let notes = items[0]["notes"].as_array().unwrap();
    let names = ["proxy", "did", "why", "before", "after", "count"];
    let expected = json!([
        ["rules", "ask", "fs/read_text_file /a", null, null, 1],
        ["rules", "change", "", "KEY", "be brief\nKEY", 1],
        ["redact", "change", "", "be brief\nKEY", "be brief\n***", 1],
    ]);
    assert_eq!(members(notes, &names), expected);
}

#[test]
fn chunks_are_one_text_even_if_a_proxy_holds_the_end() {
    let (thought, message) = ("agent_thought_chunk", "agent_message_chunk");
    let items = told(&[
        prompt("client", "agent", "go on"),
        chunk(2, "agent", "client", thought, "hm"),
        chunk(3, "agent", "redact", message, "the K"),
        chunk(3, "redact", "client", message, "the "),
        chunk(4, "agent", "redact", message, "EY"),
        update(
            5,
            "agent",
            "client",
            json!({"sessionUpdate": "plan", "entries": [{"content": "look"}]}),
        ),
        chunk(6, "redact", "client", message, "***"),
        chunk(7, "guard", "client", message, " (by me)"),
    ]);
    let expected = json!([
        ["prompt", "go on"],
        ["thought", "hm"],
        ["message", "the *** (by me)"],
        ["plan", "look"],
    ]);
    assert_eq!(members(&items, &["part", "text"]), expected);
    let added = &items[2]["notes"][0];
    assert_eq!([&added["proxy"], &added["did"]], ["guard", "add"]);
    let changed = &items[2]["notes"][1];
    assert_eq!(
        [&changed["proxy"], &changed["before"], &changed["after"]],
        ["redact", "the KEY", "the ***"]
    );
}

#[test]
fn a_tool_has_its_last_title_and_status_and_a_permission_its_answer() {
    let tool = |more: Value| {
        let mut body = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t"});
        let members = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(members);
        body
    };
    let ask = json!({
        "toolCall": {"toolCallId": "t", "rawInput": {"command": "rm a"}},
        "options": [{"optionId": "1", "name": "Yes"}],
    });
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "1"}});
    let method = "session/request_permission";
    let items = told(&[
        prompt("client", "agent", "go on"),
        update(
            2,
            "agent",
            "client",
            tool(json!({"title": "bash", "status": "pending"})),
        ),
        asks(3, 2, "agent", "guard", method, ask),
        answers(4, 2, "guard", "agent", method, outcome),
        update(
            5,
            "agent",
            "client",
            tool(json!({"title": "rm a", "status": "completed"})),
        ),
    ]);
    let expected = json!([
        ["prompt", "", "", ""],
        ["tool", "rm a", "completed", ""],
        ["permission", "bash", "Yes", "guard"],
    ]);
    let shown: Vec<_> = items
        .iter()
        .map(|item| {
            let title = if item["part"] == "prompt" {
                json!("")
            } else {
                item["title"].clone()
            };
            json!([item["part"], title, item["status"], item["by"]])
        })
        .collect();
    assert_eq!(Value::from(shown), expected);
}

#[test]
fn a_refused_report_of_a_hook_says_who_refused_it() {
    let method = "_acp-chain/hook/before_tool";
    let body = json!({"toolCall": {"title": "bash", "rawInput": {"command": "rm a"}}});
    let mut hook = asks(2, 2, "agent", "guard", method, body);
    hook["id"] = Value::Null;
    let items = told(&[
        prompt("client", "agent", "go on"),
        hook,
        json!({"proxy": "guard", "decision": "refuse", "message": 2, "request": 2, "why": "by rule 3"}),
        asks(
            9,
            9,
            "client",
            "agent",
            "session/prompt",
            json!({"prompt": []}),
        ),
        chunk(
            10,
            "agent",
            "client",
            "agent_message_chunk",
            "of another turn",
        ),
    ]);
    assert_eq!(items.len(), 2);
    let shown = members(&items[1..2], &["part", "title", "text", "status", "by"]);
    assert_eq!(shown, json!([["hook", "bash", "rm a", "refused", "guard"]]));
    assert_eq!(items[1]["notes"][0]["why"], "by rule 3");
}
