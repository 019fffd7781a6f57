//! `acp-chain scan`: the recordings of real agents, played through the real proxies.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::host::{cache, component};
use acp_chain_tests::output::CommandOutput;
use serde_json::Value;

use crate::project::world::World;

/// The key that the agents were given, and that they have read.
const KEY: &str = "AKIAIOSFODNN7EXAMPLQ";

/// A user whose manifest has the two guards, and these rules: the second one asks.
fn world() -> World {
    let world = World::new();
    let [permissions, redact] = ["permissions", "redact"].map(component);
    let manifest = format!(
        r#"
[[proxy]]
id = "permissions"
path = '{}'
powers = [
    "capabilities.read", "session-setup.read", "turns.read", "tool-calls.read", "tool-calls.send", "answers.send",
    "permissions.read", "permissions.answer", "permissions.ask", "tool-runs.read", "tool-runs.refuse",
]
[[proxy.config.rules]]
decision = "deny"
command = "git push *"
[[proxy.config.rules]]
decision = "ask"
command = "cat *"

[[proxy]]
id = "redact"
path = '{}'
powers = [
    "capabilities.read", "prompts.read", "prompts.change", "answers.send", "session-setup.read", "turns.read",
    "tool-runs.read", "tool-runs.refuse", "tool-results.read", "tool-results.change",
]
"#,
        permissions.display(),
        redact.display()
    );
    world.manifest(&manifest);
    world
}

/// The home folder that an agent of this version has left.
fn recorded(version: &str) -> PathBuf {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
    recordings.join(version)
}

fn scan(world: &World, args: &[&str]) -> CommandOutput {
    let mut command = world.command("scan");
    command
        .args(["--manifest", "acp-chain.toml"])
        .args(args)
        .env("XDG_CACHE_HOME", cache());
    CommandOutput::from(command.output().unwrap())
}

/// The report about a home folder.
fn report(world: &World, home: &Path, agent: &str) -> Value {
    let home = home.to_str().unwrap();
    let args = ["--json", "--agent", agent, "--home", home];
    let report = scan(world, &args).of_success(&args);
    assert!(!report.contains(KEY), "{report}");
    serde_json::from_str(&report).unwrap()
}

/// How often the chain would have done this by this rule.
fn decided(report: &Value, decision: &str, rule: &str) -> u64 {
    let decisions = report["decisions"].as_array().unwrap().iter();
    let of = decisions.filter(|one| one["decision"] == decision && one["why"] == rule);
    of.map(|one| one["count"].as_u64().unwrap()).sum()
}

/// How many secrets there were.
fn secrets(report: &Value, within: &str) -> u64 {
    let secrets = report["secrets"].as_array().unwrap().iter();
    let of = secrets.filter(|one| one["within"] == within && one["kind"] == "aws-access-token");
    of.map(|one| one["count"].as_u64().unwrap()).sum()
}

#[test]
fn what_real_agents_recorded_is_judged_by_rules_and_searched_for_secrets() {
    let world = world();
    for (agent, version, sessions, prompts, calls, times) in [
        ("claude", "claude-agent-acp-0.101.0", 2, 6, 6, 1),
        ("claude", "claude-agent-acp-0.49.0", 2, 6, 6, 1),
        ("codex", "codex-acp-2.6.0", 2, 10, 8, 2),
        ("codex", "codex-acp-0.16.0", 1, 5, 4, 1),
        ("gemini", "gemini-cli-0.61.0", 2, 5, 4, 1),
    ] {
        let report = report(&world, &recorded(version), agent);
        let read = &report["recordings"][0];
        assert_eq!(read["sessions"], sessions, "{version}: {report}");
        assert_eq!(read["prompts"], prompts, "{version}: {report}");
        assert_eq!(read["calls"], calls, "{version}: {report}");
        assert_eq!(
            decided(&report, "denied", "rule 1"),
            times,
            "{version}: {report}"
        );
        // Codex reads files by its shell, too.
        let reads = if agent == "codex" { 2 } else { 1 };
        let asked = decided(&report, "asked", "rule 2");
        assert_eq!(asked, reads * times, "{version}: {report}");
        assert_eq!(secrets(&report, "prompt"), times, "{version}: {report}");
        assert_eq!(secrets(&report, "result"), 2 * times, "{version}: {report}");
        assert_eq!(report["problems"], serde_json::json!([]), "{version}");
        let denied = &report["decisions"][0];
        assert_eq!(denied["proxy"], "permissions");
        assert_eq!(
            denied["examples"][0]["what"],
            "git push --force origin main"
        );
    }
}

/// A yes that comes at once is none for `brake`, and would end the turn.
#[test]
fn a_question_is_answered_as_by_a_person() {
    let world = World::new();
    let manifest = format!(
        r#"
[[proxy]]
id = "brake"
path = '{}'
powers = [
    "capabilities.read", "turns.read", "turns.stop", "prompts.answer", "answers.send", "tool-calls.read",
    "permissions.read", "permissions.ask", "tool-runs.read", "tool-runs.refuse", "values.keep",
]
[proxy.config.session]
tool-calls = 1
"#,
        component("brake").display()
    );
    world.manifest(&manifest);
    let report = report(&world, &recorded("claude-agent-acp-0.101.0"), "claude");
    let decisions = report["decisions"].as_array().unwrap();
    let is_question = |one: &Value| one["decision"] == "asked";
    assert!(
        !decisions.is_empty() && decisions.iter().all(is_question),
        "{report}"
    );
}

#[test]
fn the_cost_is_what_the_agent_reports_and_what_tokens_cost_by_the_users_prices() {
    let world = world();
    let home = recorded("claude-agent-acp-0.101.0");
    let home = home.to_str().unwrap();
    let prices = "input = 3, output = 15, cached-read = 0.3";
    let args = [
        "--json",
        "--home",
        home,
        "--prices",
        prices,
        "--currency",
        "EUR",
    ];
    let report: Value = serde_json::from_str(&scan(&world, &args).of_success(&args)).unwrap();
    assert_eq!(report["reported"][0]["millionths"], 2800);
    assert_eq!(report["reported"][0]["currency"], "USD");
    assert_eq!(report["used"][0]["model"], "claude-opus-5-5");
    assert_eq!(report["used"][0]["input"], 130);
    assert_eq!(report["used"][0]["output"], 65);
    assert_eq!(report["priced"]["millionths"], 130 * 3 + 65 * 15);
    assert_eq!(report["priced"]["currency"], "EUR");
    for wrong in [
        "input = 3",
        "input = -1, output = 1",
        "input = 3, output = 1, more = 1",
    ] {
        assert!(!scan(&world, &["--prices", wrong]).is_success, "{wrong}");
    }
}

#[test]
fn the_report_is_text_and_a_page_as_well() {
    let world = world();
    let home = recorded("claude-agent-acp-0.101.0");
    let home = home.to_str().unwrap();
    let args = ["--home", home, "--html", "report.html"];
    let text = scan(&world, &args).of_success(&args);
    let text = text.replace(home, "HOME");
    insta::assert_snapshot!(text);
    let page = fs::read_to_string(world.path("report.html")).unwrap();
    assert!(page.contains("git push --force origin main"), "{page}");
    assert!(!page.contains(KEY), "{page}");
}

#[test]
fn without_recordings_there_is_a_report_that_says_so() {
    let world = world();
    let home = world.home();
    let args = ["--home", home.to_str().unwrap()];
    let text = scan(&world, &args).of_success(&args);
    assert!(text.starts_with("There are no recordings. "), "{text}");
    assert!(text.contains("`--home`"), "{text}");
    let args = ["--home", "nowhere"];
    let told = scan(&world, &args).of_failure(&args);
    assert!(
        told.contains("--home nowhere: there is no such folder"),
        "{told}"
    );
}

#[test]
fn lines_that_are_cut_or_damaged_are_counted_and_the_others_played() {
    let world = world();
    let folder = world.path("home/.claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let prompt = format!(
        r#"{{"type":"user","sessionId":"s","cwd":"/work","message":{{"content":"My key is {KEY}."}}}}"#
    );
    let text = format!(
        "{prompt}\n{{\"type\":\"user\",\"message\":7}}\n{}",
        &prompt[..60]
    );
    fs::write(folder.join("s.jsonl"), text).unwrap();
    let report = report(&world, &world.path("home"), "claude");
    assert_eq!(report["recordings"][0]["prompts"], 1);
    assert_eq!(secrets(&report, "prompt"), 1);
    let problems = report["problems"].as_array().unwrap().iter();
    let problems: Vec<_> = problems.map(|one| (&one["what"], &one["count"])).collect();
    let [cut, damaged] = [
        "a line that ends in its middle",
        "a line that cannot be read",
    ]
    .map(|what| (Value::from(what), Value::from(1)));
    assert_eq!(problems, [(&cut.0, &cut.1), (&damaged.0, &damaged.1)]);
    let lines = report["problems"].as_array().unwrap().iter();
    let lines: Vec<_> = lines.map(|one| &one["line"]).collect();
    assert_eq!(lines, [3, 2]);
}

#[test]
fn what_is_too_long_for_the_chain_and_sessions_without_number_hide_nothing() {
    let world = world();
    let folder = world.path("home/.claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    // Proxies get a path twice: in the input, and as a location.
    let path = "a".repeat(33 << 20);
    let call = r#"{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"1","name":"Edit","input":{"file_path":"PATH"}}]}}"#;
    let prompts = (0..150).map(|number| {
        format!(r#"{{"type":"user","sessionId":"{number}","message":{{"content":"Go"}}}}"#)
    });
    let lines: Vec<_> = prompts.chain([call.replace("PATH", &path)]).collect();
    fs::write(folder.join("s.jsonl"), lines.join("\n")).unwrap();
    let report = report(&world, &world.path("home"), "claude");
    assert_eq!(report["recordings"][0]["sessions"], 151);
    assert_eq!(report["recordings"][0]["prompts"], 150);
    let problems = report["problems"].as_array().unwrap().iter();
    let problems: Vec<_> = problems.map(|one| (&one["what"], &one["count"])).collect();
    let (what, count) = (Value::from("a line that is too long"), Value::from(1));
    assert_eq!(problems, [(&what, &count)]);
}

#[test]
fn a_file_in_which_nothing_is_recognized_is_counted() {
    let world = world();
    let folder = world.path("home/.claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let newer = r#"{"kind":"prompt","session":"s","parts":["Go"]}"#;
    fs::write(folder.join("newer.jsonl"), newer).unwrap();
    fs::write(folder.join("empty.jsonl"), "").unwrap();
    let report = report(&world, &world.path("home"), "claude");
    let read = &report["recordings"][0];
    assert_eq!(read["recordings"], 2, "{report}");
    assert_eq!(read["unrecognized"], 1, "{report}");
    let args = ["--home", "home", "--html", "nowhere/report.html"];
    let output = scan(&world, &args);
    assert!(!output.is_success);
    let counted = "files in which nothing was recognized: 1";
    assert!(output.out.contains(counted), "{output:?}");
    let failed = "the page cannot be written";
    assert!(output.err.contains(failed), "{output:?}");
}

#[test]
fn a_trace_of_ours_is_played_as_well() {
    let world = world();
    let message = |from: &str, kind: &str, method: &str, number: u64, params: &str| {
        format!(
            r#"{{"connection":"c","from":"{from}","to":"p","kind":"{kind}","method":"{method}","session":"s","request":{number},"params":{params}}}"#
        )
    };
    let prompt = r#"{"sessionId":"s","prompt":[{"type":"text","text":"Go"}]}"#;
    let run = r#"{"sessionId":"s","toolCall":{"title":"Bash","kind":"execute","status":"pending","rawInput":{"command":"git push x"}},"canChange":true}"#;
    let lines = [
        r#"{"connection":"c","version":1}"#.to_owned(),
        message("client", "request", "session/prompt", 1, prompt),
        message("agent", "request", "_acp-chain/hook/before_tool", 2, run),
    ];
    fs::write(world.path("trace.jsonl"), lines.join("\n")).unwrap();
    let args = ["--json", "trace.jsonl"];
    let report: Value = serde_json::from_str(&scan(&world, &args).of_success(&args)).unwrap();
    assert_eq!(report["recordings"][0]["format"], "trace");
    assert_eq!(report["recordings"][0]["prompts"], 1);
    assert_eq!(decided(&report, "denied", "rule 1"), 1);
    let args = ["nothing.jsonl"];
    let error = scan(&world, &args).of_failure(&args);
    assert!(error.contains("nothing.jsonl"), "{error}");
}
