//! Rules that were imported from agents never allow a command that those of the agent did not, according to a model of
//! each agent.

use std::fs;
use std::path::Path;

use acp_chain_permissions::{Administrators, Agent, Folders, Import, Rule, import};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use wildmatch::WildMatch;

use super::*;

/// Words of commands and of rules. A few lead out of the session's directory.
const WORDS: &[&str] = &[
    "git", "log", "push", "npm", "run", "test", "cat", "rm", "a.txt", "../b", "/etc/x", "-f",
];

/// Programs that Claude and opencode let reach only their working directories.
const CONFINED: &[&str] = &["cat", "rm"];

/// A command line: simple commands in a row, of which the last may write a file.
#[derive(Clone, Debug)]
struct CommandLine {
    commands: Vec<Vec<&'static str>>,
    joint: &'static str,
    file: Option<&'static str>,
}

impl CommandLine {
    fn text(&self) -> String {
        let commands: Vec<_> = self.commands.iter().map(|words| words.join(" ")).collect();
        let file = self.file.map(|file| format!(" > {file}"));
        commands.join(self.joint) + &file.unwrap_or_default()
    }

    /// Whether each of its commands is allowed, or needs no rule since it has no effect.
    fn all(&self, allows: impl Fn(&[&str]) -> bool) -> bool {
        let mut commands = self.commands.iter();
        commands.all(|words| words[0] == "test" || allows(words))
    }
}

fn command_line() -> impl Strategy<Value = CommandLine> {
    let commands = vec(vec(select(WORDS), 1..4), 1..3);
    let joint = select(&["; ", " && ", " || ", " | "][..]);
    let file = option::weighted(0.2, select(&["out.txt", "/tmp/x"][..]));
    (commands, joint, file).prop_map(|(commands, joint, file)| CommandLine {
        commands,
        joint,
        file,
    })
}

/// A text of words, some of them with stars, as rules have it.
fn pattern() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => select(WORDS).prop_map(str::to_owned),
        1 => Just("*".to_owned()),
        1 => select(WORDS).prop_map(|word| format!("{word}*")),
        1 => select(&["$X", "'log'", "a;b", "~", "A=1"][..]).prop_map(str::to_owned),
    ];
    let rest = select(&["", " *", ":*"][..]);
    (vec(word, 1..4), rest).prop_map(|(words, rest)| words.join(" ") + rest)
}

fn folders(root: &Path) -> Folders {
    Folders {
        home: "/home/u".into(),
        claude: root.join("claude"),
        codex: root.join("codex"),
        gemini: root.join("gemini"),
        opencode: root.join("opencode"),
        system: Administrators::below(&root.join("etc")),
        project: None,
    }
}

/// The rules of an agent that has this file.
fn imported(agent: Agent, file: &str, text: &str) -> Import {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, text).expect("written");
    import(agent, &folders(root.path()))
}

/// A rule as the configuration has it.
fn entry(rule: &Rule) -> Value {
    let mut entry = json!({ "decision": rule.decision.as_str() });
    if !rule.kind.is_empty() {
        entry["kind"] = json!(rule.kind);
    }
    for (name, texts) in [
        ("title", &rule.title),
        ("path", &rule.path),
        ("command", &rule.command),
    ] {
        if !texts.is_empty() {
            entry[name] = json!(texts);
        }
    }
    if !rule.redirections {
        entry["redirections"] = json!(false);
    }
    entry
}

/// Whether the imported rules allow a command.
fn allows(import: &Import, command: &str) -> bool {
    let mut host = host(import.rules.iter().map(entry).collect());
    let input = json!({ "command": command });
    let call = json!({ "toolCallId": "t", "kind": "execute", "title": "Bash", "rawInput": input });
    ask(&mut host, call) == "allow_once"
}

fn leads_out(words: &[&str]) -> bool {
    let is_confined = CONFINED.contains(&words[0]);
    is_confined
        && words
            .iter()
            .any(|word| word.starts_with('/') || word.contains(".."))
}

/// Whether a rule of Claude for `Bash` matches a simple command.
fn claude_matches(rule: &str, words: &[&str]) -> bool {
    let text = words.join(" ");
    if let Some(prefix) = rule.strip_suffix(":*") {
        return text == prefix || text.starts_with(&format!("{prefix} "));
    }
    let is_sole = rule.matches('*').count() == 1;
    let bare = rule.strip_suffix(" *").filter(|_| is_sole);
    bare == Some(&*text) || WildMatch::new(rule).matches(&text)
}

/// Whether a rule of opencode for `bash` matches a simple command.
fn opencode_matches(rule: &str, text: &str) -> bool {
    let bare = rule.strip_suffix(" *");
    bare.is_some_and(|bare| WildMatch::new(bare).matches(text))
        || WildMatch::new(rule).matches(text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn of_claude(
        deny in vec(pattern(), 0..2),
        ask in vec(pattern(), 0..2),
        allow in vec(pattern(), 1..4),
        lines in vec(command_line(), 1..8),
    ) {
        let list = |rules: &[String]| -> Vec<String> {
            rules.iter().map(|rule| format!("Bash({rule})")).collect()
        };
        let lists = json!({ "deny": list(&deny), "ask": list(&ask), "allow": list(&allow) });
        let text = json!({ "permissions": lists }).to_string();
        let import = imported(Agent::Claude, "claude/settings.json", &text);
        for line in lines {
            let matches = |rules: &[String], words: &[&str]| {
                rules.iter().any(|rule| claude_matches(rule, words))
            };
            let model = line.file.is_none() && line.all(|words| {
                let is_every = allow.iter().any(|rule| rule == "*");
                !matches(&deny, words)
                    && !matches(&ask, words)
                    && matches(&allow, words)
                    && (is_every || !leads_out(words))
            });
            let command = line.text();
            prop_assert!(model || !allows(&import, &command), "{command:?}: {import:?}");
        }
    }

    #[test]
    fn of_codex(
        rules in vec((vec(vec(select(WORDS), 1..3), 1..3), select(&["allow", "allow", "prompt", "forbidden"][..])), 1..5),
        lines in vec(command_line(), 1..8),
    ) {
        let texts: Vec<_> = rules
            .iter()
            .map(|(pattern, decision)| format!("prefix_rule(pattern = {pattern:?}, decision = {decision:?})\n"))
            .collect();
        let import = imported(Agent::Codex, "codex/rules/default.rules", &texts.concat());
        prop_assert!(!import.partial, "{import:?}");
        for line in lines {
            let has = |wanted: &str, words: &[&str]| {
                rules.iter().any(|(pattern, decision)| {
                    *decision == wanted
                        && words.len() >= pattern.len()
                        && pattern.iter().zip(words).all(|(any, word)| any.contains(word))
                })
            };
            let model = line.file.is_none() && line.all(|words| {
                has("allow", words) && !has("prompt", words) && !has("forbidden", words)
            });
            let command = line.text();
            prop_assert!(model || !allows(&import, &command), "{command:?}: {import:?}");
        }
    }

    #[test]
    fn of_gemini(
        rules in vec((vec(select(WORDS), 1..3), select(&["allow", "allow", "ask_user", "deny"][..]), 0..4_i64), 1..5),
        lines in vec(command_line(), 1..8),
    ) {
        let texts: Vec<_> = rules
            .iter()
            .map(|(words, decision, priority)| {
                let prefix = words.join(" ");
                format!(
                    "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = {prefix:?}\ndecision = {decision:?}\n\
                     priority = {priority}\n"
                )
            })
            .collect();
        let import = imported(Agent::Gemini, "gemini/policies/own.toml", &texts.concat());
        prop_assert!(!import.partial, "{import:?}");
        for line in lines {
            let model = line.file.is_none() && line.all(|words| {
                let matching = rules.iter().filter(|(prefix, ..)| words.starts_with(prefix));
                let highest = matching.clone().map(|(_, _, priority)| *priority).max();
                // Of rules with the same priority, any may be the first.
                let mut first = matching.filter(|(_, _, priority)| Some(*priority) == highest);
                first.any(|(_, decision, _)| *decision == "allow")
            });
            let command = line.text();
            prop_assert!(model || !allows(&import, &command), "{command:?}: {import:?}");
        }
    }

    #[test]
    fn of_opencode(
        entries in vec((pattern(), select(&["allow", "allow", "ask", "deny"][..])), 1..6),
        lines in vec(command_line(), 1..8),
    ) {
        // A name occurs once in an object.
        let mut own: Vec<(String, &str)> = Vec::new();
        for (pattern, action) in entries {
            if own.iter().all(|(known, _)| *known != pattern) {
                own.push((pattern, action));
            }
        }
        // The order of an object counts, so it is not one of serde_json.
        let members: Vec<_> = own.iter().map(|(pattern, action)| format!("{pattern:?}: {action:?}")).collect();
        let text = format!("{{ \"permission\": {{ \"bash\": {{ {} }} }} }}", members.join(", "));
        let import = imported(Agent::Opencode, "opencode/opencode.json", &text);
        prop_assert!(!import.partial, "{import:?}");
        for line in lines {
            // What is written to a file is part of the text that opencode compares.
            let model = line.file.is_none() && line.all(|words| {
                let text = words.join(" ");
                let last = own.iter().rfind(|(pattern, _)| opencode_matches(pattern, &text));
                last.is_some_and(|(_, action)| *action == "allow") && !leads_out(words)
            });
            let command = line.text();
            prop_assert!(model || !allows(&import, &command), "{command:?}: {import:?}");
        }
    }
}

#[test]
fn what_people_write_allows_what_they_meant() {
    let text = r#"{ "permissions": {
        "deny": ["Bash(git push:*)", "Read(./.env)"],
        "allow": ["Bash(npm run test:*)", "Bash(git log *)", "mcp__github__get_issue"] } }"#;
    let import = imported(Agent::Claude, "claude/settings.json", text);
    for (command, expected) in [
        ("npm run test", true),
        ("npm run test -- --watch", true),
        ("npm run test && git log -3", true),
        ("npm run test:unit", false),
        ("npm run test; git push", false),
        ("npm run test $(rm x)", false),
        ("npm run test > out.txt", false),
        ("npm run test 2>&1", true),
    ] {
        assert_eq!(allows(&import, command), expected, "{command}");
    }
    for (call, expected) in [
        (call("other", "mcp__github__get_issue", &[]), "allow_once"),
        (call("other", "mcp__github__delete_repository", &[]), "ask"),
        (call("read", "Read", &["/proj/.env"]), "reject_once"),
    ] {
        let mut host = host(import.rules.iter().map(entry).collect());
        assert_eq!(ask(&mut host, call), expected);
    }
}
