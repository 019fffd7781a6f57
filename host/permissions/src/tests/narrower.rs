//! What narrows a source narrows what is made of it.

use std::fs;

use super::{allowing, folders, of_files};
use crate::{Agent, Decision, import};

#[test]
fn paths_that_claude_takes_out_are_asked_about() {
    let user = r#"{ "permissions": { "allow": ["Edit(!src/secret/**)"] } }"#;
    let own = r#"{ "permissions": { "allow": ["Edit(src/**)", "Read(!x)"] } }"#;
    let files = [
        ("claude/settings.json", user),
        ("project/.claude/settings.json", own),
    ];
    let import = of_files(Agent::Claude, &files);
    let rules: Vec<_> = import
        .rules
        .iter()
        .map(|rule| (rule.decision, &rule.kind[..]))
        .collect();
    assert_eq!(
        rules,
        [
            (Decision::Ask, &["edit", "delete", "move"][..]),
            (Decision::Ask, &["read", "search"][..]),
            (Decision::Allow, &["edit"][..]),
        ]
    );
}

#[test]
fn a_tool_of_claude_without_a_path_is_not_its_whole_kind() {
    for rule in ["Edit", "Edit(*)", "Write", "Write(./**)"] {
        let text = format!("{{ \"permissions\": {{ \"allow\": [\"{rule}\"] }} }}");
        let import = of_files(Agent::Claude, &[("claude/settings.json", text.as_str())]);
        assert!(import.rules.is_empty(), "{rule}: {import:?}");
        assert_eq!(import.left.len(), 1, "{rule}");
    }
}

#[test]
fn what_claude_denies_in_powershell_is_denied() {
    let text = r#"{ "permissions": { "allow": ["Bash(*)"], "deny": ["PowerShell(git push:*)"] } }"#;
    let import = of_files(Agent::Claude, &[("claude/settings.json", text)]);
    let first = &import.rules[0];
    assert_eq!(first.decision, Decision::Deny);
    assert_eq!(first.command, ["git push *"]);
}

#[test]
fn what_the_server_of_an_administrator_denies_is_denied() {
    let sent = r#"{ "permissions": { "deny": ["Bash(a)"] } }"#;
    let user = r#"{ "permissions": { "allow": ["Bash(a)"] } }"#;
    let files = [
        ("claude/remote-settings.json", sent),
        ("claude/settings.json", user),
    ];
    let import = of_files(Agent::Claude, &files);
    assert!(allowing(&import).is_empty(), "{import:?}");
}

#[test]
fn gemini_denies_other_commands_than_those_of_its_settings() {
    let policies = "[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = 'a'\ndecision = 'allow'\npriority = 200\n\
                    [[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = 'b'\ndecision = 'allow'\npriority = 400\n";
    let import = |settings: &str| {
        let files = [
            ("gemini/policies/own.toml", policies),
            ("gemini/settings.json", settings),
        ];
        of_files(Agent::Gemini, &files)
    };
    for (settings, expected) in [
        ("{}", &["b *", "a *"][..]),
        (
            r#"{ "tools": { "allowed": ["run_shell_command"] } }"#,
            &["b *", "*", "a *"],
        ),
        (
            r#"{ "tools": { "allowed": ["ShellTool(c)"] } }"#,
            &["b *", "c *"],
        ),
        (
            r#"{ "tools": { "core": ["run_shell_command"] } }"#,
            &["b *"],
        ),
    ] {
        let import = import(settings);
        assert!(!import.partial, "{import:?}");
        let commands = allowing(&import).into_iter().map(|rule| &*rule.command[0]);
        assert_eq!(commands.collect::<Vec<_>>(), expected, "{settings}");
    }
}

#[test]
fn policies_of_gemini_in_other_folders_may_deny() {
    let policy = "[[rule]]\ntoolName = 'run_shell_command'\ndecision = 'allow'\npriority = 1\n";
    let files = [
        ("gemini/policies/own.toml", policy),
        (
            "etc/gemini-cli/system-defaults.json",
            r#"{ "adminPolicyPaths": ["/x"] }"#,
        ),
    ];
    let import = of_files(Agent::Gemini, &files);
    assert!(import.partial && allowing(&import).is_empty(), "{import:?}");
}

#[test]
fn what_gemini_denies_at_times_is_asked_about_and_what_it_usually_denies_is_denied() {
    for (narrowed, expected) in [
        ("modes = ['plan']", Decision::Ask),
        ("modes = ['default', 'autoEdit']", Decision::Deny),
        ("interactive = false", Decision::Ask),
        ("interactive = true", Decision::Deny),
        ("subagent = 'browser'", Decision::Ask),
        (
            "toolAnnotations = { destructiveHint = true }",
            Decision::Ask,
        ),
    ] {
        let policy =
            format!("[[rule]]\ntoolName = '*'\ndecision = 'deny'\npriority = 1\n{narrowed}\n");
        let import = of_files(Agent::Gemini, &[("gemini/policies/own.toml", &*policy)]);
        let decisions: Vec<_> = import.rules.iter().map(|rule| rule.decision).collect();
        assert_eq!(decisions, [expected], "{narrowed}");
    }
}

#[test]
fn tools_of_servers_that_gemini_denies_are_denied_by_the_titles_of_its_requests() {
    let policy = "[[rule]]\ntoolName = 'mcp_a_b_c'\ndecision = 'deny'\npriority = 1\n";
    let settings = r#"{ "mcp": { "excluded": ["github"] } }"#;
    let files = [
        ("gemini/policies/own.toml", policy),
        ("gemini/settings.json", settings),
    ];
    let import = of_files(Agent::Gemini, &files);
    let titles: Vec<_> = import.rules.iter().map(|rule| &rule.title[..]).collect();
    let of_server = ["mcp_github_*", "* (github MCP Server)*"];
    let of_tool = ["mcp_a_b_c", "b_c (a MCP Server)*", "c (a_b MCP Server)*"];
    assert_eq!(titles, [&of_server[..], &of_tool[..]]);
    let is_denied = |rule: &crate::Rule| rule.decision == Decision::Deny;
    assert!(import.rules.iter().all(is_denied), "{import:?}");
}

#[test]
fn what_sandboxes_deny_is_told() {
    for (agent, path, text, expected) in [
        (
            Agent::Claude,
            "claude/settings.json",
            r#"{ "sandbox": { "filesystem": { "denyRead": ["~/.ssh"] } } }"#,
            "sandbox = {…}",
        ),
        (
            Agent::Codex,
            "codex/config.toml",
            "[permissions.mine.filesystem]\n'~/.ssh' = 'none'\n",
            "permissions = {…}",
        ),
    ] {
        let import = of_files(agent, &[(path, text)]);
        let left: Vec<_> = import.left.iter().map(|left| &*left.from.rule).collect();
        assert_eq!(left, [expected]);
    }
}

#[test]
fn permissions_of_claude_that_are_no_object_may_deny() {
    let files = [
        (
            "claude/settings.json",
            r#"{ "permissions": { "allow": ["Bash(a)"] } }"#,
        ),
        (
            "etc/claude-code/managed-settings.json",
            r#"{ "permissions": ["Bash(a)"] }"#,
        ),
    ];
    let import = of_files(Agent::Claude, &files);
    assert!(import.partial && allowing(&import).is_empty(), "{import:?}");
}

#[test]
fn what_opencode_denies_to_all_is_denied_though_its_usual_agent_names_it_too() {
    let agent = r#""agent": { "build": { "permission": { "bash": { "rm *": "deny" } } } }"#;
    for (all, expected) in [
        (
            r#""permission": { "bash": { "rm *": "deny" } }"#,
            Decision::Deny,
        ),
        (
            r#""permission": { "bash": { "rm *": "allow" } }"#,
            Decision::Ask,
        ),
    ] {
        let text = format!("{{ {agent}, {all} }}");
        let import = of_files(Agent::Opencode, &[("opencode/opencode.json", &*text)]);
        let first = &import.rules[0];
        assert_eq!(first.command, ["rm *"], "{all}");
        assert_eq!(first.decision, expected, "{all}");
    }
}

#[test]
fn powershell_as_a_whole_is_denied_and_its_kind_asked_about() {
    let text = r#"{ "permissions": { "deny": ["PowerShell"] } }"#;
    let import = of_files(Agent::Claude, &[("claude/settings.json", text)]);
    let [by_title, of_kind] = &import.rules[..] else {
        panic!("{import:?}");
    };
    assert_eq!(by_title.decision, Decision::Deny);
    assert_eq!(by_title.title, ["PowerShell"]);
    assert_eq!(of_kind.decision, Decision::Ask);
    assert_eq!(of_kind.kind, ["execute"]);
}

#[test]
fn the_usual_agent_of_opencode_is_known_from_any_file_and_its_tools_may_be_off() {
    let own = r#"{ "agent": { "mine": { "tools": { "write": false, "bash": true } } } }"#;
    for (named, expected) in [("mine", &[Decision::Ask][..]), ("other", &[])] {
        let user = format!("{{ \"default_agent\": \"{named}\" }}");
        let files = [
            ("opencode/opencode.json", &*user),
            ("project/opencode.json", own),
        ];
        let import = of_files(Agent::Opencode, &files);
        let edits = import
            .rules
            .iter()
            .filter(|rule| rule.kind == ["edit", "delete", "move"]);
        let decisions: Vec<_> = edits.map(|rule| rule.decision).collect();
        assert_eq!(decisions, expected, "{named}: {import:?}");
    }
}

#[test]
fn what_the_usual_agent_of_opencode_is_denied_is_asked_about() {
    for (agent, expected) in [
        ("build", &[Decision::Ask, Decision::Allow][..]),
        ("mine", &[Decision::Ask, Decision::Allow]),
        ("plan", &[Decision::Allow]),
    ] {
        let text = format!(
            "{{ \"default_agent\": \"mine\", \"permission\": {{ \"bash\": {{ \"git *\": \"allow\" }} }},
                \"agent\": {{ \"{agent}\": {{ \"permission\": {{ \"bash\": {{ \"git push *\": \"deny\" }} }} }} }} }}"
        );
        let import = of_files(
            Agent::Opencode,
            &[("opencode/opencode.json", text.as_str())],
        );
        let decisions = import.rules.iter().map(|rule| rule.decision);
        assert_eq!(decisions.collect::<Vec<_>>(), expected, "{agent}");
    }
}

#[test]
fn what_is_denied_above_a_project_in_its_repository_is_denied() {
    let root = tempfile::tempdir().unwrap();
    let repository = root.path().join("repository");
    let project = repository.join("part");
    for (path, text) in [
        (".git/HEAD", ""),
        (
            "opencode.json",
            r#"{ "permission": { "bash": { "*": "ask", "a": "deny" } } }"#,
        ),
        (
            "part/opencode.json",
            r#"{ "permission": { "bash": { "*": "allow" } } }"#,
        ),
        (
            ".codex/rules/a.rules",
            "prefix_rule(pattern = [\"a\"], decision = \"forbidden\")",
        ),
        (
            "part/.codex/rules/a.rules",
            "prefix_rule(pattern = [\"b\"])",
        ),
    ] {
        let path = repository.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut folders = folders(root.path());
    folders.project = Some(project);
    let first = |agent| {
        let import = import(agent, &folders);
        let rule = import.rules.first().cloned().unwrap();
        (rule.decision, rule.command)
    };
    assert_eq!(
        first(Agent::Codex),
        (Decision::Deny, vec!["a *".to_owned()])
    );
    assert_eq!(
        first(Agent::Opencode),
        (Decision::Deny, vec!["a".to_owned()])
    );
}

#[test]
fn with_too_many_rules_nothing_is_allowed() {
    let rules: Vec<_> = (0..5000)
        .map(|number| format!("\"Bash(a{number})\""))
        .collect();
    let list = rules.join(",\n");
    let text = format!("{{ \"permissions\": {{ \"deny\": [{list}], \"allow\": [\"Bash(x)\"] }} }}");
    let import = of_files(Agent::Claude, &[("claude/settings.json", text.as_str())]);
    assert!(import.partial && allowing(&import).is_empty());
    let entries: Vec<_> = (0..5000)
        .map(|number| format!("\"a{number}\": \"allow\""))
        .collect();
    let entries = entries.join(",\n");
    let text = format!("{{ \"permission\": {{ \"bash\": {{ {entries} }} }} }}");
    let import = of_files(
        Agent::Opencode,
        &[("opencode/opencode.json", text.as_str())],
    );
    assert!(import.partial && allowing(&import).is_empty());
    let words = vec!["\"a\""; 100].join(", ");
    let text = format!("prefix_rule(pattern = [{words}])");
    let import = of_files(Agent::Codex, &[("codex/rules/a.rules", text.as_str())]);
    assert!(import.rules.is_empty());
}
