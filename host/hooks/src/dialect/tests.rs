//! What each agent reports, what proxies see of it, and what each is answered.

use std::ffi::OsString;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ALL, dialect, gemini};
use crate::{
    Attachment, CannotAttach, Decision, Kind, MalformedReport, Moment, OverlayContent, Run,
};

fn params(name: &str, event: &str, report: &Value) -> Value {
    let dialect = dialect(name).unwrap();
    let read = dialect.read(event, &report.to_string()).unwrap();
    let params = read.params("session-1", dialect.changes_input).unwrap();
    assert_eq!(read.decision(&params), Ok(Decision::Pass));
    serde_json::from_str(&params).unwrap()
}

fn answer(name: &str, event: &str, report: &Value, decision: Decision) -> Value {
    let answer = dialect(name).unwrap();
    let answer = answer
        .answer(event, &report.to_string(), &decision)
        .unwrap();
    assert_eq!((answer.code, &*answer.stderr), (0, ""));
    serde_json::from_str(&answer.stdout).unwrap()
}

#[test]
fn a_command_of_claude_is_a_tool_call_in_the_form_of_the_protocol() {
    let report = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_use_id": "toolu_1", "cwd": "/work",
        "tool_name": "Bash", "tool_input": { "command": "make", "description": "Builds" },
    });
    let expected = json!({
        "sessionId": "session-1",
        "toolCall": {
            "toolCallId": "toolu_1", "title": "Bash", "kind": "execute", "status": "pending", "locations": [],
            "rawInput": { "command": "make", "description": "Builds" },
        },
        "cwd": "/work",
        "canChange": true,
    });
    assert_eq!(params("claude", "PreToolUse", &report), expected);
}

#[test]
fn a_tool_of_a_server_is_none_of_the_agents_own_whatever_its_name_is() {
    let report = |server: Option<&str>| {
        let mut report = json!({ "tool": "apply_patch", "input": {} });
        if let Some(server) = server {
            report["server"] = server.into();
        }
        params("opencode", "before_tool", &report)
    };
    for (told, server, kind) in [
        (None, Value::Null, "edit"),
        (Some("apply"), json!("apply"), "other"),
        // It is not known whose it is.
        (Some(""), Value::Null, "other"),
    ] {
        let params = report(told);
        assert_eq!(params["server"], server, "{params}");
        assert_eq!(params["toolCall"]["kind"], kind, "{params}");
    }
}

#[test]
fn the_files_of_an_input_are_locations() {
    let read = json!({ "tool_name": "Read", "tool_input": { "file_path": "/work/.env" } });
    let params_of_read = params("claude", "PreToolUse", &read);
    assert_eq!(
        params_of_read["toolCall"]["locations"],
        json!([{ "path": "/work/.env" }])
    );
    let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n*** Add File: c.rs\n*** End Patch";
    let patch = json!({ "tool_name": "apply_patch", "tool_input": { "command": patch } });
    let expected = json!([{ "path": "a.rs" }, { "path": "b.rs" }, { "path": "c.rs" }]);
    assert_eq!(
        params("codex", "PreToolUse", &patch)["toolCall"]["locations"],
        expected
    );
    let files =
        json!({ "tool": "read_files", "input": { "files": [{ "path": "a", "lines": 3 }] } });
    let expected = json!([{ "path": "a" }]);
    assert_eq!(
        params("cline", "before_tool", &files)["toolCall"]["locations"],
        expected
    );
}

/// As Auggie's are.
#[test]
fn an_input_in_several_lines_is_not_taken_for_a_changed_one() {
    let input = json!({ "command": "echo 'a\nb'", "wait": true });
    let lines = format!("{input:#}");
    assert!(lines.contains('\n'));
    for written in [
        lines.clone(),
        lines.replace('\n', "\r\n"),
        json!(lines).to_string(),
    ] {
        let report =
            format!("{{\n  \"tool_name\": \"launch-process\",\n  \"tool_input\": {written}\n}}");
        let event = dialect("auggie")
            .unwrap()
            .read("PreToolUse", &report)
            .unwrap();
        let params = event.params("session-1", true).unwrap();
        assert!(!params.contains(['\n', '\r']), "{params}");
        assert_eq!(event.decision(&params), Ok(Decision::Pass));
        let read: Value = serde_json::from_str(&params).unwrap();
        assert_eq!(read["toolCall"]["rawInput"], input);
    }
}

#[test]
fn a_tool_of_a_server_names_the_server_and_has_no_kind() {
    let report = json!({ "tool_name": "mcp__github__create_issue", "tool_input": {} });
    let params = params("codex", "PreToolUse", &report);
    assert_eq!(
        (&params["server"], &params["toolCall"]["kind"]),
        (&json!("github"), &json!("other"))
    );
}

#[test]
fn a_session_of_a_subagent_names_those_that_it_is_within() {
    let opencode = dialect("opencode").unwrap();
    for (parents, expected) in [
        (r#","parents":["parent","root"]"#, &["parent", "root"][..]),
        (r#","parents":[]"#, &[]),
        (r#","parents":"root""#, &[]),
        ("", &[]),
    ] {
        let report = format!(r#"{{"session":"child","tool":"bash","input":{{}}{parents}}}"#);
        let event = opencode.read("before_tool", &report).unwrap();
        assert_eq!(event.session.as_deref(), Some("child"));
        assert_eq!(event.parents, expected, "{report}");
    }
    let many = vec!["s"; 8192];
    let report = json!({ "session": "child", "tool": "bash", "input": {}, "parents": many });
    let read = opencode.read("before_tool", &report.to_string());
    assert_eq!(read.unwrap_err(), MalformedReport::TooMany("parents"));
}

#[test]
fn an_input_that_copilot_writes_as_text_is_an_object() {
    let report =
        json!({ "sessionId": "s", "toolName": "bash", "toolArgs": "{\"command\":\"make\"}" });
    let params = params("copilot", "preToolUse", &report);
    assert_eq!(params["toolCall"]["rawInput"], json!({ "command": "make" }));
}

#[test]
fn a_result_keeps_its_form_and_its_other_bytes_when_texts_change() {
    let report = r#"{"tool_name":"Bash","tool_input":{},"tool_response":{"stdout":"key=1","stderr":"","interrupted":false,"n":1.0}}"#;
    let claude = dialect("claude").unwrap();
    let event = claude.read("PostToolUse", report).unwrap();
    assert_eq!(event.output, ["", "key=1"]);
    let changed = Decision::Output(vec![String::new(), "key=[hidden]".to_owned()]);
    let answer = claude.answer("PostToolUse", report, &changed).unwrap();
    let expected = r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"key=[hidden]","stderr":"","interrupted":false,"n":1.0}}}"#;
    assert_eq!(answer.stdout, expected);
}

#[test]
fn what_an_agent_cannot_do_is_an_error_and_not_nothing() {
    let failed = json!({ "tool_name": "Bash", "tool_input": {}, "error": "key=1" }).to_string();
    let output = Decision::Output(vec!["key=[hidden]".to_owned()]);
    let input = Decision::Input("{}".to_owned());
    for (name, event, decision, expected) in [
        (
            "claude",
            "PostToolUseFailure",
            &output,
            "the hooks of claude cannot change this result",
        ),
        (
            "auggie",
            "PostToolUse",
            &output,
            "the hooks of auggie cannot change this result",
        ),
        (
            "qwen",
            "PreToolUse",
            &input,
            "the hooks of qwen cannot change the input of a tool",
        ),
    ] {
        let refused = dialect(name).unwrap().answer(event, &failed, decision);
        assert_eq!(refused.unwrap_err().to_string(), expected);
    }
}

#[test]
fn each_agent_is_refused_in_its_own_form() {
    let refuse = || Decision::Refuse("no".to_owned());
    let denied = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
    } });
    for name in ["auggie", "claude", "codex", "codex-older", "qwen"] {
        assert_eq!(
            answer(name, "PreToolUse", &json!({}), refuse()),
            denied,
            "{name}"
        );
    }
    let denied = json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" });
    assert_eq!(
        answer("copilot", "preToolUse", &json!({}), refuse()),
        denied
    );
    for name in ["cline", "kilo", "opencode", "pi"] {
        assert_eq!(
            answer(name, "before_tool", &json!({}), refuse()),
            json!({ "refuse": "no" }),
            "{name}"
        );
    }
}

/// Codex takes a block without a reason for none, and runs the tool.
#[test]
fn a_refusal_without_a_reason_is_one_all_the_same() {
    for reason in ["", " \n\u{2003}"] {
        for dialect in ALL {
            for (event, moment) in dialect.events {
                let refuse = Decision::Refuse(reason.to_owned());
                let report = r#"{"tool_response":"a","toolResult":"a","output":["a"]}"#;
                let answered = dialect.answer(event, report, &refuse);
                let said = answered.map(|answer| answer.stdout).unwrap_or_default();
                let is_said = said.contains("without a reason");
                let is_refused = is_said || *moment != Moment::BeforeTool && said.is_empty();
                assert!(is_refused, "{} {event}: {said}", dialect.name);
            }
        }
    }
}

#[test]
fn a_result_of_which_nothing_is_left_does_not_reach_the_model_of_codex() {
    let report = json!({ "tool_name": "Bash", "tool_input": {}, "tool_response": "key=1" });
    for text in ["", " \n"] {
        let left = Decision::Output(vec![text.to_owned()]);
        let block = answer("codex", "PostToolUse", &report, left);
        assert_eq!(block["decision"], "block");
        let reason = block["reason"].as_str().unwrap();
        assert!(reason.contains("no text"), "{reason}");
    }
}

/// An agent that takes it for no change runs the tool with the input of the model.
#[test]
fn an_input_of_another_type_is_an_error_and_not_nothing() {
    for (name, event, report) in [
        (
            "claude",
            "PreToolUse",
            json!({ "tool_name": "Bash", "tool_input": { "command": "rm" } }),
        ),
        (
            "copilot",
            "preToolUse",
            json!({ "toolName": "bash", "toolArgs": "{\"command\":\"rm\"}" }),
        ),
        (
            "opencode",
            "before_tool",
            json!({ "tool": "bash", "input": { "command": "rm" } }),
        ),
    ] {
        let report = report.to_string();
        for input in ["null", "false", "0", "[]"] {
            let change = Decision::Input(input.to_owned());
            let answered = dialect(name).unwrap().answer(event, &report, &change);
            assert!(answered.is_err(), "{name} {input}");
        }
    }
}

#[test]
fn each_agent_is_changed_in_its_own_form() {
    let change = || Decision::Input(r#"{"command":"true"}"#.to_owned());
    let input = json!({ "command": "true" });
    let claude =
        json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "updatedInput": input } });
    assert_eq!(answer("claude", "PreToolUse", &json!({}), change()), claude);
    let codex = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": input,
    } });
    assert_eq!(answer("codex", "PreToolUse", &json!({}), change()), codex);
    let copilot = json!({ "permissionDecision": "allow", "modifiedArgs": input });
    assert_eq!(
        answer("copilot", "preToolUse", &json!({}), change()),
        copilot
    );
    assert_eq!(
        answer("pi", "before_tool", &json!({}), change()),
        json!({ "input": input })
    );
}

#[test]
fn every_closed_answer_refuses() {
    for dialect in ALL {
        for (event, moment) in dialect.events {
            let closed = dialect.closed(event, "no verdict");
            let said = format!("{}{}", closed.stdout, closed.stderr);
            assert!(
                said.contains("no verdict"),
                "{} {event}: {closed:?}",
                dialect.name
            );
            let denies = closed.stdout.contains("deny");
            assert!(
                closed.code == 2 || denies || *moment == Moment::AfterTool,
                "{closed:?}"
            );
        }
        // An event that no table has may be about a tool that is about to run.
        assert_ne!(
            dialect.closed("Another", "no verdict"),
            crate::Answer::default()
        );
    }
}

#[test]
fn variables_and_headers_of_a_tool_may_differ_in_case() {
    let claude = dialect("claude").unwrap();
    let event = r#"{"tool_name":"Bash","tool_input":{"command":"ls","env":{"no_proxy":"a","NO_PROXY":"b"}},
        "tool_response":{"Via":1,"via":2}}"#;
    for moment in ["PreToolUse", "PostToolUse"] {
        let read = claude.read(moment, event).unwrap();
        assert!(read.input.contains("NO_PROXY"), "{}", read.input);
    }
    let twice = r#"{"tool_name":"Bash","tool_input":{"command":"ls","Command":"rm"}}"#;
    let read = claude.read("PreToolUse", twice);
    assert_eq!(read.unwrap_err(), MalformedReport::Json);
}

#[test]
fn reports_that_are_odd_are_malformed() {
    let claude = dialect("claude").unwrap();
    let read = |event, text| claude.read(event, text).unwrap_err();
    assert_eq!(read("PreToolUse", "{\"tool_name\":"), MalformedReport::Json);
    let twice = r#"{"tool_name":"Read","tool_name":"Bash","tool_input":{}}"#;
    assert_eq!(read("PreToolUse", twice), MalformedReport::Json);
    assert_eq!(read("PreToolUse", "{}"), MalformedReport::Missing("tool"));
    let no_input = r#"{"tool_name":"Bash"}"#;
    assert_eq!(
        read("PreToolUse", no_input),
        MalformedReport::Missing("input")
    );
    assert_eq!(
        read("Other", "{}"),
        MalformedReport::Event("Other".to_owned())
    );
}

/// A server `plan` with a tool `exit` could give it.
#[test]
fn no_harmless_tool_of_opencode_has_a_name_that_one_of_a_server_could_have() {
    for name in ["opencode", "kilo"] {
        for (tool, kind) in dialect(name).unwrap().tools() {
            let is_harmless = !matches!(kind, Kind::Edit | Kind::Execute | Kind::Fetch);
            assert!(!is_harmless || !tool.contains('_'), "{tool}");
        }
    }
}

/// A server `add` with a tool `tasks` could give it.
#[test]
fn no_tool_of_auggie_has_a_name_that_one_of_a_server_could_have() {
    let tools = dialect("auggie").unwrap().tools();
    let odd: Vec<_> = tools.filter(|(tool, _)| tool.contains('_')).collect();
    assert_eq!(odd, Vec::<(&str, Kind)>::new());
}

/// As the agents offered them to a model, in these versions.
#[test]
fn the_tools_that_agents_offer_have_their_kinds() {
    const OFFERED: &[(&str, Kind, &[&str])] = &[
        (
            "claude",
            Kind::Think,
            &["Agent", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"],
        ),
        ("claude", Kind::Execute, &["Bash", "TaskOutput", "TaskStop"]),
        ("claude", Kind::Edit, &["Edit", "NotebookEdit", "Write"]),
        ("codex", Kind::Think, &["spawn_agent", "update_goal"]),
        (
            "qwen",
            Kind::Execute,
            &["monitor", "run_shell_command", "task_stop"],
        ),
        ("qwen", Kind::Think, &["agent", "get_goal"]),
        ("qwen", Kind::Edit, &["edit", "notebook_edit", "write_file"]),
        ("gemini", Kind::Think, &["invoke_agent", "update_topic"]),
        ("opencode", Kind::Edit, &["apply_patch", "edit", "write"]),
        (
            "copilot",
            Kind::Execute,
            &["bash", "list_bash", "read_bash"],
        ),
        (
            "copilot",
            Kind::Think,
            &["read_agent", "task", "write_agent"],
        ),
        ("cline", Kind::Think, &["spawn_agent"]),
        ("auggie", Kind::Delete, &["remove-files"]),
        ("auggie", Kind::Edit, &["save-file"]),
        ("pi", Kind::Edit, &["edit", "write"]),
    ];
    for (name, kind, tools) in OFFERED {
        for tool in *tools {
            let known = dialect(name).unwrap().kind(tool);
            assert_eq!(known, *kind, "{name} {tool}");
        }
    }
}

/// What may do anything has the kind that rules take for anything.
#[test]
fn a_tool_that_may_do_anything_has_no_kind_of_its_own() {
    for (name, tools) in [
        (
            "claude",
            &["Monitor", "Skill", "Workflow", "CronCreate"][..],
        ),
        ("codex-older", &["spawn_agent"]),
        (
            "qwen",
            &["exec", "skill", "cron_create", "create_sub_session"],
        ),
        ("opencode", &["execute", "skill"]),
        ("auggie", &["sub-agent", "apply_patch"]),
    ] {
        for tool in tools {
            let known = dialect(name).unwrap().kind(tool);
            assert_eq!(known, Kind::Other, "{name} {tool}");
        }
    }
}

#[test]
fn the_names_of_tools_are_unique_and_dialects_are_found() {
    for known in ALL {
        assert_eq!(
            dialect(known.name).map(|found| found.name),
            Some(known.name)
        );
        for (tool, _) in known.tools() {
            let same = known.tools().filter(|(name, _)| *name == tool);
            assert_eq!(same.count(), 1, "{} {tool}", known.name);
        }
        assert_eq!(known.kind("no such tool"), Kind::Other);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z/~\"\u{e9} ]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-z/~]{0,4}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Texts that are put back are the same, and texts that replace others are found in the same order.
    #[test]
    fn texts_are_replaced_where_they_were_found(result in any_json()) {
        let report = json!({ "tool": "t", "input": {}, "output": result }).to_string();
        let pi = dialect("pi").unwrap();
        let found = pi.read("after_tool", &report).unwrap().output;
        let old = result.to_string();
        prop_assert_eq!(crate::texts::with_texts(&old, &found), Some(old.clone()));
        let numbered: Vec<_> = (0..found.len()).map(|number| format!("text {number}")).collect();
        let new = crate::texts::with_texts(&old, &numbered).unwrap();
        let again = crate::texts::Texts::of(&new).unwrap().contents();
        prop_assert_eq!(again, numbered);
    }
}

#[cfg(unix)]
#[test]
fn commands_run_behind_a_prefix_that_nobody_sees() {
    let report = |input: &str| format!(r#"{{"tool_name":"Bash","tool_input":{input}}}"#);
    let own = r#"{"command":"make","description":"Builds"}"#;
    for (name, has_prefix) in [
        ("claude", false),
        ("codex", true),
        ("codex-older", true),
        ("qwen", false),
    ] {
        let dialect = dialect(name).unwrap();
        let before = dialect.read("PreToolUse", &report(own)).unwrap();
        let decide = |decision| dialect.with_prefix(&before, decision);
        let refused = Decision::Refuse("no".to_owned());
        assert_eq!(decide(refused.clone()), refused);
        let changed = decide(Decision::Input(own.to_owned()));
        let shows = |input: &str| format!(r#"{{"title":"make","rawInput":{input}}}"#);
        assert_eq!(dialect.without_prefix(&shows(own)), None, "{name}");
        if !has_prefix {
            assert_eq!(decide(Decision::Pass), Decision::Pass, "{name}");
            assert_eq!(changed, Decision::Input(own.to_owned()), "{name}");
            continue;
        }
        assert_eq!(decide(Decision::Pass), changed, "{name}");
        let Decision::Input(ran) = changed else {
            panic!("{name}");
        };
        let after = dialect.read("PostToolUse", &report(&ran)).unwrap();
        assert_eq!((&*after.input, &*before.input), (own, own), "{name}");
        assert_eq!(dialect.with_prefix(&after, Decision::Pass), Decision::Pass);
        assert_eq!(dialect.without_prefix(&shows(&ran)), Some(shows(own)));
        // What the model writes itself is shown as it is.
        let written = dialect.read("PreToolUse", &report(&ran)).unwrap();
        assert_eq!(written.input, ran, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_command_that_cannot_be_read_is_refused_where_it_needs_a_prefix() {
    let report = r#"{"tool_name":"Bash","tool_input":{"command":["bash"]}}"#;
    let codex = dialect("codex").unwrap();
    let event = codex.read("PreToolUse", report).unwrap();
    let decision = codex.with_prefix(&event, Decision::Pass);
    assert!(matches!(decision, Decision::Refuse(_)), "{decision:?}");
}

/// A run whose user has these variables and files, with a client whose path has a space.
fn attached(name: &str, variables: &[(&str, &str)], files: &[(&str, &str)]) -> Attachment {
    attached_to(name, true, variables, files)
}

/// One with proxies that read results, or without.
fn attached_to(
    name: &str,
    reads_results: bool,
    variables: &[(&str, &str)],
    files: &[(&str, &str)],
) -> Attachment {
    try_attach(name, reads_results, &[], variables, files).unwrap()
}

fn try_attach(
    name: &str,
    reads_results: bool,
    args: &[OsString],
    variables: &[(&str, &str)],
    files: &[(&str, &str)],
) -> Result<Attachment, CannotAttach> {
    try_attach_as(name, (reads_results, false), args, variables, files)
}

/// For proxies that read results or not, and hooks that are required or not.
fn try_attach_as(
    name: &str,
    (reads_results, are_required): (bool, bool),
    args: &[OsString],
    variables: &[(&str, &str)],
    files: &[(&str, &str)],
) -> Result<Attachment, CannotAttach> {
    let client = ["/a b/hook".to_owned()];
    let run = Run {
        client: &client,
        overlay: Path::new("/run/overlay"),
        reads_results,
        are_required,
        args,
        variable: &|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        },
        text: &|path| {
            let found = files.iter().find(|(known, _)| Path::new(known) == path);
            Ok(found.map(|(_, text)| (*text).to_owned()))
        },
        names: &|folder| {
            let paths = files.iter().map(|(path, _)| Path::new(path));
            let below = paths.filter_map(|path| path.strip_prefix(folder).ok()?.iter().next());
            Ok(below
                .map(|name| name.to_string_lossy().into_owned())
                .collect())
        },
    };
    dialect(name).unwrap().attach(&run)
}

const COMMAND: &str = "|| { [ $? = 2 ] || echo 'acp-chain: no decision, refused' >&2; exit 2; }";

#[test]
fn claude_gets_its_hooks_with_the_set_up_of_a_session() {
    let meta = attached("claude", &[], &[]).meta.unwrap();
    let settings = &meta["claudeCode"]["options"]["settings"];
    assert_eq!(settings["disableAllHooks"], false);
    let expected = json!([{ "matcher": "*", "hooks": [{
        "type": "command", "command": format!("'/a b/hook' claude PreToolUse {COMMAND}"), "timeout": 3600,
        "onFailure": "block",
    }] }]);
    assert_eq!(settings["hooks"]["PreToolUse"], expected);
}

#[test]
fn what_switches_hooks_off_is_named() {
    for (name, args, variables, expected) in [
        ("opencode", &["acp", "--pure"][..], &[][..], Some("--pure")),
        ("kilo", &["acp", "--pure"], &[], Some("--pure")),
        ("qwen", &["--acp", "--bare"], &[], Some("--bare")),
        (
            "qwen",
            &["--acp"],
            &[("QWEN_CODE_SAFE_MODE", "TRUE")],
            Some("QWEN_CODE_SAFE_MODE"),
        ),
        (
            "claude",
            &[],
            &[("CLAUDE_CODE_SIMPLE", "1")],
            Some("CLAUDE_CODE_SIMPLE"),
        ),
        ("cline", &["--acp", "--config=/own"], &[], Some("--config")),
        ("cline", &["--config", "/own"], &[], Some("--config")),
        ("claude", &[], &[("CLAUDE_CODE_SIMPLE", " 0 ")], None),
        ("claude", &["--pure"], &[], None),
    ] {
        let args: Vec<_> = args.iter().map(OsString::from).collect();
        let named = match try_attach(name, true, &args, variables, &[]) {
            Err(CannotAttach::SwitchedOff(named)) => Some(named),
            _ => None,
        };
        assert_eq!(named, expected, "{name} {args:?} {variables:?}");
    }
}

/// Claude runs these without a hook.
#[test]
fn commands_in_skills_of_claude_do_not_run_where_hooks_are_required() {
    for (are_required, expected) in [(true, json!(true)), (false, Value::Null)] {
        let attached = try_attach_as("claude", (true, are_required), &[], &[], &[]).unwrap();
        let settings = &attached.meta.unwrap()["claudeCode"]["options"]["settings"];
        assert_eq!(settings["disableSkillShellExecution"], expected);
    }
}

#[test]
fn commands_of_claude_run_behind_what_its_user_has_there_and_ours_if_results_are_read() {
    let theirs = ("/home/me/env.sh", "export A=1 # a comment");
    let variable = ("CLAUDE_ENV_FILE", theirs.0);
    let with_theirs = attached_to("claude", true, &[variable], &[theirs]);
    let ours = attached_to("claude", true, &[("CLAUDE_ENV_FILE", "")], &[]);
    let gone = attached_to("claude", true, &[variable], &[]);
    assert_eq!(gone, ours);
    for (attached, begins) in [
        (with_theirs, "export A=1 # a comment\ntrap '"),
        (ours, "\ntrap '"),
    ] {
        let place = Path::new("/run/overlay").join(&attached.files[0].path);
        let place = place.to_str().unwrap().to_owned();
        assert_eq!(attached.variables, [("CLAUDE_ENV_FILE", place)]);
        let OverlayContent::Text(text) = &attached.files[0].content else {
            panic!("{attached:?}");
        };
        assert!(text.starts_with(begins), "{text}");
    }
    let without = attached_to("claude", false, &[variable], &[theirs]);
    assert!(without.files.is_empty() && without.variables.is_empty());
    assert!(without.meta.is_some());
}

#[test]
fn codex_trusts_the_hooks_of_this_run_and_keeps_what_its_user_configured() {
    let theirs = r#"{"model":"o9","features":{"web":true}}"#;
    let attached = attached("codex", &[("CODEX_CONFIG", theirs)], &[]);
    let (_, config) = &attached.variables[0];
    let config: Value = serde_json::from_str(config).unwrap();
    assert_eq!(
        (&config["model"], &config["features"]),
        (&json!("o9"), &json!({ "hooks": true, "web": true }))
    );
    let keys: Vec<_> = config["hooks"]["state"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    let expected = [
        "post_tool_use",
        "pre_tool_use",
        "session_start",
        "user_prompt_submit",
    ]
    .map(|event| format!("/<session-flags>/config.toml:{event}:0:0"));
    assert_eq!(keys, expected);
}

#[test]
fn an_older_codex_gets_the_same_as_arguments() {
    let attached = attached("codex-older", &[("HOME", "/home/me")], &[]);
    let [_, _, flag, hooks] = &attached.args[..] else {
        panic!("{attached:?}");
    };
    let hooks: toml::Table = hooks.parse().unwrap();
    let hook = &hooks["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!((&**flag, hook["timeout"].as_integer()), ("-c", Some(3600)));
    assert!(!attached.args[3].contains('\n'));
}

#[test]
fn no_profile_of_an_older_codex_switches_hooks_off() {
    let config = "profile = 'own'\n[profiles.own.features]\nhooks = false\n[profiles.other]\nmodel = 'm'\n\
                  [profiles.'a.b'.features]\nhooks = false\n";
    let file = ("/codex/config.toml", config);
    let variables = [("CODEX_HOME", "/codex"), ("HOME", "/home/me")];
    let with = |args: &[&str]| {
        let args: Vec<_> = args.iter().map(OsString::from).collect();
        try_attach("codex-older", true, &args, &variables, &[file])
    };
    let own = "profiles.own.features.hooks=true".to_owned();
    for args in [
        &[][..],
        &["-c", "profile=\"own\""],
        &["--config=profile=own"],
    ] {
        assert!(with(args).unwrap().args.contains(&own), "{args:?}");
    }
    let other = with(&["-c", "profile=other"]).unwrap();
    assert_eq!(other.args.len(), 4);
    let odd = with(&["-cprofile=a.b"]);
    assert!(matches!(odd, Err(CannotAttach::Profile(_))), "{odd:?}");
    // Without the user's folder, nothing is known of profiles.
    let homeless = try_attach("codex-older", true, &[], &[], &[]);
    assert!(
        matches!(homeless, Err(CannotAttach::NoHome)),
        "{homeless:?}"
    );
}

#[test]
fn what_an_administrator_set_for_qwen_stays() {
    let system = r#"{"disableAllHooks":true,"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"audit"}]}]}}"#;
    let attached = attached("qwen", &[], &[("/etc/qwen-code/settings.json", system)]);
    let OverlayContent::Text(text) = &attached.files[0].content else {
        panic!("{attached:?}");
    };
    let settings: Value = serde_json::from_str(text).unwrap();
    assert_eq!(settings["disableAllHooks"], false);
    let hooks = settings["hooks"]["PreToolUse"].as_array().unwrap();
    assert_eq!(
        (hooks.len(), &hooks[0]["hooks"][0]["command"]),
        (2, &json!("audit"))
    );
}

/// Of several hooks or plugins with a name, agents may take only the first.
#[test]
fn no_project_knows_the_names_of_what_is_added() {
    let text = |agent: &str, path: &str| {
        let attached = attached(agent, &[], &[]);
        let mut files = attached.files.into_iter();
        let file = files.find(|file| file.path == Path::new(path)).unwrap();
        let OverlayContent::Text(text) = file.content else {
            panic!("{path} is no text");
        };
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let name_of = |value: &Value| {
        let name = value["name"].as_str().unwrap().to_owned();
        let random = name.strip_prefix("acp-chain-").unwrap();
        assert_eq!(random.len(), 16, "{name}");
        name
    };
    let settings = text("qwen", "settings.json");
    for groups in settings["hooks"].as_object().unwrap().values() {
        name_of(&groups[0]["hooks"][0]);
    }
    name_of(&text("copilot", "plugin/plugin.json"));
    let market = text("auggie", "market/.augment-plugin/marketplace.json");
    let name = name_of(&market);
    assert_eq!(name_of(&market["plugins"][0]), name);
    assert_eq!(market["plugins"][0]["source"], format!("./{name}"));
    let plugin = format!("market/{name}/.augment-plugin/plugin.json");
    assert_eq!(name_of(&text("auggie", &plugin)), name);
    assert!(text("auggie", &format!("market/{name}/hooks/hooks.json"))["hooks"].is_object());
}

#[test]
fn gemini_is_made_to_ask_and_keeps_what_its_user_allows() {
    let files = [
        (
            "/home/me/.gemini/settings.json",
            "{ \"theme\": \"dark\" } // mine",
        ),
        (
            "/home/me/.gemini/policies/auto-saved.toml",
            "[[rule]]\ndecision = \"allow\"",
        ),
        ("/home/me/.gemini/policies/notes.md", "deny"),
    ];
    let attached = attached("gemini", &[("HOME", "/home/me")], &files);
    assert_eq!(
        attached.args,
        ["--admin-policy", "/run/overlay/policy.toml"]
    );
    let OverlayContent::Text(policy) = &attached.files[0].content else {
        panic!("{attached:?}");
    };
    let policy: toml::Table = policy.parse().unwrap();
    for rule in policy["rule"].as_array().unwrap() {
        assert_eq!(rule["decision"].as_str(), Some("ask_user"), "{rule}");
    }
}

#[test]
fn gemini_is_left_as_it_is_where_policies_would_overrule_each_other() {
    let of_system = |name: &str| format!("{}/{name}", gemini::SYSTEM);
    let named = r#"{ "policyPaths": ["/own"] }"#;
    let denies = "[[rule]]\ndecision = \"deny\"";
    for (path, text) in [
        ("/home/me/.gemini/policies/own.toml", denies),
        ("/home/me/.gemini/settings.json", named),
        (&*of_system("policies/rules.toml"), ""),
        (&*of_system("settings.json"), named),
        (&*of_system("system-defaults.json"), named),
    ] {
        let (home, files) = ([("HOME", "/home/me")], [(path, text)]);
        let attached = try_attach("gemini", true, &[], &home, &files);
        assert!(
            matches!(attached, Err(CannotAttach::OwnPolicy(_))),
            "{path}"
        );
    }
    for arg in ["--policy=own", "--adminPolicy"] {
        let (args, home) = ([OsString::from(arg)], [("HOME", "/home/me")]);
        let attached = try_attach("gemini", true, &args, &home, &[]);
        assert!(matches!(attached, Err(CannotAttach::OwnPolicy(_))), "{arg}");
    }
    // Of the user's two folders, only this one counts.
    let homes = [("GEMINI_CLI_HOME", "/other"), ("HOME", "/home/me")];
    let files = [("/home/me/.gemini/policies/own.toml", denies)];
    assert!(try_attach("gemini", true, &[], &homes, &files).is_ok());
}

#[test]
fn what_the_user_of_cline_has_is_in_the_folder_that_stands_for_theirs() {
    let files = [
        ("/home/me/.cline/data/state.json", ""),
        ("/home/me/.cline/rules/a.md", ""),
        ("/home/me/.cline/hooks/Pre Tool", ""),
        ("/home/me/.cline/plugins/own.js", ""),
    ];
    let attached = attached("cline", &[("HOME", "/home/me")], &files);
    let content = |path: &str| {
        let mut files = attached.files.iter();
        let found = files.find(|file| file.path == Path::new(path));
        found.map(|file| file.content.clone())
    };
    let link = |to: &str| Some(OverlayContent::Link(to.into()));
    assert_eq!(content("cline/rules"), link("/home/me/.cline/rules"));
    assert_eq!(
        content("cline/plugins/own.js"),
        link("/home/me/.cline/plugins/own.js")
    );
    assert_eq!(content("cline/data"), None);
    let script = "#!/bin/sh\nexec '/home/me/.cline/hooks/Pre Tool' \"$@\"\n".to_owned();
    assert_eq!(
        content("cline/hooks/Pre Tool"),
        Some(OverlayContent::Script(script))
    );
    assert_eq!(attached.variables[1].1, "/home/me/.cline/data");
    let local = ("CLINE_SESSION_BACKEND_MODE", "local".to_owned());
    assert_eq!(attached.variables[2], local);
}

#[test]
fn every_agent_is_started_with_something_of_ours() {
    for dialect in ALL {
        let attached = attached(dialect.name, &[("HOME", "/home/me")], &[]);
        assert_ne!(attached, Attachment::default(), "{}", dialect.name);
    }
}

#[test]
fn lists_of_plugins_are_joined_and_the_way_to_switch_them_off_is_removed() {
    let theirs = [
        ("KILO_CONFIG_CONTENT", r#"{"plugin":["own"],"model":"m"}"#),
        ("npm_config_fetch_retry_maxtimeout", "5000"),
    ];
    let attached = attached("kilo", &theirs, &[]);
    let content = r#"{"model":"m","plugin":["own","file:///run/overlay/plugin.mjs"]}"#.to_owned();
    let expected = vec![
        ("KILO_CONFIG_CONTENT", content),
        ("KILO_PURE", "false".to_owned()),
        // The other one is the user's own.
        ("npm_config_fetch_retry_mintimeout", "1000".to_owned()),
    ];
    assert_eq!(attached.variables, expected);
    let OverlayContent::Text(plugin) = &attached.files[0].content else {
        panic!("{attached:?}");
    };
    let taken_away = r#"const ONLY_TO_START = ["npm_config_fetch_retry_mintimeout"]"#;
    assert!(plugin.contains(taken_away), "{plugin}");
}
