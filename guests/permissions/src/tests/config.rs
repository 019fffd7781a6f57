//! Errors in rules are reported when the proxy starts.

use super::*;

#[test]
fn errors_in_a_rule_are_named() {
    let allow = |key: &str, value: &str| json!({ "decision": "allow", key: value });
    for (rule, expected) in [
        (json!({ "decision": "alow" }), "unknown variant `alow`"),
        (json!({ "kind": "read" }), "missing field `decision`"),
        (allow("paths", "/a"), "unknown field `paths`"),
        (
            allow("kind", "raed"),
            "there is no kind `raed`; there are `read`, ",
        ),
        (allow("kind", "Read"), "there is no kind `Read`"),
        (
            allow("path", "src/**"),
            "in rule 1 of `rules`: `path` has `src/**`; begin it with `/`",
        ),
        (allow("path", "../a"), "begin it with `/`"),
        (allow("path", "C:a"), "begin it with `/`"),
        (allow("path", "//etc/**"), "begin it with `/`"),
        (allow("path", "{/a,b}/*"), "begin it with `/`"),
        (allow("path", "/a/../b"), "write it without `..`"),
        (allow("path", "./a**"), "`**` has to stand alone"),
        (allow("path", "**.env"), "begin it with `/`"),
        (allow("path", "!/a"), "a glob with `!`"),
        (allow("path", "/a/[b"), "a `[` without its `]`"),
        (allow("path", "/a/{b"), "a `{` without its `}`"),
        (allow("path", "/a/[b/c]"), "a `[` without its `]`"),
        (allow("path", r"./src\main"), "write `/` between names"),
        (
            allow("path", r"\\server\share\**"),
            "paths of shares are never allowed",
        ),
        (
            allow("path", "/{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"),
            "too many globs",
        ),
        (json!({ "decision": "deny", "path": [] }), "`path` is empty"),
        (json!({ "decision": "deny", "kind": [] }), "`kind` is empty"),
        (
            json!({ "decision": "deny", "title": [] }),
            "`title` is empty",
        ),
        (
            json!({ "decision": "ask", "remember": true }),
            "`remember` has no meaning",
        ),
        (
            json!({ "decision": "ask", "command": "make", "redirections": false }),
            "`redirections` has a meaning only",
        ),
        (
            json!({ "decision": "allow", "redirections": false }),
            "`redirections` has a meaning only",
        ),
    ] {
        let error = Host::start::<Permissions>(json!({ "rules": [rule] })).expect_err("refused");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn valid_rules_are_accepted() {
    for path in [
        "/",
        "/**",
        "./",
        ".",
        "./**",
        "**",
        "**/a",
        r"C:\a\**",
        "c:/a",
        "/a/{b,c/{d,e}}/[!x-z]?*",
        r"./\[id\]/*",
        "./!a",
        "/a//b/./c/",
        "/a}b",
        "/a,b",
    ] {
        let rules = json!([{ "decision": "allow", "path": path, "kind": ["read", "_own"] }]);
        let started = Host::start::<Permissions>(json!({ "rules": rules }));
        assert!(started.is_ok(), "{path}: {started:?}");
    }
    let share = json!([{ "decision": "deny", "path": r"\\server\share\**" }]);
    assert!(Host::start::<Permissions>(json!({ "rules": share })).is_ok());
}
