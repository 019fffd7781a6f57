//! Files of agents and the rules that are made of them, as golden files and by hand.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

mod inserted;
mod narrower;
mod suggested;

fn golden(agent: Agent) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(agent.name())
}

fn folders(root: &Path) -> Folders {
    Folders {
        home: PathBuf::from("/home/u"),
        claude: root.join("claude"),
        codex: root.join("codex"),
        gemini: root.join("gemini"),
        opencode: root.join("opencode"),
        system: Administrators::below(&root.join("etc")),
        project: None,
    }
}

/// What was imported, a line for each rule, with `!` if it has a note, and for each thing that was left out.
fn shown(import: &Import, root: &Path) -> String {
    let mut text = String::new();
    let place = |from: &Source| {
        let file = from.file.strip_prefix(root).unwrap_or(&from.file);
        format!("{}:{}", file.display(), from.line)
    };
    for rule in &import.rules {
        text += rule.decision.as_str();
        if !rule.kind.is_empty() {
            let _ = write!(text, " kind={:?}", rule.kind);
        }
        for (name, texts) in [
            ("title", &rule.title),
            ("path", &rule.path),
            ("command", &rule.command),
        ] {
            if !texts.is_empty() {
                let _ = write!(text, " {name}={texts:?}");
            }
        }
        if !rule.redirections {
            text += " redirections=false";
        }
        let note = if rule.note.is_some() { " !" } else { "" };
        let _ = writeln!(text, " <- {}{note}", place(&rule.from));
    }
    for left in &import.left {
        let _ = writeln!(text, "left {} {}", place(&left.from), left.from.rule);
    }
    text
}

#[test]
fn the_files_of_each_agent_become_the_expected_rules() {
    for agent in AGENTS {
        let root = golden(agent);
        let import = import(agent, &folders(&root));
        let expected = fs::read_to_string(root.join("expected.txt")).unwrap();
        assert_eq!(shown(&import, &root), expected, "{}", agent.name());
        assert!(!import.partial);
    }
}

/// An import from these files.
fn of_files(agent: Agent, files: &[(&str, &str)]) -> Import {
    // A folder with a hidden name would have to be named by rules that allow.
    let root = tempfile::Builder::new().prefix("rules").tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut folders = folders(root.path());
    let project = root.path().join("project");
    folders.project = project.exists().then_some(project);
    import(agent, &folders)
}

fn allowing(import: &Import) -> Vec<&Rule> {
    let rules = import.rules.iter();
    rules
        .filter(|rule| rule.decision == Decision::Allow)
        .collect()
}

#[test]
fn nothing_is_allowed_if_a_denial_may_be_missing() {
    let rules = r#"{ "permissions": { "allow": ["Bash(git log:*)"] } }"#;
    for (agent, files) in [
        (
            Agent::Claude,
            [
                ("claude/settings.json", rules),
                (
                    "etc/claude-code/managed-settings.json",
                    "{ \"permissions\": ",
                ),
            ],
        ),
        (
            Agent::Claude,
            [
                ("claude/settings.json", rules),
                (
                    "etc/claude-code/managed-settings.json",
                    "{ \"permissions\": { \"deny\": [1] } }",
                ),
            ],
        ),
        (
            Agent::Claude,
            [
                ("claude/settings.json", rules),
                (
                    "etc/claude-code/managed-settings.json",
                    "{ \"a\": 1, \"a\": 2 }",
                ),
            ],
        ),
        (
            Agent::Codex,
            [
                ("codex/rules/a.rules", "prefix_rule(pattern = [\"git\"])"),
                (
                    "codex/rules/b.rules",
                    "for x in y:\n  prefix_rule(pattern = [x])",
                ),
            ],
        ),
        (
            Agent::Codex,
            [
                ("codex/rules/a.rules", "prefix_rule(pattern = [\"git\"])"),
                (
                    "codex/rules/b.rules",
                    "prefix_rule(pattern = [\"it's\"], decision = \"forbidden\")",
                ),
            ],
        ),
        (
            Agent::Gemini,
            [
                (
                    "gemini/policies/a.toml",
                    "[[rule]]\ncommandPrefix = 'git'\ndecision = 'allow'\npriority = 1",
                ),
                ("gemini/policies/b.toml", "[[rule]\n"),
            ],
        ),
        (
            Agent::Opencode,
            [
                (
                    "opencode/opencode.json",
                    "{ \"permission\": { \"bash\": { \"git *\": \"allow\" } } }",
                ),
                (
                    "etc/opencode/opencode.json",
                    "{ \"permission\": { \"bash\": 1 } }",
                ),
            ],
        ),
    ] {
        let import = of_files(agent, &files);
        assert!(import.partial, "{files:?}");
        assert!(allowing(&import).is_empty(), "{files:?}: {import:?}");
        let whole = of_files(agent, &files[..1]);
        assert_eq!(allowing(&whole).len(), 1, "{files:?}: {whole:?}");
    }
}

#[cfg(unix)]
#[test]
fn files_that_are_no_files_are_told() {
    let root = tempfile::tempdir().unwrap();
    let claude = root.path().join("claude");
    fs::create_dir_all(&claude).unwrap();
    let settings = claude.join("settings.json");
    let read = || {
        let import = import(Agent::Claude, &folders(root.path()));
        let why = import.left.iter().map(|left| left.why.clone());
        (import.partial, why.collect::<Vec<_>>().join("; "))
    };
    std::os::unix::fs::symlink("nowhere", &settings).unwrap();
    assert_eq!(
        read(),
        (
            true,
            "it cannot be read: it is a link that leads nowhere".to_owned()
        )
    );
    fs::remove_file(&settings).unwrap();
    fs::create_dir(&settings).unwrap();
    assert_eq!(
        read(),
        (true, "it cannot be read: it is not a file".to_owned())
    );
    fs::remove_dir(&settings).unwrap();
    fs::write(&settings, b"{\"a\":\"\xff\"}").unwrap();
    assert_eq!(
        read(),
        (true, "it cannot be read: it is not UTF-8".to_owned())
    );
    fs::write(&settings, vec![b' '; (4 << 20) + 1]).unwrap();
    let (partial, why) = read();
    assert!(partial && why.contains("larger than"), "{why}");
    fs::write(&settings, "[".repeat(100_000)).unwrap();
    assert!(read().0);
    fs::remove_file(&settings).unwrap();
    assert_eq!(read(), (false, String::new()));
}

#[test]
fn a_project_gets_what_it_allows_and_what_is_denied_everywhere() {
    let user = r#"{ "permissions": { "allow": ["Bash(a)"], "deny": ["Bash(b)"] } }"#;
    let own =
        r#"{ "permissions": { "allow": ["Bash(c)", "Edit(/src/**)"], "deny": ["Bash(d)"] } }"#;
    let files = [
        ("claude/settings.json", user),
        ("project/.claude/settings.json", own),
    ];
    let import = of_files(Agent::Claude, &files);
    let commands = |decision| {
        let rules = import.rules.iter().filter(|rule| rule.decision == decision);
        let commands = rules.flat_map(|rule| rule.command.iter().map(String::as_str));
        commands.collect::<Vec<_>>()
    };
    assert_eq!(commands(Decision::Allow), ["c"]);
    assert_eq!(commands(Decision::Deny), ["b", "d"]);
    let path = &allowing(&import)[1].path[0];
    assert!(
        path.starts_with('/') && path.ends_with("/project/src/**"),
        "{path}"
    );
}

#[test]
fn managed_rules_may_be_the_only_ones() {
    let managed =
        r#"{ "allowManagedPermissionRulesOnly": true, "permissions": { "allow": ["Bash(a)"] } }"#;
    let user = r#"{ "permissions": { "allow": ["Bash(b)"], "deny": ["Bash(c)"] } }"#;
    let files = [
        ("etc/claude-code/managed-settings.json", managed),
        ("claude/settings.json", user),
    ];
    let import = of_files(Agent::Claude, &files);
    assert_eq!(import.rules.len(), 1);
    assert_eq!(import.rules[0].command, ["a"]);
}

#[test]
fn a_later_file_of_opencode_keeps_the_place_of_a_name() {
    let user = r#"{ "permission": { "bash": { "git *": "allow", "git push *": "deny" } } }"#;
    let own = r#"{ "permission": { "bash": { "git *": "ask", "make": "allow" } } }"#;
    let files = [
        ("opencode/opencode.json", user),
        ("project/opencode.json", own),
    ];
    let import = of_files(Agent::Opencode, &files);
    let rules = import.rules.iter();
    let rules: Vec<_> = rules
        .map(|rule| (rule.decision, &*rule.command[0]))
        .collect();
    assert_eq!(
        rules,
        [
            (Decision::Allow, "make"),
            (Decision::Deny, "git push *"),
            (Decision::Ask, "git *"),
        ]
    );
    // What the project lifts is told.
    assert_eq!(import.left.len(), 1);
    assert_eq!(import.left[0].from.rule, "bash git *: \"allow\"");
}
