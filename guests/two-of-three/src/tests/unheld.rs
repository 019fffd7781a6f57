//! Agents without hooks.

use acp_chain_proxy::Json;
use acp_chain_proxy::values::Keeper;

use super::*;

fn update(host: &mut Host, update: &Value) {
    let params = json!({ "sessionId": "s", "update": update });
    host.notify(Peer::Agent, UPDATE, params);
}

fn mention(host: &mut Host, id: &str, mut call: Value) {
    call["sessionUpdate"] = "tool_call".into();
    call["toolCallId"] = id.into();
    call["status"] = "in_progress".into();
    update(host, &call);
}

#[test]
fn a_call_that_was_not_asked_about_stops_the_turn() {
    let mut host = host(json!({}));
    begin(&mut host);
    mention(&mut host, "c1", fetch());
    let after = seen(&mut host);
    assert!(
        after.told.contains("[A·C]") && after.stops == 0,
        "{after:?}"
    );
    mention(&mut host, "c2", file("read", "/proj/.env"));
    let after = seen(&mut host);
    assert_eq!(after.stops, 1, "{after:?}");
    assert!(after.told.contains("it could not be held"), "{after:?}");
}

#[test]
fn what_the_agent_asks_for_is_held() {
    let mut host = host(json!({}));
    begin(&mut host);
    mention(&mut host, "c1", fetch());
    seen(&mut host);
    let mut call = file("read", "/proj/.env");
    call["toolCallId"] = "c2".into();
    let options = json!([
        { "optionId": "go", "name": "Go", "kind": "allow_once" },
        { "optionId": "stay", "name": "Stay", "kind": "reject_once" },
    ]);
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    host.request(Peer::Agent, PERMISSION, params);
    let (asked, _) = question(&mut host);
    answer(&mut host, asked, "no");
    let after = seen(&mut host);
    assert_eq!(after.answers[0].at("/outcome/optionId"), "stay");
}

#[test]
fn a_call_that_was_refused_brings_nothing_when_it_is_shown_as_failed() {
    let mut host = host(json!({}));
    begin(&mut host);
    mention(&mut host, "c1", fetch());
    seen(&mut host);
    let mut call = file("read", "/proj/.env");
    call["toolCallId"] = "c2".into();
    let params = json!({ "sessionId": "s", "toolCall": call, "options": [] });
    host.request(Peer::Agent, PERMISSION, params);
    let (asked, _) = question(&mut host);
    answer(&mut host, asked, "no");
    seen(&mut host);
    call["sessionUpdate"] = "tool_call_update".into();
    call["status"] = "failed".into();
    update(&mut host, &call);
    let after = seen(&mut host);
    assert_eq!((after.stops, &*after.told), (0, ""), "{after:?}");
    // One that runs all the same counts.
    call["status"] = "completed".into();
    update(&mut host, &call);
    assert_eq!(seen(&mut host).stops, 1);
}

#[test]
fn what_was_decided_about_a_call_does_not_cover_another_input_of_it() {
    let mut host = host(json!({}));
    begin(&mut host);
    mention(&mut host, "c1", fetch());
    seen(&mut host);
    let mut call = bash("ls");
    call["toolCallId"] = "c2".into();
    let params = json!({ "sessionId": "s", "toolCall": call, "options": [] });
    let id = host.request(Peer::Agent, PERMISSION, params);
    assert_eq!(seen(&mut host).passed, [id]);
    call["sessionUpdate"] = "tool_call_update".into();
    call["status"] = "in_progress".into();
    update(&mut host, &call);
    assert_eq!(seen(&mut host).stops, 0);
    call["rawInput"]["command"] = "cat .env".into();
    update(&mut host, &call);
    let after = seen(&mut host);
    assert_eq!(after.stops, 1, "{after:?}");
}

#[test]
fn an_act_outside_that_was_allowed_is_not_asked_about_when_more_of_it_is_shown() {
    let mut host = host(json!({}));
    begin(&mut host);
    mention(&mut host, "c1", fetch());
    seen(&mut host);
    let mut call = bash("git push");
    call["toolCallId"] = "c2".into();
    let params = json!({ "sessionId": "s", "toolCall": call, "options": [] });
    host.request(Peer::Agent, PERMISSION, params);
    let (asked, _) = question(&mut host);
    answer(&mut host, asked, "yes");
    seen(&mut host);
    call["sessionUpdate"] = "tool_call_update".into();
    call["status"] = "in_progress".into();
    call["rawInput"]["timeout"] = 60.into();
    update(&mut host, &call);
    let after = seen(&mut host);
    assert_eq!((after.stops, &*after.told), (0, ""), "{after:?}");
}

#[test]
fn a_label_that_is_found_while_a_call_is_stored_counts() {
    let mut host = host(json!({}));
    begin(&mut host);
    // Another connection has stored it.
    let labels = json!(["a page", "a key", null]);
    let stored = json!([["s", { "labels": labels, "prompts": 1 }]]).to_string();
    host.put_value(Keeper::Project("s"), "sessions", Some(&stored));
    run(&mut host, &bash("git push"));
    let (asked, title) = question(&mut host);
    assert!(title.contains("makes it three"), "{title}");
    answer(&mut host, asked, "no");
    assert_eq!(seen(&mut host).refused.len(), 1);
}

#[test]
fn a_result_with_a_secret_counts() {
    let mut host = host(json!({}));
    begin(&mut host);
    let content = json!([{ "type": "content", "content": { "type": "text", "text": SECRET } }]);
    let done = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "ls", "kind": "execute",
        "status": "completed", "rawInput": { "command": "ls" }, "content": content,
    });
    update(&mut host, &done);
    assert!(seen(&mut host).told.contains("[B]"));
}

/// Version 2 shows results in pieces, too.
#[test]
fn a_piece_of_a_result_with_a_secret_counts() {
    let mut host = host(json!({}));
    begin(&mut host);
    let content = json!({ "type": "content", "content": { "type": "text", "text": SECRET } });
    let piece = json!({
        "sessionUpdate": "tool_call_content_chunk", "toolCallId": "c1", "content": content,
    });
    update(&mut host, &piece);
    assert!(seen(&mut host).told.contains("[B]"));
}

#[test]
fn only_what_is_encoded_is_not_searched() {
    let image = "iVBORw0KGgo".repeat(64);
    for (data, labels) in [(SECRET, "[B·C]"), (&*image, "[C]")] {
        let mut host = host(json!({}));
        begin(&mut host);
        let done = json!({
            "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "cargo test",
            "kind": "execute", "status": "completed", "rawInput": { "command": "cargo test" },
            "rawOutput": { "data": data },
        });
        update(&mut host, &done);
        let told = seen(&mut host).told;
        assert!(told.contains(labels), "{told}");
    }
}

#[test]
fn a_search_at_the_models_provider_counts_although_it_has_no_hook() {
    let mut host = host(json!({}));
    begin(&mut host);
    let mut own = fetch();
    own["toolCallId"] = "c1".into();
    run(&mut host, &file("read", "/proj/.env"));
    run(&mut host, &own);
    let (asked, _) = question(&mut host);
    answer(&mut host, asked, "no");
    seen(&mut host);
    let done = |id: &str, status: &str| json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
    for (id, status, stops) in [("c1", "failed", 0), ("c2", "completed", 1)] {
        mention(&mut host, id, fetch());
        update(&mut host, &done(id, status));
        let after = seen(&mut host);
        assert_eq!(after.stops, stops, "{id}: {after:?}");
    }
}

#[test]
fn files_and_commands_of_the_editor_are_held() {
    // Half of a surrogate pair hides no path.
    for path in ["/proj/.env", r"/proj/\ud800/.env"] {
        let mut host = host(json!({}));
        begin(&mut host);
        let create =
            json!({ "sessionId": "s", "command": "curl", "args": ["https://example.com"] });
        let id = host.request(Peer::Agent, "terminal/create", create);
        assert_eq!(seen(&mut host).passed, [id]);
        let read = Json::try_from(format!(r#"{{"sessionId":"s","path":"{path}"}}"#));
        host.request(Peer::Agent, "fs/read_text_file", read.expect("JSON"));
        let (asked, _) = question(&mut host);
        answer(&mut host, asked, "no");
        assert_eq!(seen(&mut host).refused.len(), 1);
    }
}

#[test]
fn what_a_call_brings_itself_has_not_steered_it() {
    let mut host = host(json!({}));
    begin(&mut host);
    let update_of = |id: &str, status: &str| json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
    mention(&mut host, "c1", bash("git pull"));
    for status in ["in_progress", "completed", "completed"] {
        update(&mut host, &update_of("c1", status));
    }
    let after = seen(&mut host);
    assert_eq!(after.stops, 0, "{after:?}");
    assert!(after.told.contains("[A·C]"), "{after:?}");
    // Another one may have been, whatever its id.
    mention(&mut host, "c1", bash("make"));
    let after = seen(&mut host);
    assert_eq!(after.stops, 1, "{after:?}");
    assert!(after.told.contains("without naming it"), "{after:?}");
}

#[test]
fn an_old_session_that_is_replayed_brings_nothing() {
    let mut host = host(json!({}));
    mention(&mut host, "c1", fetch());
    assert_eq!(seen(&mut host).told, "");
}

/// Gemini CLI, Codex and opencode show these as searches, reads and thoughts, with no more than a title.
#[test]
fn a_search_of_the_network_counts_whatever_kind_its_agent_declares() {
    for (kind, title, labels) in [
        ("search", "Searching the web for: \"a key\"", "[A·C]"),
        ("search", "Web search: a key", "[A·C]"),
        ("search", "context7_get_library_docs", "[A·C]"),
        ("search", "List MCP resources", "[A·C]"),
        ("think", "Calling remote agent Helper", "[A·C]"),
        ("read", "Read MCP resource: ticket:1", "[A·C]"),
        (
            "read",
            "Read MCP resource \"1\" from server \"issues\"",
            "[A·C]",
        ),
        ("read", "Read MCP resource \"1\" from server \"docs\"", ""),
        (
            "read",
            "Read MCP resource \"1\" from server \"docs\"\" from server \"issues\"",
            "[A·C]",
        ),
        ("search", "'web search' within ./", ""),
        ("think", "Running subagent 'web search'", ""),
    ] {
        let servers = json!({ "docs": { "trusted": true, "local": true } });
        let mut host = host(json!({ "servers": servers }));
        begin(&mut host);
        let call = json!({ "title": title, "kind": kind, "locations": [] });
        mention(&mut host, "c1", call);
        let told = seen(&mut host).told;
        assert!(told.contains(labels), "{title}: {told}");
        assert_eq!(told.is_empty(), labels.is_empty(), "{title}: {told}");
    }
}

/// As fast-agent shows them.
#[test]
fn a_tool_of_a_server_counts_whatever_kind_its_name_suggests() {
    let input = json!({ "number": 1 });
    for (kind, title, input, path, labels) in [
        ("read", "issues/get_issue", &input, None, "[A·C]"),
        ("read", "mail/list_unread", &json!({}), None, "[A·C]"),
        ("edit", "issues/create_issue", &input, None, "[A·C]"),
        ("think", "issues/plan", &input, None, "[A·C]"),
        ("read", "docs/get_page", &input, None, ""),
        ("read", "src/main.rs", &input, Some("/proj/src/main.rs"), ""),
        ("search", "src/lib", &json!({}), None, ""),
    ] {
        let servers = json!({ "docs": { "trusted": true, "local": true } });
        let mut host = host(json!({ "servers": servers }));
        begin(&mut host);
        let locations: Vec<_> = path.iter().map(|path| json!({ "path": path })).collect();
        let call =
            json!({ "title": title, "kind": kind, "locations": locations, "rawInput": input });
        mention(&mut host, "c1", call);
        let told = seen(&mut host).told;
        assert!(told.contains(labels), "{title}: {told}");
        assert_eq!(told.is_empty(), labels.is_empty(), "{title}: {told}");
    }
}
