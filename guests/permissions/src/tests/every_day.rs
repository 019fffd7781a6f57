//! Commands that coding agents run each day, and what two ways to write rules say to each: the decision is one with which
//! the user who wrote the rules would agree.

use super::*;

/// Rules of a user who lets everything run but a few commands, and of one who lets only a few commands run. Both want to be
/// asked about secrets.
fn rules() -> [Value; 2] {
    let secrets = json!({ "decision": "ask", "path": ["**/.env", "**/.env.*", "**/.ssh/**"] });
    let denied = json!({ "decision": "deny", "command": ["git push *", "rm *", "sudo *"] });
    let any = json!({ "decision": "allow", "kind": "execute" });
    let some = json!({ "decision": "allow", "command": [
        "cargo build *", "cargo check *", "cargo test *", "cat *", "cd *", "echo *", "find *", "git diff *", "git log *",
        "git show *", "git status *", "grep *", "head *", "ls *", "npm run *", "npm test *", "pwd", "rg *", "sed -n *",
        "sort *", "tail *", "uname *", "wc *", "which *", "xargs grep *",
    ] });
    [
        json!([secrets, denied, any]),
        json!([secrets, denied, some]),
    ]
}

/// Each with the decisions of both.
const COMMANDS: &[(&str, [&str; 2])] = &[
    // Looking at the project.
    ("ls -la", PASS),
    ("pwd && ls", PASS),
    ("cat package.json", PASS),
    ("sed -n '1,80p' src/main.rs", PASS),
    ("head -50 README.md; tail -5 CHANGELOG.md", PASS),
    (r#"rg -n "foo" src | head"#, PASS),
    ("grep -rn 'TODO' --include='*.ts' src | wc -l", PASS),
    (
        "find . -name '*.rs' -not -path './target/*' | xargs grep -n foo",
        PASS,
    ),
    (
        "find . -name node_modules -prune -o -name '*.ts' -print | head -50",
        PASS,
    ),
    ("git status --short && git diff --stat HEAD~1 -- src", PASS),
    ("git log --oneline -5", PASS),
    ("which node || echo missing", PASS),
    ("wc -l src/*.rs", PASS),
    // Building and testing it.
    ("cd x && npm test 2>&1 | tail -20", PASS),
    ("cargo test -p x -- --nocapture", PASS),
    (
        r#"cargo build 2>&1 | grep -E "^(warning|error)" | head -20"#,
        PASS,
    ),
    ("timeout 120 npm test -- --run", PASS),
    ("bash -lc 'cd sub && cargo test'", PASS),
    (r#"cargo test; echo "exit: $?""#, PASS),
    (
        r#"cargo test 2>&1 | tail -5; echo "${PIPESTATUS[0]}""#,
        PASS,
    ),
    ("NODE_ENV=test npm test", NEW),
    ("export NODE_ENV=test && npm test", NEW),
    ("npx tsc --noEmit", NEW),
    ("make -j$(nproc)", NEW),
    ("docker compose up -d", NEW),
    // Scripts.
    (r#"for f in a.rs b.rs; do cat "$f"; done"#, PASS),
    (r#"for f in src/*.rs; do wc -l "$f"; done"#, PASS),
    ("for i in 1 2 3; do echo $i; done", PASS),
    ("x=1; echo $x", PASS),
    (r#"dir=$(pwd); ls "$dir""#, PASS),
    (r#"while read -r l; do echo "$l"; done < notes.txt"#, PASS),
    (r#"test "$(uname)" = Linux && ls"#, PASS),
    ("[ -f package.json ] && cat package.json || echo none", PASS),
    ("if [ -f Cargo.toml ]; then cargo check; fi", PASS),
    // Which files these are is not in the text, so any of them may be a secret.
    (
        r#"for f in $(git ls-files); do head -5 "$f"; done"#,
        ["ask", "ask"],
    ),
    (r#"tail -n 50 "$LOG""#, ["ask", "ask"]),
    // Changing it.
    ("cat > src/new.rs <<'EOF'\nfn main() {}\nEOF", PASS),
    ("mkdir -p src/new && touch src/new/mod.rs", NEW),
    ("sed -i 's/a b/c d/' src/main.rs", NEW),
    (
        "python3 - <<'EOF'\nimport re\nopen('a.py', 'w').write('x')\nEOF",
        NEW,
    ),
    (
        "python3 -c \"import json; print(json.load(open('a.json'))['x'])\"",
        NEW,
    ),
    (
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.rs\n*** End Patch\nEOF",
        NEW,
    ),
    ("git add -A && git commit -m 'Fix it'", NEW),
    ("git commit -m \"$(cat <<'EOF'\nFix it\nEOF\n)\"", NEW),
    // Acting outside, or on secrets.
    ("curl -s http://localhost:3000/health | jq .", NEW),
    ("kill $(lsof -ti:3000)", NEW),
    ("gh pr view 12 --json title", NEW),
    ("rm -rf node_modules", ["reject_once", "reject_once"]),
    ("git push origin main", ["reject_once", "reject_once"]),
    ("sudo apt install jq", ["reject_once", "reject_once"]),
    ("cat .env", ["ask", "ask"]),
    ("ls ~/.ssh", ["ask", "ask"]),
    ("for f in .env a; do cat $f; done", ["ask", "ask"]),
];

const PASS: [&str; 2] = ["allow_once", "allow_once"];
/// The second user has not said anything about it yet.
const NEW: [&str; 2] = ["allow_once", "ask"];

#[test]
fn what_agents_run_each_day_is_asked_about_only_where_the_user_would_want_that() {
    for (command, expected) in COMMANDS {
        for (rules, expected) in rules().into_iter().zip(expected) {
            let mut host = host(rules.clone());
            let input = json!({ "command": command });
            let call = json!({
                "toolCallId": "t", "kind": "execute", "title": "Terminal", "rawInput": input,
            });
            assert_eq!(ask(&mut host, call), *expected, "{command:?} by {rules}");
        }
    }
}
