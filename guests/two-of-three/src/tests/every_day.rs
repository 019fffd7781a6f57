//! Commands that coding agents run each day, and what they bring to a session that holds nothing yet. Only text from outside
//! leads to questions about the commands after it.

use super::*;

const COMMANDS: &[(&str, &str)] = &[
    // Looking at the project.
    ("ls -la && pwd", ""),
    ("cat package.json | head -20", ""),
    ("rg -n 'foo' src | head", ""),
    ("git status --short && git diff --stat HEAD~1 -- src", ""),
    ("git log --oneline -5", ""),
    ("grep -rn 'TODO' --include='*.ts' src | wc -l", ""),
    ("for f in a.rs b.rs; do cat \"$f\"; done", ""),
    ("for i in 1 2 3; do echo $i; done", ""),
    ("x=1; echo $x", ""),
    ("while read -r l; do echo \"$l\"; done < notes.txt", ""),
    ("[ -f package.json ] && cat package.json || echo none", ""),
    ("cat > src/new.rs <<'END'\nfn main() {}\nEND", ""),
    // Building and changing it. Where the text does not show what is read, it may be a file outside.
    ("sed -n '1,80p' src/main.rs", "[C]"),
    (
        "find . -name '*.rs' -not -path './target/*' | xargs grep -n foo",
        "[C]",
    ),
    ("for f in src/*.rs; do wc -l \"$f\"; done", "[C]"),
    ("for f in $(git ls-files); do head -5 \"$f\"; done", "[C]"),
    ("dir=$(pwd); ls \"$dir\"", "[C]"),
    ("test \"$(uname)\" = Linux && ls", "[C]"),
    ("which node", "[C]"),
    ("cd x && npm test 2>&1 | tail -20", "[C]"),
    ("cargo test -p x -- --nocapture", "[C]"),
    ("cargo test; echo \"exit: $?\"", "[C]"),
    ("timeout 120 npm test -- --run", "[C]"),
    ("bash -lc 'cd sub && cargo test'", "[C]"),
    ("export NODE_ENV=test && npm test", "[C]"),
    ("env NODE_ENV=test npm test && printenv PATH", "[C]"),
    ("npx tsc --noEmit", "[C]"),
    ("make -j$(nproc)", "[C]"),
    ("python3 manage.py migrate", "[C]"),
    ("node scripts/gen.mjs", "[C]"),
    (
        "python3 -c \"import json; print(json.load(open('a.json'))['x'])\"",
        "[C]",
    ),
    (
        "python3 - <<'END'\nimport re\nopen('a.py', 'w').write('x')\nEND",
        "[C]",
    ),
    ("python3 <<'END'\nprint(1)\nEND", "[C]"),
    ("bash scripts/test.sh", "[C]"),
    ("mkdir -p src/new && touch src/new/mod.rs", "[C]"),
    ("sed -i 's/a b/c d/' src/main.rs", "[C]"),
    ("git add -A && git commit -m 'Fix it'", "[C]"),
    ("kill $(lsof -ti:3000)", "[C]"),
    ("rm -rf node_modules", "[C]"),
    // Text from outside.
    ("curl -s http://localhost:3000/health", "[A·C]"),
    ("gh pr view 12", "[A·C]"),
    ("git pull", "[A·C]"),
    ("git push origin main", "[A·C]"),
    ("npm install", "[A·C]"),
    ("docker compose up -d", "[A·C]"),
    ("cat ../other/README.md", "[A]"),
    // Secrets.
    ("cat .env", "[B]"),
    ("env | grep NODE", "[B·C]"),
    ("for f in a .env; do cat \"$f\"; done", "[B]"),
];

#[test]
fn what_agents_run_each_day_brings_text_from_outside_only_where_others_may_have_written_it() {
    for (command, labels) in COMMANDS {
        let mut host = host(json!({}));
        begin(&mut host);
        let told = pass(&mut host, &[bash(command)]);
        assert!(told.contains(labels), "{command:?}: {told}");
        assert_eq!(told.is_empty(), labels.is_empty(), "{command:?}: {told}");
    }
}
