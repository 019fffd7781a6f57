//! Which paths a rule reaches.

use super::*;

#[test]
fn allowing_needs_all_paths_and_denying_any() {
    let rules = |decision: &str| json!([{ "decision": decision, "path": "/proj/**" }]);
    for (paths, allowed, denied) in [
        (&["/proj/a", "/proj/b/c"][..], "allow_once", "reject_once"),
        (&["/proj/a", "/etc/passwd"], "ask", "reject_once"),
        (&["/etc/passwd"], "ask", "ask"),
        (&[], "ask", "ask"),
        (&["/project/a"], "ask", "ask"),
        (&["/proj/./a//b/"], "allow_once", "reject_once"),
    ] {
        let call = call("edit", "", paths);
        let allow = &mut host(rules("allow"));
        assert_eq!(ask(allow, call.clone()), allowed, "{paths:?}");
        assert_eq!(ask(&mut host(rules("deny")), call), denied, "{paths:?}");
    }
}

#[test]
fn paths_may_be_relative_to_the_directory_of_the_session() {
    let mut host = host(json!([
        { "decision": "deny", "path": ["**/.env", "**/.env.*"] },
        { "decision": "allow", "path": "./**" },
    ]));
    for (path, expected) in [
        ("/proj/a/b.rs", "allow_once"),
        ("/proj/.env", "reject_once"),
        ("/proj/sub/.ENV.local", "reject_once"),
        ("/proj/../other/b.rs", "ask"),
        ("/Proj/a", "ask"),
    ] {
        let call = call("edit", "", &[path]);
        assert_eq!(ask(&mut host, call), expected, "{path}");
    }
    for cwd in [
        "/weird [dir]{*}",
        "/odd: ~1./.cache",
        "/trailing/",
        "/a//b/./c",
    ] {
        open(&mut host, cwd);
        let inside = format!("{cwd}/a");
        assert_eq!(
            ask(&mut host, call("edit", "", &[&inside])),
            "allow_once",
            "{cwd}"
        );
        assert_eq!(
            ask(&mut host, call("edit", "", &["/proj/a"])),
            "ask",
            "{cwd}"
        );
    }
}

#[test]
fn nothing_is_allowed_in_an_ambiguous_directory() {
    let rules = |decision: &str| json!([{ "decision": decision, "path": "./sub/**" }]);
    for cwd in [
        json!(""),
        json!("."),
        json!("rel"),
        json!("//proj"),
        json!("/a/.."),
        json!("/a\0b"),
        json!("C:"),
        json!("C:proj"),
        json!(r"\\server\share"),
        json!("~"),
        json!(7),
        Value::Null,
    ] {
        for path in ["/sub/a", "/proj/sub/a", "sub/a", "C:/sub/a", "a"] {
            for (decision, expected) in [("allow", "ask"), ("deny", "reject_once"), ("ask", "ask")]
            {
                let mut host =
                    Host::start::<Permissions>(json!({ "rules": rules(decision) })).expect("right");
                let id = host.request(Peer::Client, "session/new", json!({ "cwd": cwd }));
                host.answer(id, json!({ "sessionId": "s" }));
                host.sent();
                let call = call("read", "", &[path]);
                assert_eq!(ask(&mut host, call), expected, "{cwd} {path}");
            }
        }
    }
}

#[test]
fn two_asterisks_stand_for_the_directory_itself_where_it_is_denied_and_not_where_it_is_allowed() {
    let rules = |decision: &str, path: &str| json!([{ "decision": decision, "path": path }]);
    for (glob, path, allowed, denied) in [
        ("**/ssh/**", "/home/me/ssh", "ask", "reject_once"),
        ("**/ssh/**", "/home/me/ssh/id", "allow_once", "reject_once"),
        ("./**", "/proj", "ask", "reject_once"),
        ("./sub/**", "/proj/sub/", "ask", "reject_once"),
        ("./**/a", "/proj/a", "allow_once", "reject_once"),
        ("./", "/proj", "allow_once", "reject_once"),
        (".", "/proj/.", "allow_once", "reject_once"),
        ("./", "/proj/a", "ask", "ask"),
        ("/**", "/", "ask", "reject_once"),
    ] {
        let call = call("edit", "", &[path]);
        let allow = &mut host(rules("allow", glob));
        assert_eq!(ask(allow, call.clone()), allowed, "{glob} {path}");
        let deny = &mut host(rules("deny", glob));
        assert_eq!(ask(deny, call), denied, "{glob} {path}");
    }
}

#[test]
fn globs_match_as_the_readme_documents() {
    for (glob, matching, other) in [
        (
            "/a/*.rs",
            &["/a/b.rs", "/a/x.y.rs"][..],
            &["/a/b/c.rs", "/a/b.r"][..],
        ),
        ("/a/b?", &["/a/bc"], &["/a/b", "/a/bcd"]),
        ("/a/*b*c", &["/a/bc", "/a/xbbxcc"], &["/a/bcd", "/a/cb"]),
        ("/a/*[b]?", &["/a/bbc"], &["/a/b"]),
        ("/a/?", &["/a/b", "/a/é", "/a/字"], &["/a/bc", "/a"]),
        ("/a/[b-d]x", &["/a/bx", "/a/dx"], &["/a/ex", "/a/x"]),
        ("/a/[!b]x", &["/a/ax"], &["/a/bx"]),
        (
            "/{a,b/c}/{d,e{f,g}}",
            &["/a/d", "/b/c/ef", "/a/eg"],
            &["/b/d", "/a/e"],
        ),
        ("/**/x", &["/x", "/a/x", "/a/b/x"], &["/a/xy", "/x/a"]),
        ("/a/**/b/*", &["/a/b/c", "/a/x/y/b/c"], &["/a/b", "/a/x/c"]),
        (r"/a/\[id\]/\*\{x\}", &[r"/a/[id]/{x}"][..0], &["/a/i/x"]),
        (r"/a/\[id\]/p", &["/a/[id]/p"], &["/a/i/p"]),
        ("/a/!b*", &["/a/!bc"], &["/a/c", "/a/bc"]),
        ("/a/[^!]b*", &["/a/xbc"], &["/a/!bc"]),
    ] {
        let rules = json!([{ "decision": "allow", "path": glob }]);
        for (paths, expected) in [(matching, "allow_once"), (other, "ask")] {
            for path in paths {
                let call = call("read", "", &[path]);
                assert_eq!(
                    ask(&mut host(rules.clone()), call),
                    expected,
                    "{glob} {path}"
                );
            }
        }
    }
}

#[test]
fn windows_paths_are_matched_in_either_spelling() {
    let rules =
        |decision: &str| json!([{ "decision": decision, "path": [r"c:\proj\**", "./src/*"] }]);
    for (path, allowed, denied) in [
        (r"C:\proj\a\b.rs", "allow_once", "reject_once"),
        ("c:/proj/a", "allow_once", "reject_once"),
        (r"C:\proj\..\Windows\x", "ask", "ask"),
        (r"C:\x\..\proj\a", "ask", "reject_once"),
        (r"d:\work\src\a.rs", "allow_once", "reject_once"),
        (r"d:\work\a.rs", "ask", "ask"),
        (r"D:\WORK\SRC\a.rs", "ask", "reject_once"),
        (r"E:\work\src\a.rs", "ask", "ask"),
        (r"C:proj\a", "ask", "reject_once"),
        (r"\proj\a", "ask", "reject_once"),
        ("/proj/a", "ask", "reject_once"),
        (r"\\?\C:\proj\a", "ask", "reject_once"),
        (r"\\.\c:\proj\a", "ask", "reject_once"),
        (r"\\localhost\c$\proj\a", "ask", "reject_once"),
        (r"C:\proj\aux.txt", "ask", "reject_once"),
        (r"C:\proj\a.", "ask", "reject_once"),
        (r"C:\proj\a:b", "ask", "reject_once"),
        (r"C:\proj:x\a", "ask", "reject_once"),
        (r"C:\PROJ .\a", "ask", "reject_once"),
        (r"C:\x\.. \proj\a", "ask", "reject_once"),
    ] {
        for (decision, expected) in [("allow", allowed), ("deny", denied)] {
            let mut host = host(rules(decision));
            open(&mut host, r"D:\work");
            let call = call("edit", "", &[path]);
            assert_eq!(ask(&mut host, call), expected, "{decision} {path}");
        }
    }
}
