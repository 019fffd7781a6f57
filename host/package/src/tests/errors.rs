//! The error messages for unusable files, word for word: reviewers read the snapshots.

use std::fmt::Write as _;

use super::*;

/// The error of a project with these files, in the folder `.`.
fn told(files: &[(&str, &str)]) -> String {
    let folder = project(files);
    let error = Project::read(folder.path()).unwrap_err().to_string();
    error.replace(folder.path().to_str().unwrap(), ".")
}

/// Each case, and its message.
fn page<'c>(cases: impl IntoIterator<Item = (&'c str, String)>) -> String {
    let mut page = String::new();
    for (given, told) in cases {
        let _ = writeln!(page, "{given}\n  → {told}\n");
    }
    page
}

#[test]
fn mistakes_of_authors_are_told_with_their_place() {
    const NAMED: &str = "name = 'a'\nversion = '1.0.0'\n";
    let rests = [
        "[asks]\npower = {}",
        "asks.host = 'one'",
        "asks.powers = { tool = 'x' }",
        "asks.powers = { tools = ' ' }",
        "asks.powers = { 'session-setup.secrets' = 'x' }",
        "asks.powers = ['tools']",
        "asks.methods = { '_x' = { actions = ['eat'], reason = 'x' } }",
        "asks.methods = { 'a*b' = { actions = ['read'], reason = 'x' } }",
        "asks.methods = { '_x' = { actions = ['read'] } }",
        "asks.config = 'none.json'",
        "asks.on-failure = 'panic'",
        "asks.guard = true",
        "asks.guards-by = ['tools']",
        "asks.guard = true\nasks.powers = { tools = 'x' }\nasks.guards-by = ['prompts.read']",
        "licence = 'MIT'",
    ];
    let of_own = rests.map(|rest| {
        let text = [NAMED, rest, "\n"].concat();
        (rest, told(&[("extension.toml", &text)]))
    });
    let alone = [
        "version = '1.0.0'\n",
        "name = 'a'\n",
        "name = 'A b'\nversion = '1.0.0'\n",
        "name = 'agent'\nversion = '1.0.0'\n",
        "name = 'a'\nversion = '1'\n",
        "name = ",
    ];
    let alone = alone.map(|text| (text.trim_end(), told(&[("extension.toml", text)])));
    let others = [
        ("package.json", "{\n  \"acpChain\": { \"powers\": 7 } }"),
        ("package.json", "{ \"acpChain\": {} }"),
        ("package.json", "{"),
        (
            "Cargo.toml",
            "[package]\nname = 'a'\nmetadata.acp-chain.power = 1\n",
        ),
        (
            "Cargo.toml",
            "[package]\nname = 'a'\nmetadata.acp-chain = {}\n",
        ),
        ("pyproject.toml", "[tool.acp-chain]\n"),
    ];
    let others = others.map(|file| (file.1, told(&[file])));
    let two = told(&[
        ("extension.toml", OWN),
        ("package.json", r#"{ "acpChain": {} }"#),
    ]);
    let rest = [("(nothing)", told(&[])), ("(two)", two)];
    let cases = of_own.into_iter().chain(alone).chain(others).chain(rest);
    insta::assert_snapshot!(page(cases));
}

#[test]
fn what_says_what_cannot_be_is_no_extension() {
    let bare = component("(component)");
    let whole = package(&[("extension.toml", OWN)]).write(&bare).unwrap();
    let asks = |text: &str| {
        let without = write::without_sections(&whole).unwrap();
        let versioned = with_section(&without, "version", b"1.0.0");
        wrong(&with_section(&versioned, SECTION, text.as_bytes()))
    };
    let texts = [
        "",
        "{} x",
        "7",
        r#"{ "power": {} }"#,
        r#"{ "host": "9.0.0", "power": {} }"#,
        r#"{ "host": 1 }"#,
        r#"{ "powers": { "tool": "x" } }"#,
        r#"{ "powers": { "session-setup.secrets": "x" } }"#,
        r#"{ "powers": { "tools": "" } }"#,
        r#"{ "methods": { "_x": { "actions": ["eat"], "reason": "x" } } }"#,
        r#"{ "methods": { "_x": { "actions": [], "reason": "x" } } }"#,
        r#"{ "config": [] }"#,
        r#"{ "on-failure": "panic" }"#,
    ];
    let texts = texts.map(|text| (text, asks(text)));
    let section = |name, data: &[u8]| wrong(&with_section(&bare, name, data));
    let again = |name, data: &[u8]| wrong(&with_section(&whole, name, data));
    let unnamed = with_section(&with_section(&bare, "version", b"1.0.0"), SECTION, b"{}");
    let unversioned = {
        let without = write::without_sections(&whole).unwrap();
        with_section(&without, SECTION, b"{}")
    };
    // Nested sections are ignored.
    let nested = component(r#"(component (component (@custom "version" "1")))"#);
    let components = [
        ("(an empty file)", wrong(b"")),
        ("(a core module)", wrong(b"\0asm\x01\0\0\0")),
        ("(a component)", wrong(&bare)),
        ("(a component in a component)", wrong(&nested)),
        ("(cut off)", wrong(&whole[..whole.len() - 1])),
        ("(a section twice)", again(SECTION, b"{}")),
        ("(a version twice)", again("version", b"1.0.0")),
        ("(a long text)", section("description", &[b'x'; 5000])),
        ("(no UTF-8)", section("authors", &[0xff])),
        ("(no name)", wrong(&unnamed)),
        ("(no version)", wrong(&unversioned)),
    ];
    insta::assert_snapshot!(page(texts.into_iter().chain(components)));
}
