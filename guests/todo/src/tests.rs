use acp_chain_proxy::Peer;
use acp_chain_proxy::testing::{Host, SentKind, SentMessage};
use serde_json::{Value, json};

use super::Todo;
use super::list::{LONGEST_TASK, MOST_TASKS};

/// The powers in the README.
const LEAST: &[&str] = &["capabilities.read", "plans.show", "tools"];

fn host() -> Host {
    let mut host = Host::start_exported::<Todo>(json!({})).expect("takes no configuration");
    host.powers(LEAST);
    host
}

/// Calls a tool for the session `s`.
fn call(host: &mut Host, name: &str, arguments: Value) -> Value {
    call_for(host, "s", name, arguments)
}

fn call_for(host: &mut Host, session: &str, name: &str, arguments: Value) -> Value {
    let call = host.call_tool(Some(session), name, arguments);
    let outcome = host.result(call).expect("no tool waits");
    outcome.expect("no error of the protocol")
}

fn add(host: &mut Host, tasks: &[&str]) -> Value {
    let tasks: Vec<_> = tasks.iter().map(|task| json!({ "text": task })).collect();
    call(host, "add", json!({ "tasks": tasks }))
}

fn list(host: &mut Host) -> Value {
    call(host, "list", json!({}))["structuredContent"]["tasks"].clone()
}

fn texts(tasks: &Value) -> Vec<&str> {
    let tasks = tasks.as_array().expect("tasks");
    tasks
        .iter()
        .map(|task| task["text"].as_str().expect("a text"))
        .collect()
}

fn failure(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().expect("a text")
}

fn plans(sent: &[SentMessage]) -> Vec<Value> {
    sent.iter().map(|sent| sent.at("/update/entries")).collect()
}

#[test]
fn several_tasks_are_added_at_once_and_shown_as_a_plan() {
    let mut host = host();
    let tasks = json!([{ "text": "build" }, { "text": " run\nit ", "priority": "high" }]);
    let result = call(&mut host, "add", json!({ "tasks": tasks }));
    assert_eq!(
        result["structuredContent"],
        json!({ "open": 2, "tasks": [
            { "id": 1, "text": "build", "status": "pending", "priority": "medium" },
            { "id": 2, "text": "run it", "status": "pending", "priority": "high" },
        ] })
    );
    let sent = host.sent();
    assert_eq!(
        (sent.len(), sent[0].to, sent[0].what),
        (1, Peer::Client, SentKind::Notification)
    );
    assert_eq!(
        (sent[0].method.as_str(), sent[0].at("/sessionId")),
        ("session/update", json!("s"))
    );
    assert_eq!(
        sent[0].at("/update"),
        json!({ "sessionUpdate": "plan", "entries": [
            { "content": "build", "status": "pending", "priority": "medium" },
            { "content": "run it", "status": "pending", "priority": "high" },
        ] })
    );
}

#[test]
fn a_plan_is_shown_whenever_the_list_changes_and_only_then() {
    let mut host = host();
    add(&mut host, &["a", "b"]);
    call(
        &mut host,
        "update",
        json!({ "changes": [{ "id": 1, "status": "in_progress" }] }),
    );
    call(
        &mut host,
        "update",
        json!({ "changes": [{ "id": 1, "status": "completed", "text": "A" }] }),
    );
    call(&mut host, "remove", json!({ "completed": true }));
    list(&mut host);
    call(&mut host, "remove", json!({ "ids": [9] }));
    let plans = plans(&host.sent());
    let seen: Vec<_> = plans
        .iter()
        .map(|plan| (&plan[0]["content"], &plan[0]["status"]))
        .collect();
    let seen = json!(seen);
    assert_eq!(
        seen,
        json!([
            ["a", "pending"],
            ["a", "in_progress"],
            ["A", "completed"],
            ["b", "pending"]
        ])
    );
}

#[test]
fn ids_are_stable_and_never_reused() {
    let mut host = host();
    add(&mut host, &["a", "b", "c"]);
    call(&mut host, "remove", json!({ "ids": [3, 1] }));
    add(&mut host, &["d"]);
    let tasks = list(&mut host);
    assert_eq!((&tasks[0]["id"], &tasks[1]["id"]), (&json!(2), &json!(4)));
}

#[test]
fn a_change_that_cannot_be_made_in_full_is_not_made() {
    let mut host = host();
    add(&mut host, &["a", "b"]);
    let before = list(&mut host);
    let changes = json!([{ "id": 1, "status": "completed" }, { "id": 7, "status": "completed" }]);
    let result = call(&mut host, "update", json!({ "changes": changes }));
    assert_eq!(
        failure(&result),
        "nothing is changed: there is no task 7; there are 1, 2"
    );
    failure(&call(&mut host, "remove", json!({ "ids": [1, 7] })));
    failure(&add(&mut host, &["c", " "]));
    assert_eq!(list(&mut host), before);
}

#[test]
fn sessions_have_lists_of_their_own() {
    let mut host = host();
    add(&mut host, &["a"]);
    call_for(&mut host, "t", "add", json!({ "tasks": [{ "text": "b" }] }));
    assert_eq!(texts(&list(&mut host)), ["a"]);
    assert_eq!(host.sent()[1].at("/sessionId"), "t");
}

#[test]
fn there_is_no_list_before_the_session_is_known() {
    let mut host = host();
    let call = host.call_tool(None, "add", json!({ "tasks": [{ "text": "a" }] }));
    let result = host.result(call).expect("it is done").expect("a result");
    assert!(failure(&result).contains("call again"));
    assert_eq!(host.sent().len(), 0);
}

#[test]
fn a_new_instance_has_the_lists_of_the_old_one() {
    let mut host = host();
    add(&mut host, &["a", "b"]);
    call(&mut host, "remove", json!({ "ids": [2] }));
    host.restart().expect("restores the saved state");
    add(&mut host, &["c"]);
    let tasks = list(&mut host);
    assert_eq!(texts(&tasks), ["a", "c"]);
    assert_eq!(tasks[1]["id"], 3);
}

#[test]
fn without_the_power_to_show_a_plan_the_tools_work_and_note_it() {
    let mut host = host();
    host.powers(&["tools"]);
    let result = add(&mut host, &["a"]);
    let notes = &result["structuredContent"]["notes"];
    assert!(
        notes[0].as_str().expect("a note").contains("plans.show"),
        "{notes}"
    );
    assert_eq!(texts(&list(&mut host)), ["a"]);
    assert_eq!(host.sent().len(), 0);
}

#[test]
fn a_list_and_its_tasks_have_bounds() {
    let mut host = host();
    failure(&add(&mut host, &["x".repeat(LONGEST_TASK + 1).as_str()]));
    add(
        &mut host,
        &["x".repeat(LONGEST_TASK).as_str()].repeat(MOST_TASKS - 1),
    );
    assert!(failure(&add(&mut host, &["a", "b"])).contains("room for 1 more"));
    add(&mut host, &["a"]);
    assert_eq!(list(&mut host).as_array().map(Vec::len), Some(MOST_TASKS));
}

#[test]
fn the_lists_of_many_sessions_fit_into_the_saved_state() {
    let mut host = host();
    let task = json!({ "text": "x".repeat(LONGEST_TASK), "status": "in_progress" });
    let tasks = json!({ "tasks": vec![task; MOST_TASKS] });
    for session in 0..40 {
        let result = call_for(&mut host, &session.to_string(), "add", tasks.clone());
        assert_eq!(result["structuredContent"].get("notes"), None);
    }
    assert_eq!(
        call_for(&mut host, "0", "list", json!({}))["structuredContent"]["open"],
        0
    );
    assert_eq!(
        call_for(&mut host, "39", "list", json!({}))["structuredContent"]["open"],
        MOST_TASKS
    );
}

#[test]
fn in_version_2_the_list_is_a_plan_of_its_own_also_after_a_restart() {
    let mut host = host();
    let id = host.request(Peer::Client, "initialize", json!({ "protocolVersion": 2 }));
    host.answer(id, json!({ "protocolVersion": 2 }));
    host.sent();
    for restart in [false, true] {
        if restart {
            host.restart().expect("restores the saved state");
            host.sent();
        }
        add(&mut host, &["build"]);
        let update = host.sent()[0].at("/update");
        assert_eq!(update["sessionUpdate"], "plan_update");
        assert_eq!(
            (&update["plan"]["type"], &update["plan"]["planId"]),
            (&json!("items"), &json!("acp-chain/proxy"))
        );
        let entry = json!({ "content": "build", "priority": "medium", "status": "pending" });
        assert_eq!(update["plan"]["entries"][0], entry);
    }
}
