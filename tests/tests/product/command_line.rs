//! The command line in shells, manuals and terminals.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_chain_tests::host::{executable, installed, peer, program};
use acp_chain_tests::terminal::Terminal;
use tempfile::TempDir;

/// Subcommands that users do not type, and no script calls.
const HIDDEN: [&str; 12] = [
    "demo-agent",
    "self-test-part",
    "supervise",
    "mcp-shim",
    "find-projects",
    "project-chain",
    "export-otel",
    "keep-receipts",
    "keep-values",
    "keep-store",
    "edit-lines",
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

/// A shell of a user who has the program with its extensions in `PATH`, and an agent `mine`.
fn with_names(mut shell: Command, home: &TempDir) -> Command {
    let bin = home.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(installed(), bin.join("acp-chain")).unwrap();
    let mut add = Command::new(installed());
    add.args(["agent", "add", "mine", "--", "sh"])
        .env("HOME", home.path());
    printed(&mut add);
    let path = std::env::var_os("PATH").unwrap();
    let path = [bin].into_iter().chain(std::env::split_paths(&path));
    shell
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("HOME", home.path());
    shell
}

#[test]
fn bash_completes_names_of_extensions_and_agents() {
    let home = tempfile::tempdir().unwrap();
    let asks = r#"
        source "$1"
        function=$(complete -p acp-chain | sed 's/.*-F \([^ ]*\).*/\1/')
        COMP_WORDS=(acp-chain run --with re) COMP_CWORD=3
        $function acp-chain re --with
        echo "${COMPREPLY[@]}"
        COMP_WORDS=(acp-chain add re) COMP_CWORD=2
        $function acp-chain re add
        echo "${COMPREPLY[@]}"
        COMP_WORDS=(acp-chain try mi) COMP_CWORD=2
        $function acp-chain mi try
        echo "${COMPREPLY[@]}"
        COMP_WORDS=(acp-chain setup z) COMP_CWORD=2
        $function acp-chain z setup
        echo "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", asks, "bash"])
        .arg(script(&home, "bash"));
    let completed = printed(&mut with_names(bash, &home));
    assert_eq!(completed, "redact\nredact\nmine\nzed\n");
}

#[test]
fn fish_completes_names_of_extensions_and_agents() {
    let home = tempfile::tempdir().unwrap();
    // This fish comes without its library of functions.
    let asks = "
        function __fish_seen_subcommand_from
            for word in (commandline -poc)
                contains -- $word $argv; and return
            end
            return 1
        end
        source $argv[1]
        complete --do-complete 'acp-chain run --with re'
        complete --do-complete 'acp-chain try mi'
        complete --do-complete 'acp-chain agent remove mi'
    ";
    let mut fish = Command::new(peer("bin/fish"));
    fish.args(["--no-config", "--command", asks])
        .arg(script(&home, "fish"))
        .current_dir(home.path());
    let completed = printed(&mut with_names(fish, &home));
    let names = completed.lines().filter_map(|line| line.split('\t').next());
    assert_eq!(names.collect::<Vec<_>>(), ["redact", "mine", "mine"]);
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
fn powershell_gets_a_script_that_asks_for_names() {
    let home = tempfile::tempdir().unwrap();
    let script = fs::read_to_string(script(&home, "powershell")).unwrap();
    for part in [
        "        'acp-chain;run --with' { 'extensions' }\n",
        "        'acp-chain;run run' { 'agents' }\n",
        "        'acp-chain;info info' { 'extensions' }\n",
        "        'acp-chain;setup --agent' { 'candidates' }\n",
        "        'acp-chain;remove remove' { 'proxies' }\n",
        "        'acp-chain;agent;remove remove' { 'agents' }\n",
        "{ acp-chain complete-names $whose 2>$null }",
    ] {
        assert!(script.contains(part), "{script}\nlacks\n{part}");
    }
    let [asks, chooses] = ["complete-names", "$completions.Where{"].map(|part| script.find(part));
    assert!(asks < chooses, "{script}");
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
    // The commands, by topic, precede the options.
    let lines = help.lines().skip_while(|line| *line != "Use:");
    let lines = lines.take_while(|line| *line != "Options:");
    let commands: Vec<_> = lines.filter_map(|line| line.strip_prefix("  ")).collect();
    assert!(commands.len() > 20, "{help}");
    for line in commands {
        let command = line.split_whitespace().next().unwrap();
        let has_page = folder.join(format!("acp-chain-{command}.1")).exists();
        assert!(has_page, "{command}");
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
fn limits_are_a_list_for_people_and_a_table_for_the_book() {
    let home = tempfile::tempdir().unwrap();
    let listed = printed(&mut acp_chain(home.path(), &["limits"]));
    let memory = "memory  64 MiB, up to 1 GiB\n    the linear memory of the component, ";
    assert!(
        listed.starts_with(memory) && !listed.contains("---"),
        "{listed}"
    );
    let table = printed(&mut acp_chain(home.path(), &["limits", "--markdown"]));
    assert!(table.starts_with("| Key | Default | Ceiling |"), "{table}");
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

/// The six lines that the program prints alone in a wide terminal, with nothing in `PATH` but this folder.
fn welcomed(home: &Path, path: &Path) -> Vec<String> {
    let lines = welcomed_within(200, home, path);
    assert_eq!(lines.len(), 6, "{lines:?}");
    lines
}

/// The lines in a terminal with so many columns.
fn welcomed_within(columns: u16, home: &Path, path: &Path) -> Vec<String> {
    let mut command = Command::new(program());
    let folder = home.ancestors().find(|folder| folder.is_dir()).unwrap();
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("NO_COLOR", "1")
        .current_dir(folder);
    let terminal = Terminal::open().unwrap();
    terminal.resize(24, columns).unwrap();
    let (succeeded, shown) = terminal.run(command, "").unwrap();
    assert!(succeeded, "{shown}");
    shown.lines().map(str::to_owned).collect()
}

#[test]
fn in_a_narrow_terminal_no_line_of_the_welcome_is_too_long_nor_any_command_broken() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let bin = home.join("bin");
    fs::create_dir(&bin).unwrap();
    for agent in ["gemini", "opencode", "claude-agent-acp", "codex-acp"] {
        executable(&bin.join(agent), "#!/bin/sh\n").unwrap();
    }
    fs::create_dir_all(home.join(".config/zed")).unwrap();
    let zed = home.join(".config/zed/settings.json");
    fs::write(&zed, r#"{ "agent_servers": { "a": { "command": "a" } } }"#).unwrap();
    for columns in [80, 40] {
        let lines = welcomed_within(columns, home, &bin);
        let is_fit = |line: &String| line.chars().count() <= columns.into();
        assert!(lines.iter().all(is_fit), "{columns}: {lines:#?}");
        let text = lines.join("\n");
        for command in ["`acp-chain setup zed --with redact`", "`acp-chain --help`"] {
            assert!(
                text.contains(command),
                "{columns}: {text}\nlacks\n{command}"
            );
        }
    }
}

#[test]
fn alone_in_a_terminal_the_program_says_what_it_is_and_found_and_what_comes_next() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let bin = home.join("my bin ü");
    fs::create_dir(&bin).unwrap();
    let next = |command: &str| format!("Next: `{command}` ");
    let lines = welcomed(home, &bin);
    assert_eq!(
        lines[..5],
        [
            "acp-chain puts sandboxed proxies between your editor and its coding agent.",
            "  editors  none found",
            "  agents   none installed, and none in your PATH",
            "  project  none here",
            "  chain    no proxies of your own",
        ]
    );
    assert!(
        lines[5].starts_with(&next("acp-chain demo")),
        "{}",
        lines[5]
    );
    assert!(lines[5].ends_with("; `acp-chain --help` lists all commands."));

    executable(&bin.join("gemini"), "#!/bin/sh\n").unwrap();
    let lines = welcomed(home, &bin);
    assert_eq!(lines[2], "  agents   gemini (in your PATH)");
    let tries = next("acp-chain try --with redact -- gemini --acp");
    assert!(lines[5].starts_with(&tries), "{}", lines[5]);

    fs::create_dir_all(home.join(".config/zed")).unwrap();
    let zed = home.join(".config/zed/settings.json");
    let agents = r#"{ "agent_servers": { "a": { "command": "a" }, "b": { "type": "registry" } } }"#;
    fs::write(&zed, agents).unwrap();
    let lines = welcomed(home, &bin);
    assert_eq!(lines[1], "  editors  zed (0 of 2 agents behind the chain)");
    let sets_up = next("acp-chain setup zed --with redact");
    assert!(lines[5].starts_with(&sets_up), "{}", lines[5]);

    fs::create_dir_all(home.join(".config/acp-chain")).unwrap();
    fs::write(home.join(".config/acp-chain/config.toml"), "oops").unwrap();
    let lines = welcomed(home, &bin);
    assert_eq!(lines[4], "  chain    your config.toml cannot be read");
    assert!(
        lines[5].starts_with(&next("acp-chain doctor")),
        "{}",
        lines[5]
    );

    // Not even root can make a directory in a file.
    welcomed(&bin.join("gemini/home"), Path::new("/nonexistent"));
}

#[test]
fn a_home_that_depends_on_the_current_folder_is_none() {
    // It may be anybody's.
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [
        (
            ".claude/settings.json",
            r#"{ "permissions": { "allow": ["Bash(theirs)"] } }"#,
        ),
        (
            ".config/zed/settings.json",
            r#"{ "agent_servers": { "theirs": { "command": "a" } } }"#,
        ),
    ] {
        let path = folder.path().join("relative").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    for args in [
        &["permissions", "import"][..],
        &["permissions", "suggest"],
        &["scan"],
        &["setup", "zed", "--with", "redact", "--print"],
    ] {
        let mut command = acp_chain(folder.path(), args);
        let output = command.env("HOME", "relative").output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        assert!(
            output.stdout.is_empty() && told.contains("no home folder"),
            "{args:?}: {told}"
        );
    }
}

#[test]
fn alone_without_a_terminal_the_program_prints_its_help() {
    let home = tempfile::tempdir().unwrap();
    let output = acp_chain(home.path(), &[]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("Usage: acp-chain ") && told.contains("\nServe:\n"),
        "{told}"
    );
}

#[test]
fn arguments_that_name_nothing_are_told_with_what_is_meant() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("notes"), "").unwrap();
    fs::create_dir(home.path().join("shout")).unwrap();
    for (args, expected) in [
        (&["info", ""][..], "a value is required for"),
        (&["info", "notes"], "The file of that name is ./notes"),
        (
            &["info", "shout"],
            "./shout is a folder, and an extension is one file",
        ),
        (
            &["list", "--manifest", "none.toml"],
            "none.toml: there is no such file",
        ),
        (&["agent", "add", ""], "a value is required for"),
        (&["agent", "list", "--registry", "x"], "--available"),
        (&["receipts", "show", "notes"], "notes: it is not a folder"),
        (
            &["receipts", "verify", "none"],
            "none: there is no such folder",
        ),
        (
            &["permissions", "import", "--project", "none"],
            "--project none: ",
        ),
    ] {
        let output = acp_chain(home.path(), args).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && told.contains(expected),
            "{args:?}: {told}"
        );
    }
}
