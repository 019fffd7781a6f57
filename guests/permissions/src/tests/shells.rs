//! Commands, run by real shells in a folder of programs that only record how they were started: the rules have judged
//! every program that a shell starts, or the user was asked.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// A program and its arguments.
type CommandLine = Vec<String>;

/// A folder of programs that record how they were started, and one to work in.
struct Stage {
    programs: PathBuf,
    work: PathBuf,
    record: PathBuf,
    _folder: tempfile::TempDir,
}

const PROGRAMS: &[&str] = &[
    "alias", "awk", "bash", "busybox", "cargo", "cat", "chmod", "cp", "curl", "date", "doas",
    "env", "evil", "fd", "find", "git", "grep", "head", "id", "ls", "make", "mkdir", "mv", "nice",
    "nohup", "npm", "python3", "rm", "sed", "setsid", "sh", "sort", "stdbuf", "sudo", "tee",
    "timeout", "touch", "tr", "wc", "xargs",
];

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| folder.path().join(name);
        let stage = Self {
            programs: of("programs"),
            work: of("work"),
            record: of("record"),
            _folder: folder,
        };
        fs::create_dir(&stage.programs).expect("a folder");
        for name in PROGRAMS {
            let file = stage.programs.join(name);
            let record = stage.record.display();
            let program =
                format!("#!/bin/sh\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" '|' >> '{record}'\n");
            fs::write(&file, program).expect("a program");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
        }
        stage
    }

    /// What a shell starts for a command.
    fn run(&self, shell: &Path, command: &str) -> BTreeSet<CommandLine> {
        let _ = fs::remove_dir_all(&self.work);
        let _ = fs::remove_file(&self.record);
        fs::create_dir(&self.work).expect("a folder");
        for name in ["a.txt", "b.txt"] {
            fs::write(self.work.join(name), "").expect("a file");
        }
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let started = Command::new(shell)
            .args(["-c", command])
            .current_dir(&self.work)
            .env_clear()
            .env("PATH", &self.programs)
            .env("HOME", &self.work)
            .stdin(Stdio::null())
            .stdout(writer.try_clone().expect("a pipe"))
            .stderr(writer)
            .spawn();
        started.expect("a shell").wait().expect("a shell");
        // Background processes hold the pipe open.
        std::io::copy(&mut reader, &mut std::io::sink()).expect("the end");
        let record = fs::read(&self.record).unwrap_or_default();
        let record = String::from_utf8_lossy(&record).into_owned();
        let words: Vec<_> = record.split_terminator('\0').map(str::to_owned).collect();
        let started = words
            .split(|word| word == "|")
            .filter(|words| !words.is_empty());
        started.map(<[String]>::to_vec).collect()
    }
}

const SHELLS: &[&str] = &["bash", "dash"];

/// The path of a shell; both are part of every system on which this test runs.
fn shell(name: &str) -> PathBuf {
    let folders = ["/bin", "/usr/bin"].map(Path::new);
    let found = folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|file| file.exists());
    found.unwrap_or_else(|| panic!("{name} is not installed"))
}

/// What the rules decide about a command.
fn decide(rules: &Value, command: &str) -> String {
    let mut host = host(rules.clone());
    let input = json!({ "command": command });
    ask(
        &mut host,
        json!({ "toolCallId": "t", "kind": "execute", "title": "Terminal", "rawInput": input }),
    )
}

/// A pattern for exactly these words.
fn spelt(words: &[String]) -> String {
    let words = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    words.collect::<Vec<_>>().join(" ")
}

/// A rule that denies one of the started programs is never missed, and a command is allowed only if all of its programs
/// are.
fn check(command: &str, started: &BTreeSet<CommandLine>) {
    for one in started {
        let deny = json!([
            { "decision": "deny", "command": spelt(one) },
            { "decision": "allow", "kind": "execute" },
        ]);
        assert_ne!(
            decide(&deny, command),
            "allow_once",
            "denied: {one:?} in {command:?}"
        );
        let others: Vec<_> = started
            .iter()
            .filter(|other| *other != one)
            .map(|other| spelt(other))
            .collect();
        if !others.is_empty() {
            let allow = json!([{ "decision": "allow", "command": others }]);
            assert_eq!(
                decide(&allow, command),
                "ask",
                "not allowed: {one:?} in {command:?}"
            );
        }
    }
}

/// Commands of which rules can tell everything.
const PLAIN: &[&str] = &[
    "git log",
    "git log --oneline -5",
    "  git   status\t-s  ",
    "git log; git status",
    "git log && rm a.txt",
    "git log || rm a.txt",
    "git log | grep x | head -3",
    "git log & rm a.txt",
    "git log\nrm a.txt",
    "git log;\n\nrm a.txt\n",
    "(git log; rm a.txt)",
    "{ git log; rm a.txt; }",
    "! git log",
    "if git status; then rm a.txt; else git log; fi",
    "if git status; then :; elif git log; then rm b.txt; fi",
    "while git status; do rm a.txt; break; done",
    "until ! git status; do rm a.txt; break; done",
    "case x in a) git log;; x) rm a.txt;; esac",
    "git commit -m 'a; rm b.txt'",
    "git commit -m \"a && rm b.txt\"",
    "git commit -m \"it's\"",
    "git commit -m 'say \"hi\"'",
    r#"git commit -m "a \"b\" \\ c""#,
    r"git commit -m a\ b\;\ rm\ x",
    "git commit -m ''",
    "g'i't l\"o\"g",
    r"\git log",
    "git log # rm a.txt",
    "git log a#b",
    "git \\\n  log \\\n  -3",
    "git log > out.txt",
    "git log >> out.txt 2>&1",
    "git log 2>/dev/null",
    "git log >/dev/null 2>&1 && rm a.txt",
    "git log < a.txt",
    "git log &> out.txt",
    "cat <<'EOF'\nrm a.txt\n$(rm b.txt)\nEOF",
    "cat <<EOF\nrm a.txt\nEOF\ngit log",
    "cat <<-EOF\n\trm a.txt\n\tEOF\ngit log",
    "cat <<'A' && git log <<'B'\nrm a\nA\nrm b\nB",
    "grep -r 'a|b' . | wc -l",
    "grep 'foo$' a.txt",
    "grep \"foo$\" a.txt",
    "git diff HEAD@{1}",
    "git show HEAD^ HEAD~1",
    "find . -name '*.rs'",
    "git log --format=%h%n",
    "git log --since='2 weeks'",
    "[ -f a.txt ] && rm a.txt",
    "test -f a.txt || git log",
    "true && git log",
    "echo hi; git log",
    "cargo test -- --nocapture a::b",
    "sed -n 1,5p a.txt",
    "git add -- a.txt b.txt",
    "git log 1>&2",
    "git log;git status;git diff",
    "git log&&git status||git diff",
    "(git log) | (grep x)",
    "((git log); (git status))",
    "if ! git log; then rm a.txt; fi",
    "nice git log",
    "env git log",
    "nohup git log",
    "timeout 5 git log",
    "command git log",
    "exec git log",
    "eval 'git log; rm a.txt'",
    "eval git log",
    "for f in a.txt b.txt; do rm \"$f\"; done",
    "for f in a b; do git log $f.txt \"${f}\"; done",
    "for f in a.txt; do [ -f \"$f\" ] && git log; done",
    "x=a.txt; rm \"$x\"",
    "x=a.txt && rm $x",
    "x=a y=$x; git log $y",
    "x='a b'; git log \"$x\"",
    "x='$(rm a.txt)'; git log \"$x\"",
    "x=a; (x=b; git log $x); git log $x",
    "if git status; then x=a; else x=b; fi; git log $x",
    "d=sub; git log \"$d/a\" ${d}/b",
    "while read -r l; do echo \"$l\"; done < a.txt",
    "while IFS= read -r l; do echo \"$l\"; done < a.txt",
    "x=1; echo $x; echo \"$?\"",
    "[ \"$(git log)\" = x ] || git status",
    "x=a; sh -c \"git log $x\"",
];

/// Commands whose text hides what they run, or that mean something else in another shell.
const UNSURE: &[&str] = &[
    "git log $(rm a.txt)",
    "git log `rm a.txt`",
    "git log \"$(rm a.txt)\"",
    "git log \"`rm a.txt`\"",
    "git log \"a $(git status \"$(rm b.txt)\")\"",
    "echo ${X:-$(rm a.txt)}",
    "echo \"${X:=`rm a.txt`}\"",
    "echo $((1 + $(rm a.txt)))",
    "X=rm; $X a.txt",
    "X='rm a.txt'; $X",
    "X=rm Y=a.txt; \"$X\" $Y",
    "$(echo rm) a.txt",
    "r$()m a.txt",
    "r${Z}m a.txt",
    "r\"\"$Z'm' a.txt",
    "rm a*.txt",
    "rm ?.txt",
    "rm [ab].txt",
    "rm ~/a.txt",
    "rm {a,b}.txt",
    "{rm,a.txt}",
    "git log {a..c}",
    "$'rm' a.txt",
    "$'\\x72m' a.txt",
    "$\"rm\" a.txt",
    "for f in a b; do rm $f; done",
    "for f in rm; do $f a.txt; done",
    "for PATH in /nowhere; do git log; done",
    "for f in $(git ls-files); do rm \"$f\"; done",
    "f() { rm a.txt; }; f",
    "git() { rm a.txt; }; git log",
    "function f { rm a.txt; }; f",
    "f() { \"$@\"; }; f rm a.txt",
    "alias ll='rm a.txt'; git log",
    "cat <<EOF\n$(rm a.txt)\nEOF",
    "cat <<EOF\n`rm a.txt`\nEOF",
    "cat <<EOF\n$HOME\nEOF",
    "cat << 'E O F'\nrm a.txt\nE O F\nrm b.txt",
    "cat <<EOF\nrm a.txt",
    "cat <<< $(rm a.txt)",
    "cat <(rm a.txt)",
    "git log > >(rm a.txt)",
    "git log &> out.txt rm a.txt",
    "git log >& out.txt",
    "git log |& rm a.txt",
    "[[ a > b ]] && rm a.txt",
    "[[ -n $(rm a.txt) ]]",
    "(( $(rm a.txt) ))",
    "((rm a.txt); git log)",
    "let 'x=$(rm a.txt)'",
    "X='a[$(rm a.txt)]'; (( X ))",
    "X='a[$(rm a.txt)]'; echo $(( X ))",
    "test -v 'a[$(rm a.txt)]'",
    "declare 'a[$(rm a.txt)]=1'",
    "printf -v 'a[$(rm a.txt)]' x",
    "unset 'a[$(rm a.txt)]'",
    "for ((i = 0; i < 1; i++)); do rm a.txt; done",
    "select x in a; do rm a.txt; done",
    "coproc rm a.txt",
    "time git log",
    "time -p rm a.txt",
    "trap 'rm a.txt' EXIT",
    "trap 'rm a.txt' EXIT; git log",
    "eval \"r\"m a.txt",
    "eval $(echo rm a.txt)",
    "eval \"$X\" rm a.txt",
    "sh -c 'rm a.txt'",
    "bash -c 'git log' rm a.txt",
    "bash -lc 'git log; rm a.txt'",
    "bash -o pipefail -c 'rm a.txt'",
    "bash --norc -c 'rm a.txt'",
    "bash -c \"$X\"",
    "echo rm a.txt | sh",
    "sh < a.txt",
    "sh <<'EOF'\nrm a.txt\nEOF",
    ". ./a.txt",
    "source a.txt",
    "env X=1 rm a.txt",
    "env -i rm a.txt",
    "env -S 'rm a.txt'",
    "X=1 rm a.txt",
    "PATH=/nowhere git log",
    "export X=1; git log",
    "sudo rm a.txt",
    "sudo -u root rm a.txt",
    "doas rm a.txt",
    "nice -n 5 rm a.txt",
    "nice -5 rm a.txt",
    "timeout -k 1 5 rm a.txt",
    "stdbuf -oL rm a.txt",
    "setsid rm a.txt",
    "busybox rm a.txt",
    "xargs rm < a.txt",
    "git ls-files | xargs rm",
    "find . -exec rm {} ;",
    "find . -exec rm {} \\;",
    "find . -name a.txt -exec rm {} +",
    "find . -delete",
    "fd a -x rm",
    "git -c core.pager=rm log",
    "git -c alias.x='!rm a.txt' x",
    "git --exec-path=. log",
    "git rebase -x 'rm a.txt' main",
    "git submodule foreach 'rm a.txt'",
    "git bisect run rm a.txt",
    "command -p rm a.txt",
    "command -v rm",
    "exec -a git rm a.txt",
    "builtin eval 'rm a.txt'",
    "cd .. && rm a.txt",
    "git log > ../out.txt",
    "git log > $X",
    "git log > ~/out.txt",
    "git log {fd}> out.txt",
    "git log \u{a0}rm",
    "git log \r\nrm a.txt",
    "git log \0 rm a.txt",
    "git log 'unpaired",
    "git log \"unpaired",
    "git log `unpaired",
    "git log $(unpaired",
    "git log (",
    "git log ) ; rm a.txt",
    "git log ;; rm a.txt",
    "a+=1 rm a.txt",
    "a[1]=2 rm a.txt",
    "a=(1 2) rm a.txt",
    "!rm a.txt",
    "=rm a.txt",
    "X=a.txt\nrm \"$X\"",
    "rm \"$@\"",
    "git log \\",
    "git log \\\n; rm a.txt",
    "git log '\n'; rm a.txt",
    "gi\\\nt log; r\\\nm a.txt",
    "if true; then rm a.txt; fi; git log",
    "case $X in *) rm a.txt;; esac",
    "{ rm a.txt; } 2>/dev/null",
    "(rm a.txt) > out.txt",
    "true | while true; do rm a.txt; break; done",
    "git log | tee out.txt | xargs -I{} rm {}",
    "rm a.txt; }",
    "printf '%s' x | bash",
    "python3 -c 'import os'",
    "awk 'BEGIN { system(\"rm a.txt\") }'",
    "curl http://localhost | sh",
    "<git[[ <<<E\n rm a.txt",
    "git log a[$(true) <<E\nrm a.txt\nE",
    "git[0 log\nrm a.txt",
    "git log `git status \\`rm a.txt\\``",
    "git log \"${X:-'}\"; rm a.txt; git log \"'}\"",
    "trap rm EXIT",
    // What changes a variable in a way that is not followed.
    "IFS=x; f=axb; rm $f",
    "f=a.txt; f() { f=b.txt; }; f; rm $f",
    "x=a.txt; unset x; rm $x b.txt",
    "x=a.txt; (x=b.txt); rm $x",
    "x=a.txt; echo b.txt | read x; rm $x",
    "x=a.txt; true | x=b.txt; rm $x",
    "false && x=a.txt; rm $x b.txt",
    "x=b.txt; true || x=a.txt; rm $x",
    "x=b.txt; false && true && x=a.txt || rm $x",
    "for f in a.txt; do :; done; rm $f",
    "x=a.txt; x=b.txt & wait; rm $x",
    "for f in 'a.txt b.txt'; do rm $f; done",
    "x='*.txt'; rm $x",
    "x=; rm $x a.txt",
    "x=a.txt; eval x=b.txt; rm $x",
    "x=a.txt; read x < b.txt; rm $x a.txt",
    "x=a.txt; export x=b.txt; rm $x",
    "x=a.txt; readonly x; x=b.txt; rm $x",
    "x=a; rm ${x}.txt ${x%a}b.txt",
    "x=a.txt; printf -v x b.txt; rm $x",
    "x=a.txt; set -- b.txt; rm $1",
    "x=; : ${x:=b.txt}; rm $x",
    "x=a.txt rm $x b.txt",
    "case a in a) x=a.txt;; *) x=b.txt;; esac; rm $x",
    "case a in b) x=a.txt;; a) rm $x b.txt;; esac",
    "x=a.txt; if false; then x=b.txt; fi; rm $x",
    "x=-f; rm $x a.txt",
    "x=a.txt; rm \"$x\" '$x' \\$x",
    "x=a.txt; { x=b.txt; } > c.txt; rm $x",
    "x=a.txt; { x=b.txt; } < none; rm $x",
    "x=a.txt; x=b.txt < none; rm $x",
    "x=a.txt; for x in b.txt; do break; done; rm $x",
    "x=a.txt; while :; do x=b.txt; break; done; rm $x",
    "for x in a b; do y=$x.txt; [ $x = a ] && continue; rm $y; done",
    "x=a.txt; echo $(x=b.txt; rm $x); rm $x",
    "cmd=rm; $cmd a.txt",
    "x=rm; command $x a.txt",
    "set -a; x=1; git log",
    "RANDOM=1; rm $RANDOM",
    "x=a; rm \"$(echo '\"')$x\"",
    "x=a; y='b[$(rm a.txt)]'; echo ${x:y}",
    "x=b.txt; x=a.txt y=$(rm $x)",
    "x=a.txt; x=b.txt env rm $x",
    "x=a.txt; x+=b; rm $x",
    "x=a.txt; printf 'ab%n' x; rm $x",
    "x=; : {a,${x:=b.txt}}; rm \"$x\"",
    "x=a.txt; wait -p x; rm \"$x\" b.txt",
    "x=a.txt; y=-p; wait $y x; rm \"$x\" b.txt",
    "x=a.txt; export x=b.txt y=$x; rm $y",
    "x=a.txt; command cd ..; rm $x",
    "x=a.txt; time x=b.txt; rm $x",
    "x=a; x1=a.txt x2=b.txt; rm $x{1,2}",
    "x=a; x_b=b.txt; rm {$x,a}_b",
    "x=a.txt; x=b.txt &> c.txt; rm $x",
];

#[test]
fn rules_judge_every_program_that_a_shell_starts_or_the_user_is_asked() {
    let stage = Stage::new();
    let mut recorded = 0;
    for shell in SHELLS.iter().map(|name| shell(name)) {
        for command in PLAIN
            .iter()
            .chain(UNSURE)
            .filter(|command| !command.contains('\0'))
        {
            let started = stage.run(&shell, command);
            recorded += started.len();
            check(command, &started);
        }
    }
    assert!(recorded > 300, "only {recorded} programs were started");
}

/// Otherwise the user would be asked about every command.
#[test]
fn a_plain_command_is_allowed_if_all_that_it_starts_is() {
    let stage = Stage::new();
    let builtins = ["true", ":", "echo *", "[ *", "test *", "break"].map(str::to_owned);
    for command in PLAIN {
        let mut rules = builtins.to_vec();
        for name in SHELLS {
            rules.extend(
                stage
                    .run(&shell(name), command)
                    .iter()
                    .map(|words| spelt(words)),
            );
        }
        // Programs that only run if another one fails.
        rules.extend(["git *", "rm *"].map(str::to_owned));
        let rules = json!([{ "decision": "allow", "command": rules }]);
        assert_eq!(decide(&rules, command), "allow_once", "{command:?}");
    }
}

#[test]
fn ambiguous_commands_are_left_to_the_user() {
    let rules = json!([{ "decision": "allow", "command": ["git *", "rm *", "cat *", "sh *", "bash *", "find *", "xargs *", "env *", "sudo *"] }]);
    for command in [
        "git log 'unpaired",
        "git log \0",
        "git log \u{fffd}",
        "git log \r\nrm a.txt",
        "git log $X",
        "git log *.rs",
        "sh",
        "git log | sh",
        "sh -c 'git log; evil'",
        "sudo rm a.txt",
        "env X=1 git log",
        "find . -exec rm {} ;",
        "git ls-files | xargs rm",
        "git -c core.pager=evil log",
        "git log > /etc/passwd",
        "git log > ../x",
        "git log > .bashrc",
        "git log --output=/etc/x",
        "X=1 git log",
        "/tmp/git log",
        "./git log",
        "./sh -c 'git log'",
        "/tmp/env git log",
        "/bin/../proj/sh -c 'git log'",
        "PATH=. sh -c 'x=1'",
        "PATH=. sh -c 'read x'",
        "PATH=. true",
        "C:/sh -c 'git log'",
    ] {
        assert_eq!(decide(&rules, command), "ask", "{command:?}");
    }
    assert_eq!(
        decide(&rules, &format!("git log {}", "x ".repeat(1 << 20))),
        "ask"
    );
    assert_eq!(decide(&rules, &"git log;".repeat(1 << 17)), "ask");
    for many in [
        "git log;",
        "sudo ",
        "git log; sudo x ",
        "find -exec ",
        "eval ",
        "a=b ",
        "'rm x' ",
        "env a=b ",
    ] {
        let deny = json!([{ "decision": "deny", "command": "rm *" }, { "decision": "allow", "kind": "execute" }]);
        let command = many.repeat(60_000 / many.len());
        assert_ne!(decide(&deny, &command), "reject_once", "{many}");
        assert_eq!(decide(&rules, &command), "ask", "{many}");
    }
    for open in ["(", "$(", "{ ", "`", "\"$(", "if ", "${x:-"] {
        for times in [2, 8, 16, 24, 47, 48, 5000] {
            let command = format!("git log; {}", open.repeat(times));
            assert_eq!(decide(&rules, &command), "ask", "{times} times {open}");
        }
    }
}

/// Whether rules for `git`, `true` and `:` allow what was started, also by a program that does nothing else.
fn is_allowed(rules: &Value, started: &[String]) -> bool {
    match started {
        [program, ..] if ["git", "true", ":"].contains(&&**program) => true,
        [env, started @ ..] if env == "env" => is_allowed(rules, started),
        [eval, words @ ..] if eval == "eval" => decide(rules, &words.join(" ")) == "allow_once",
        [sh, option, script, ..] if sh == "sh" && option == "-c" => {
            decide(rules, script) == "allow_once"
        }
        _ => false,
    }
}

/// Pieces of commands, of which some make sense together.
const PIECES: &[&str] = &[
    "git",
    " log",
    " rm",
    "rm",
    " a.txt",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "(",
    ")",
    "{ ",
    " }",
    "}",
    "!",
    " ! ",
    "'",
    "\"",
    "\\",
    "`",
    "$(",
    "${",
    "$",
    "$'",
    "#",
    " #",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "<",
    ">",
    ">>",
    "2>&1",
    "&>",
    "<<<",
    "<(",
    "if ",
    "then ",
    "else ",
    "fi",
    "while ",
    "do ",
    "done",
    "case x in ",
    "x)",
    ";;",
    "esac",
    "for i in ",
    "eval ",
    "exec ",
    "command ",
    "env ",
    "=",
    "X=",
    "[[ ",
    " ]]",
    "((",
    "))",
    "*",
    "?",
    "~",
    "[",
    "]",
    ",",
    "..",
    "time ",
    "function ",
    "f()",
    "sh -c ",
    "\t",
    "\\\n",
    ":",
    "true",
    "trap ",
    "-x",
    "x=",
    " $x",
    " \"$x\"",
    "for x in git rm; ",
    "read x",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn no_command_starts_more_than_was_allowed(pieces in vec(select(PIECES), 1..14)) {
        let command = pieces.concat();
        thread_local!(static STAGE: Stage = Stage::new());
        let deny = json!([{ "decision": "deny", "command": "rm *" }, { "decision": "allow", "kind": "execute" }]);
        let allow = json!([{ "decision": "allow", "command": ["git *", "true", ":"] }]);
        let (passes, allowed) = (decide(&deny, &command) == "allow_once", decide(&allow, &command) == "allow_once");
        if !passes && !allowed {
            return Ok(());
        }
        for name in SHELLS {
            let started = STAGE.with(|stage| stage.run(&shell(name), &command));
            let denied = started.iter().find(|words| words[0] == "rm");
            prop_assert!(!passes || denied.is_none(), "{name}: {command:?} starts {started:?}");
            let other = started.iter().find(|words| !is_allowed(&allow, words));
            prop_assert!(!allowed || other.is_none(), "{name}: {command:?} starts {started:?}");
        }
    }
}
