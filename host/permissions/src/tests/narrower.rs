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
