//! Labels outlast the connection.

use acp_chain_proxy::values::Keeper;

use super::*;

/// Another connection, on which the agent continues a session and replays so many prompts.
fn continued(host: &mut Host, method: &str, replayed: usize) {
    host.reconnect().expect("right");
    let params = json!({ "sessionId": "s", "cwd": "/proj", "mcpServers": [] });
    let id = host.request(Peer::Client, method, params);
    for number in 0..replayed {
        let content = json!({ "type": "text", "text": format!("prompt {number}") });
        for kind in ["user_message_chunk", "agent_message_chunk"] {
            let update = json!({ "sessionUpdate": kind, "content": content });
            host.notify(
                Peer::Agent,
                UPDATE,
                json!({ "sessionId": "s", "update": update }),
            );
        }
    }
    host.answer(id, json!({}));
    host.sent();
}

#[test]
fn a_loaded_session_has_its_labels() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch()]);
    continued(&mut host, "session/load", 1);
    prompt(&mut host, "go on");
    let told = seen(&mut host).told;
    assert!(
        told.contains("[A·C]") && told.contains("WebFetch"),
        "{told}"
    );
    run(&mut host, &file("read", "/proj/.env"));
    question(&mut host);
}

#[test]
fn a_session_that_went_on_elsewhere_holds_a_and_b() {
    let mut host = host(json!({}));
    begin(&mut host);
    continued(&mut host, "session/load", 2);
    prompt(&mut host, "go on");
    let told = seen(&mut host).told;
    assert!(told.contains("[A·B]"), "{told}");
    run(&mut host, &fetch());
    question(&mut host);
}

#[test]
fn an_unknown_session_holds_a_and_b() {
    let mut host = host(json!({}));
    continued(&mut host, "session/load", 1);
    prompt(&mut host, "go on");
    assert!(seen(&mut host).told.contains("[A·B]"));
}

#[test]
fn without_a_replay_only_the_user_can_say_that_nothing_happened() {
    for (resumed, holds) in [("unknown", true), ("as-stored", false)] {
        let mut host = host(json!({ "resumed": resumed }));
        begin(&mut host);
        continued(&mut host, "session/resume", 0);
        prompt(&mut host, "go on");
        assert_eq!(seen(&mut host).told.contains("[A·B]"), holds);
    }
}

#[test]
fn a_fork_has_the_labels_of_its_session() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch()]);
    // The fake host has a project for each session.
    let stored = host.values(Keeper::Project("s"))["sessions"].clone();
    host.put_value(Keeper::Project("f"), "sessions", Some(&stored));
    let params = json!({ "sessionId": "s", "cwd": "/proj", "mcpServers": [] });
    let id = host.request(Peer::Client, "session/fork", params);
    host.answer(id, json!({ "sessionId": "f" }));
    host.sent();
    prompt_in(&mut host, "f", "go on");
    assert!(seen(&mut host).told.contains("[A·C]"));
}

#[test]
fn a_restarted_instance_goes_on_with_the_labels() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch()]);
    host.restart().expect("right");
    host.sent();
    run(&mut host, &file("read", "/proj/.env"));
    question(&mut host);
}

#[test]
fn a_file_that_was_written_under_a_is_text_from_outside_for_later_sessions() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch(), file("edit", "/proj/notes.md")]);
    assert!(host.values(Keeper::Project("s"))["files"].contains("/proj/notes.md"));
    // The fake host has a project for each session.
    let files = host.values(Keeper::Project("s"))["files"].clone();
    open(&mut host, "t");
    host.put_value(Keeper::Project("t"), "files", Some(&files));
    prompt_in(&mut host, "t", "hello");
    seen(&mut host);
    run_in(&mut host, "t", &file("read", "/proj/src/main.rs"));
    assert_eq!(seen(&mut host).told, "");
    run_in(&mut host, "t", &file("read", "/proj/notes.md"));
    let told = seen(&mut host).told;
    assert!(told.contains("[A]") && told.contains("notes.md"), "{told}");
}

#[test]
fn a_command_that_may_run_what_was_written_under_a_is_asked_about_in_later_sessions() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch(), file("edit", "/proj/tests/send.rs")]);
    // The fake host has a project for each session.
    let files = host.values(Keeper::Project("s"))["files"].clone();
    for (number, command) in ["sh tests/send.sh", "cargo test"].iter().enumerate() {
        let session = format!("t{number}");
        open(&mut host, &session);
        host.put_value(Keeper::Project(&session), "files", Some(&files));
        prompt_in(&mut host, &session, "hello");
        seen(&mut host);
        run_in(&mut host, &session, &bash(command));
        let (_, title) = question(&mut host);
        assert!(title.contains("brings all three"), "{title}");
    }
}

/// Git runs what its settings say: `core.fsmonitor` with each `git status`, also of a repository in a folder.
#[test]
fn a_command_of_git_is_not_local_with_settings_that_were_written_under_a() {
    for written in ["/proj/.git/config", "/proj/docs/HEAD"] {
        let mut host = host(json!({}));
        begin(&mut host);
        pass(&mut host, &[fetch(), file("edit", written)]);
        // The fake host has a project for each session.
        let files = host.values(Keeper::Project("s"))["files"].clone();
        open(&mut host, "t");
        host.put_value(Keeper::Project("t"), "files", Some(&files));
        prompt_in(&mut host, "t", "hello");
        seen(&mut host);
        run_in(&mut host, "t", &bash("ls"));
        assert!(seen(&mut host).told.contains("[A]"), "{written}");
        run_in(&mut host, "t", &bash("cd docs && git status"));
        let (_, title) = question(&mut host);
        assert!(
            title.contains("makes it three") && title.contains("git's settings"),
            "{title}"
        );
    }
}

#[test]
fn only_files_of_the_project_are_kept() {
    let mut host = host(json!({ "assume-private": "never" }));
    begin(&mut host);
    let outside = file("edit", "/tmp/notes.md");
    pass(&mut host, &[fetch(), bash("make 2> /dev/null"), outside]);
    assert!(!host.values(Keeper::Project("s")).contains_key("files"));
    pass(&mut host, &[bash("cd docs && make > log")]);
    assert!(host.values(Keeper::Project("s"))["files"].contains("/proj/docs/log"));
}

#[test]
fn what_agents_read_by_themselves_is_text_from_outside_if_it_was_written_so() {
    let mut host = host(json!({}));
    begin(&mut host);
    pass(&mut host, &[fetch(), file("edit", "/proj/docs/CLAUDE.md")]);
    // The fake host has a project for each session.
    let files = host.values(Keeper::Project("s"))["files"].clone();
    open(&mut host, "t");
    host.put_value(Keeper::Project("t"), "files", Some(&files));
    prompt_in(&mut host, "t", "hello");
    let told = seen(&mut host).told;
    assert!(told.contains("[A]") && told.contains("claude.md"), "{told}");
}

#[test]
fn what_agents_read_by_themselves_in_all_projects_is_so_too() {
    let memory = json!({
        "title": "save_memory", "kind": "edit", "locations": [], "rawInput": { "fact": "a" },
    });
    for call in [file("edit", "/home/me/.claude/CLAUDE.md"), memory] {
        let mut host = host(json!({}));
        begin(&mut host);
        pass(&mut host, std::slice::from_ref(&call));
        assert!(!host.values(Keeper::User).contains_key("files"));
        pass(&mut host, &[fetch(), call]);
        open(&mut host, "t");
        prompt_in(&mut host, "t", "hello");
        let told = seen(&mut host).told;
        assert!(
            told.contains("[A]") && told.contains("read by themselves"),
            "{told}"
        );
        // The user has seen it.
        prompt_in(&mut host, "t", "proxy: clear files");
        let (asked, _) = question(&mut host);
        answer(&mut host, asked, "yes");
        let told = seen(&mut host).told;
        assert!(told.contains("cleared") && told.contains("files"), "{told}");
        open(&mut host, "u");
        prompt_in(&mut host, "u", "hello");
        assert_eq!(seen(&mut host).told, "");
    }
}

#[test]
fn what_cannot_be_stored_does_not_pass() {
    let mut host = host(json!({}));
    begin(&mut host);
    host.refuse_values("disk full");
    run(&mut host, &fetch());
    let after = seen(&mut host);
    assert!(
        after.refused[0].contains("cannot be stored: disk full"),
        "{after:?}"
    );
    prompt(&mut host, "hello");
    let after = seen(&mut host);
    assert!(
        after.passed.is_empty() && after.told.contains("disk full"),
        "{after:?}"
    );
    host.accept_values();
    begin(&mut host);
}

#[test]
fn what_is_stored_in_an_unknown_form_is_an_error_and_stays() {
    let mut host = host(json!({}));
    host.put_value(Keeper::Project("s"), "sessions", Some("7"));
    prompt(&mut host, "hello");
    assert!(seen(&mut host).passed.is_empty());
    assert_eq!(host.values(Keeper::Project("s"))["sessions"], "7");
}

#[test]
fn what_is_stored_is_bounded() {
    let mut host = host(json!({}));
    let label = json!(["x".repeat(160), null, null]);
    let many: Vec<_> = (0..290)
        .map(|number| json!([format!("s{number}"), { "labels": label, "prompts": 1 }]))
        .collect();
    let stored = serde_json::to_string(&many).expect("JSON");
    host.put_value(Keeper::Project("s"), "sessions", Some(&stored));
    begin(&mut host);
    let now = host.values(Keeper::Project("s"))["sessions"].clone();
    assert!(
        now.len() <= 60 * 1024 && now.contains("\"s\""),
        "{}",
        now.len()
    );
}
