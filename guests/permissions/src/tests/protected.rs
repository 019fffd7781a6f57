//! Files that start programs, or set permissions, are changed only by a rule that names them.

use super::*;

const PROTECTED: &[&str] = &[
    "acp-chain.toml",
    "acp-chain.lock",
    "proxies/permissions.wasm",
    "acp-chain/config.toml",
    "acp-chain/compiled/x",
    ".config/acp-chain/config.toml",
    ".git",
    ".git/hooks/pre-commit",
    ".git/config",
    ".git/modules/sub/hooks/x",
    "sub/.git/config",
    "sub/HEAD",
    "fixtures/x.git/config",
    ".husky/pre-commit",
    "lefthook.yml",
    ".vscode/tasks.json",
    "proj.code-workspace",
    ".zed/settings.json",
    ".idea/workspace.xml",
    ".claude/settings.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".windsurf/x",
    ".mcp.json",
    "mcp.json",
    "opencode.json",
    ".envrc",
    "mise.toml",
    ".npmrc",
    ".cargo/config.toml",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".ssh/authorized_keys",
    ".config/autostart/x.desktop",
    ".local/bin/ls",
    "Library/LaunchAgents/x.plist",
    "Library/Application Support/Zed/x",
    "AppData/Roaming/x",
    "Documents/PowerShell/Microsoft.PowerShell_profile.ps1",
];

#[test]
fn a_wildcard_does_not_allow_changes_of_protected_files() {
    for name in PROTECTED {
        let path = format!("/proj/{name}");
        for spelling in [path.clone(), path.to_uppercase(), path.replace("/.", "/．")] {
            let spelling = spelling.replace("/PROJ", "/proj");
            for rule in [
                json!({ "decision": "allow" }),
                json!({ "decision": "allow", "path": "./**" }),
                json!({ "decision": "allow", "path": ["./*", "./*/*", "./?*/**", "/**", "**"] }),
                json!({ "decision": "allow", "path": "./**/[.a-zA-Z]*" }),
            ] {
                let mut host = host(json!([rule]));
                for kind in ["edit", "delete", "move", "execute", "other", "think"] {
                    let call = call(kind, "", &[&spelling]);
                    assert_eq!(ask(&mut host, call), "ask", "{kind} {spelling} {rule}");
                }
            }
        }
    }
}

#[test]
fn a_rule_that_names_a_protected_file_matches_it() {
    for name in PROTECTED {
        let path = format!("/proj/{name}");
        for glob in [
            path.clone(),
            format!("./{name}"),
            format!("**/{name}"),
            format!("./{{x,{name}}}"),
        ] {
            let mut host = host(json!([{ "decision": "allow", "path": glob }]));
            assert_eq!(
                ask(&mut host, call("edit", "", &[&path])),
                "allow_once",
                "{glob}"
            );
        }
    }
}

#[test]
fn a_rule_matches_the_protected_names_that_it_spells_out_and_no_others() {
    for (glob, path, expected) in [
        ("./.vscode/**", "/proj/.vscode/a/b", "allow_once"),
        ("./.vscode/**", "/proj/.vscode/.git/config", "ask"),
        ("./.git/**", "/proj/.git/COMMIT_EDITMSG", "allow_once"),
        ("./.git/**", "/proj/.git/hooks/x", "ask"),
        ("./.git/**", "/proj/.git/config", "ask"),
        ("./.git/*/x", "/proj/.git/hooks/x", "ask"),
        ("./.git/hooks/*", "/proj/.git/hooks/x", "allow_once"),
        ("**/hooks/*", "/proj/.git/hooks/x", "ask"),
        ("./.*/**", "/proj/.vscode/a", "ask"),
        ("./[.]vscode/**", "/proj/.vscode/a", "ask"),
        ("./{.vscode,.zed}/**", "/proj/.zed/a", "allow_once"),
        ("./.VSCODE/**", "/proj/.VSCODE/a", "allow_once"),
        ("./.vscode/**", "/proj/.VSCODE/a", "ask"),
        ("./**", "/proj/config", "allow_once"),
        ("./**", "/proj/Head/index.tsx", "allow_once"),
        ("./**", "/proj/git/config", "allow_once"),
        ("./**", "/proj/hooks/config", "allow_once"),
        ("./**", "/proj/src/acp-chain.rs", "allow_once"),
        ("/**", "/etc/profile.d/x", "ask"),
        ("/etc/**", "/etc/profile.d/x", "allow_once"),
        ("/**", "/proj/etc/x", "allow_once"),
    ] {
        let mut host = host(json!([{ "decision": "allow", "path": glob }]));
        assert_eq!(
            ask(&mut host, call("edit", "", &[path])),
            expected,
            "{glob} {path}"
        );
    }
}

#[test]
fn reading_a_protected_file_needs_no_name() {
    let mut host = host(json!([{ "decision": "allow", "path": "./**" }]));
    let path = "/proj/.vscode/tasks.json";
    for kind in ["read", "search"] {
        assert_eq!(ask(&mut host, call(kind, "", &[path])), "allow_once");
    }
    let shown = json!({ "type": "diff", "path": path, "newText": "" });
    let changed = json!({ "toolCallId": "t", "kind": "read", "content": [shown] });
    assert_eq!(ask(&mut host, changed), "ask", "a diff changes");
    let unsaid = json!({ "toolCallId": "u", "locations": [{ "path": path }] });
    assert_eq!(ask(&mut host, unsaid), "ask", "no kind is stated");
    update(
        &mut host,
        json!({ "sessionUpdate": "tool_call", "toolCallId": "v", "kind": "edit" }),
    );
    let said = json!({ "toolCallId": "v", "kind": "read", "locations": [{ "path": path }] });
    assert_eq!(ask(&mut host, said), "ask", "it was announced as an edit");
}

#[test]
fn the_directory_of_the_session_counts_as_named() {
    let mut host = host(json!([
        { "decision": "allow", "kind": "edit", "path": ["./**", "**/src/*"] },
        { "decision": "allow", "kind": "delete" },
    ]));
    open(&mut host, "/home/me/.worktrees/one");
    for (path, expected) in [
        ("/home/me/.worktrees/one/src/a", "allow_once"),
        ("/home/me/.worktrees/one/.git", "ask"),
        ("/home/me/.worktrees/two/src/a", "ask"),
        ("/home/me/.worktrees/acp-chain.toml", "ask"),
    ] {
        for kind in ["edit", "delete"] {
            assert_eq!(
                ask(&mut host, call(kind, "", &[path])),
                expected,
                "{kind} {path}"
            );
        }
    }
    open(&mut host, "/home/me/proj.git/main");
    let path = "/home/me/proj.git/main/src/hooks/a";
    assert_eq!(ask(&mut host, call("delete", "", &[path])), "allow_once");
    open(&mut host, "/proj/.git");
    assert_eq!(
        ask(&mut host, call("edit", "", &["/proj/.git/hooks/x"])),
        "ask"
    );
}
