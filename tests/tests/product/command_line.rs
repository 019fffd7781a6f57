//! The command line in shells, manuals and terminals.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_chain_tests::host::{peer, program};
use acp_chain_tests::terminal::Terminal;
use tempfile::TempDir;

/// Subcommands that users do not type.
const HIDDEN: [&str; 7] = [
    "supervise",
    "mcp-shim",
    "find-projects",
    "project-chain",
    "export-otel",
    "keep-values",
    "watch-keys",
];

/// The start of a colour.
const ESCAPE: char = '\u{1b}';

/// The program of a user with this home.
fn acp_chain(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program());
    command
        .args(args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env("TERM", "xterm")
        .current_dir(home);
    command
}

/// The output of a command, which must succeed.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{told}");
    String::from_utf8(output.stdout).unwrap()
}

/// The script for a shell, in a file.
fn script(home: &TempDir, shell: &str) -> PathBuf {
    let script = printed(&mut acp_chain(home.path(), &["completions", shell]));
    for hidden in HIDDEN {
        assert!(!script.contains(hidden), "{shell} completes `{hidden}`");
    }
    let path = home.path().join(shell);
    fs::write(&path, script).unwrap();
    path
}

#[test]
fn bash_completes_commands_and_their_options() {
    let home = tempfile::tempdir().unwrap();
    let asks = r#"
        source "$1"
        function=$(complete -p acp-chain | sed 's/.*-F \([^ ]*\).*/\1/')
        COMP_WORDS=(acp-chain tr) COMP_CWORD=1
        $function acp-chain tr acp-chain
        echo "${COMPREPLY[@]}"
        COMP_WORDS=(acp-chain trust --l) COMP_CWORD=2
        $function acp-chain --l trust
        echo "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", asks, "bash"])
        .arg(script(&home, "bash"));
    assert_eq!(
        printed(&mut bash),
        "try trace trust\n--list --log --log-file\n"
    );
}

#[test]
fn zsh_takes_its_completions() {
    let home = tempfile::tempdir().unwrap();
    let asks = r#"
        module_path=($2/usr/lib/*-linux-gnu/zsh/*)
        compdef() { print -- "$@" }
        source "$1"
        functions _acp-chain__subcmd__run_commands > /dev/null && print run
        functions _acp-chain__subcmd__nothing_commands > /dev/null || print nothing else
    "#;
    let mut zsh = Command::new(peer("bin/zsh"));
    zsh.args(["-f", "-c", asks, "zsh"])
        .arg(script(&home, "zsh"))
        .arg(peer("debian/zsh/root"));
    assert_eq!(
        printed(&mut zsh),
        "_acp-chain acp-chain\nrun\nnothing else\n"
    );
}

#[test]
fn fish_completes_commands_and_their_options() {
    let home = tempfile::tempdir().unwrap();
    let asks = "
        source $argv[1]
        complete --do-complete 'acp-chain tr'
        complete --do-complete 'acp-chain trust --li'
    ";
    let mut fish = Command::new(peer("bin/fish"));
    fish.args(["--no-config", "--command", asks])
        .arg(script(&home, "fish"));
    fish.env("HOME", home.path());
    let completed = printed(&mut fish);
    let names = completed.lines().filter_map(|line| line.split('\t').next());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["trace", "trust", "try", "--list"]
    );
}

/// These shells are not installed here.
#[test]
fn powershell_and_elvish_get_scripts_that_name_each_command() {
    let home = tempfile::tempdir().unwrap();
    for (shell, begins) in [
        (
            "powershell",
            "Register-ArgumentCompleter -Native -CommandName 'acp-chain'",
        ),
        ("elvish", "set edit:completion:arg-completer[acp-chain]"),
    ] {
        let script = fs::read_to_string(script(&home, shell)).unwrap();
        assert!(script.contains(begins), "{script}");
        for command in ["run", "try", "doctor", "setup", "completions"] {
            assert!(
                script.contains(&format!("'acp-chain;{command}'")),
                "no {command} for {shell}"
            );
        }
    }
}

#[test]
fn manual_pages_are_of_every_command_and_mandoc_finds_no_error_in_them() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("share/man1");
    let args = ["man", folder.to_str().unwrap()];
    assert_eq!(printed(&mut acp_chain(home.path(), &args)), "");
    let pages = fs::read_dir(&folder).unwrap();
    let mut pages: Vec<_> = pages.map(|page| page.unwrap().path()).collect();
    pages.sort();
    let help = printed(&mut acp_chain(home.path(), &["--help"]));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in commands.take_while(|line| !line.is_empty()) {
        let command = line.split_whitespace().next().unwrap();
        let has_page = folder.join(format!("acp-chain-{command}.1")).exists();
        assert_eq!(has_page, command != "help", "{command}");
    }
    let names: Vec<_> = pages.iter().map(|page| page.to_string_lossy()).collect();
    for hidden in HIDDEN {
        assert!(
            !names.iter().any(|name| name.contains(hidden)),
            "{hidden} has a page"
        );
    }
    let mut mandoc = Command::new(peer("bin/mandoc"));
    assert_eq!(
        printed(mandoc.args(["-T", "lint", "-W", "error"]).args(&pages)),
        ""
    );
    let run = fs::read_to_string(folder.join("acp-chain-run.1")).unwrap();
    for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "\"EXIT CODES\""] {
        assert!(
            run.contains(&format!(".SH {section}\n")),
            "no {section}: {run}"
        );
    }
    let printed = printed(&mut acp_chain(home.path(), &["man"]));
    assert_eq!(
        printed,
        fs::read_to_string(folder.join("acp-chain.1")).unwrap()
    );
}

/// The output of `doctor` in a terminal, with these variables.
fn shown(set: &[(&str, &str)]) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut doctor = acp_chain(home.path(), &["doctor"]);
    doctor.envs(set.iter().copied());
    let (_, shown) = Terminal::open().unwrap().run(doctor, "").unwrap();
    shown
}

#[test]
fn a_terminal_gets_colours_unless_its_user_wants_none() {
    assert!(shown(&[]).contains(ESCAPE));
    for none in [
        &[("NO_COLOR", "1")][..],
        &[("CLICOLOR", "0")],
        &[("TERM", "dumb")],
        &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
    ] {
        let shown = shown(none);
        assert!(
            shown.contains("program") && !shown.contains(ESCAPE),
            "{none:?}: {shown}"
        );
    }
}

#[test]
fn a_pipe_gets_colours_only_if_they_are_forced() {
    let home = tempfile::tempdir().unwrap();
    let piped = |set: &[(&str, &str)]| {
        let mut doctor = acp_chain(home.path(), &["doctor"]);
        let output = doctor.envs(set.iter().copied()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!piped(&[]).contains(ESCAPE));
    assert!(!piped(&[("CLICOLOR_FORCE", "0")]).contains(ESCAPE));
    assert!(piped(&[("CLICOLOR_FORCE", "1")]).contains(ESCAPE));
    assert!(!piped(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains(ESCAPE));
    assert!(piped(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")]).contains(ESCAPE));
}

#[test]
fn a_full_disk_is_an_error_and_a_reader_who_has_enough_is_none() {
    let home = tempfile::tempdir().unwrap();
    let trace = home.path().join("trace");
    let line =
        r#"{"connection":"c","from":"client","to":"agent","kind":"notification","method":"m"}"#;
    fs::write(&trace, format!("{line}\n")).unwrap();
    for args in [
        &["limits"][..],
        &["powers"],
        &["man"],
        &["completions", "bash"],
        &["trace", "show", "trace"],
        &["trace", "export", "--to", "otlp", "trace"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = acp_chain(home.path(), args).stdout(full).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2)
                && told.starts_with("acp-chain: standard output cannot be written: "),
            "{args:?}: {told}"
        );
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut unread = acp_chain(home.path(), args);
        let output = unread.stdout(writer).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    }
}

#[test]
fn help_and_the_log_have_no_colours_in_a_terminal() {
    let home = tempfile::tempdir().unwrap();
    for args in [&["run", "--help"][..], &["--log", "debug", "limits"]] {
        let command = acp_chain(home.path(), args);
        let (succeeded, shown) = Terminal::open().unwrap().run(command, "").unwrap();
        assert!(succeeded && !shown.contains(ESCAPE), "{shown}");
    }
}
