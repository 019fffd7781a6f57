//! An ambiguous path is never allowed; rules that deny match any of its meanings.

use super::*;

/// Ways to spell `/home/me/secret/key`, the session being in `/home/me`.
const SPELLINGS: &[&str] = &[
    // Roots.
    "//home/me/secret/key",
    "///home/me/secret/key",
    r"\\home\me\secret\key",
    r"\home\me\secret\key",
    r"/\home\me\secret\key",
    "/home/me/../me/secret/key",
    "/../home/me/secret/key",
    "/proc/self/root/home/me/secret/key",
    "/proc/1/task/1/root/home/me/secret/key",
    "/proc/self/cwd/secret/key",
    "/PROC/self/cwd/secret/key",
    "/./proc/self/cwd/secret/key",
    "/dev/fd/7/secret/key",
    "secret/key",
    "./secret/key",
    "x/../secret/key",
    "../me/secret/key",
    "~/secret/key",
    "~me/secret/key",
    "$HOME/secret/key",
    "%USERPROFILE%\\secret\\key",
    "file:///home/me/secret/key",
    "FILE://localhost/home/me/%73ecret/key",
    "file:/home/me/secret%2fkey",
    "vscode-remote://ssh/home/me/secret/key",
    r"C:\home\me\secret\key",
    r"C:secret\key",
    r"\\?\C:\home\me\secret\key",
    r"\\wsl$\Debian\home\me\secret\key",
    " /home/me/secret/key",
    "\u{a0}/home/me/secret/key",
    "\t/home/me/secret/key",
    // Separators.
    r"/home/me/secret\key",
    r"/home/me/x\..\secret\key",
    "/home/me/secret／key",
    "／home／me／secret／key",
    "/home/me/x/．．/secret/key",
    "/home/me/x/.\u{200b}./secret/key",
    // Names.
    "/home/me/secret./key",
    "/home/me/secret /key",
    "/home/me/secret. ./key",
    "/home/me/.../secret/key",
    "/home/me/x/.. ./secret/key",
    "/home/me/secret:x/key",
    "/home/me/secret::$INDEX_ALLOCATION/key",
    "/home/me/SECRET~1/key",
    "/home/me/se1f2e~1/key",
    "/home/me/sec\u{200c}ret/key",
    "/home/me/\u{feff}secret/key",
    "/home/me/\u{202e}secret/key",
    "/home/me/secret\u{f02e}/key",
    "/home/me/secret/key\0.txt",
];

#[test]
fn a_denying_rule_matches_every_spelling_of_a_path_and_an_allowing_rule_none() {
    for spelling in SPELLINGS {
        for (glob, decision, expected) in [
            ("/home/me/secret/**", "deny", "reject_once"),
            ("/home/me/secret/key", "deny", "reject_once"),
            ("./secret/**", "deny", "reject_once"),
            ("**/secret/*", "deny", "reject_once"),
            ("./se[bc]?et/**", "deny", "reject_once"),
            ("**", "allow", "ask"),
            ("/**", "allow", "ask"),
            ("./**", "allow", "ask"),
            ("/home/me/secret/key", "allow", "ask"),
        ] {
            // A short name is too vague for anything but names and wildcards; the NUL ends the last one.
            let mut host = host(json!([{ "decision": decision, "path": glob }]));
            open(&mut host, "/home/me");
            let call = call("read", "", &[spelling]);
            assert_eq!(
                ask(&mut host, call),
                expected,
                "{decision} {glob} {spelling:?}"
            );
        }
    }
}

#[test]
fn an_unknown_directory_may_be_below_that_of_the_session() {
    let mut host = host(json!([{ "decision": "deny", "path": "./key" }]));
    open(&mut host, "/home/me/secret");
    for (path, expected) in [
        ("~/secret/key", "reject_once"),
        ("~/me/secret/key", "reject_once"),
        ("~/key", "reject_once"),
        ("~/other/key", "ask"),
        ("~/secret/sub/key", "ask"),
    ] {
        assert_eq!(
            ask(&mut host, call("read", "", &[path])),
            expected,
            "{path}"
        );
    }
}

#[test]
fn a_home_directory_is_none_that_a_glob_hides_or_names_anywhere() {
    for (glob, path, expected) in [
        ("**/.ssh/**", "~/project", "ask"),
        ("**/.ssh/**", "~", "ask"),
        ("**/.ssh/**", "$HOME/x", "ask"),
        ("**/.ssh/**", "%USERPROFILE%\\x", "ask"),
        ("**/secret/**", "~/project", "ask"),
        ("**/.config/gh/**", "~/gh/x", "ask"),
        ("/home/me/.ssh/**", "~/project", "ask"),
        ("/etc/**", "~/project", "ask"),
        ("./secret/**", "~/project", "ask"),
        ("**/.ssh/**", "~/.ssh/id", "reject_once"),
        ("**/.config/gh/**", "$HOME/.config/gh/x", "reject_once"),
        ("/home/me/**", "~/project", "reject_once"),
        ("/home/me/.ssh/**", "~/.ssh", "reject_once"),
        ("./secret/**", "~/secret/x", "reject_once"),
    ] {
        let mut host = host(json!([{ "decision": "deny", "path": glob }]));
        let decided = ask(&mut host, call("read", "", &[path]));
        assert_eq!(decided, expected, "{glob} {path}");
    }
}

#[test]
fn a_spelling_is_not_allowed_by_a_rule_without_paths_either() {
    let mut host = host(json!([{ "decision": "allow" }]));
    for spelling in SPELLINGS {
        assert_eq!(
            ask(&mut host, call("read", "", &[spelling])),
            "ask",
            "{spelling:?}"
        );
    }
    assert_eq!(
        ask(&mut host, call("read", "", &["/home/me/secret/key"])),
        "allow_once"
    );
}

#[test]
fn a_name_in_other_letters_is_allowed_only_by_a_rule_with_these_letters() {
    let rules = |decision: &str| json!([{ "decision": decision, "path": "/home/me/secrét-ß/**" }]);
    for (name, allowed) in [
        ("secrét-ß", "allow_once"),
        ("SECRÉT-ß", "ask"),
        ("secrét-ẞ", "ask"),
        ("Secrét-SS", "ask"),
        ("secre\u{301}t-ß", "ask"),
        ("ＳＥＣＲＥ\u{301}Ｔ-ß", "ask"),
        ("ſecrét-ß", "ask"),
    ] {
        let path = format!("/home/me/{name}/a");
        let call = call("edit", "", &[&path]);
        assert_eq!(
            ask(&mut host(rules("allow")), call.clone()),
            allowed,
            "{name}"
        );
        assert_eq!(
            ask(&mut host(rules("deny")), call.clone()),
            "reject_once",
            "{name}"
        );
        assert_eq!(ask(&mut host(rules("ask")), call), "ask", "{name}");
    }
}

#[test]
fn a_denying_rule_does_not_match_impossible_meanings() {
    for (glob, path) in [
        ("/etc/**", "/proj/etc/a"),
        ("/etc/**", "etc/a"),
        ("/etc/**", "/proj/sub/../etc/a"),
        ("./secret/**", "/other/secret/a"),
        ("**/.env", "/proj/env"),
        ("**/.env", "/proj/.envrc"),
        ("**/secret", "/proj/secrets~1"),
        ("**/secret", "/proj/RUNNER~1"),
        ("**/secret.txt", "/proj/SECRET~1.DOC"),
        ("**/.env.*", "/proj/HEAD~1"),
        ("**/*.pem", "/proj/PEMS~1.TXT"),
        ("**/.ssh/**", "/proj/ssh/id"),
        ("/proj/a", "/proj/a/b"),
        (r"C:\a\**", "/a/b"),
        (r"\\server\share\**", "/server/share/a"),
    ] {
        let mut host = host(json!([{ "decision": "deny", "path": glob }]));
        assert_eq!(
            ask(&mut host, call("read", "", &[path])),
            "ask",
            "{glob} {path}"
        );
    }
    let mut host = host(json!([{ "decision": "deny", "path": r"\\server\share\**" }]));
    let share = call("read", "", &[r"\\SERVER\share\a"]);
    assert_eq!(ask(&mut host, share), "reject_once");
}
