//! `acp-chain setup`: one command puts the chain in front of an editor's agents, and one removes it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use acp_chain_tests::envelope::Message;
use acp_chain_tests::host::{component, executable, installed, peer, recorded};
use acp_chain_tests::process::Process;
use acp_chain_tests::terminal::Terminal;
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::watched;
use serde_json::json;
use tempfile::TempDir;

const SECRET: &str = "AKIAIOSFODNN7EXAMPLQ";

const ZED: &str = ".config/zed/settings.json";

/// The folder in `PATH` of a user who has agents there.
const BIN: &str = "my programs ü";

const SETTINGS: &str = r#"{
  // Mine.
  "agent_servers": {
    "Claude": { "command": "claude-agent-acp", "env": {} },
    "OpenCode": { "command": "opencode", "args": ["acp"], },
  },
}
"#;

/// A user with a home.
pub struct User(TempDir);

impl User {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A user with Zed.
    fn with_zed() -> Self {
        let user = Self::new();
        user.write(ZED, SETTINGS);
        user
    }

    /// The error that an editor receives when it starts a chain with these options.
    pub async fn error_of_run(&self, options: &[&str]) -> String {
        let mut command = tokio::process::Command::from(self.command(installed()));
        command.arg("run").args(options).args(["--", "true"]);
        let mut client = Process::start("client", &Transcript::new(), command).unwrap();
        let initialize = r#"{"protocolVersion":1}"#;
        let answer = client.wire.request("initialize", initialize).await;
        client.finish().await.unwrap();
        answer.error.unwrap()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path(""))
            .current_dir(self.path(""));
        command
    }

    /// Whether `acp-chain setup` succeeds, and its output.
    pub fn setup(&self, args: &[&str]) -> (bool, String) {
        self.runs(&[&["setup"], args].concat())
    }

    /// The same for any command.
    pub fn runs(&self, args: &[&str]) -> (bool, String) {
        let output = self.command(installed()).args(args).output();
        let output = output.unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.success(), printed)
    }

    /// The output of `acp-chain setup`, which must succeed.
    pub fn sets_up(&self, args: &[&str]) -> String {
        let (is_success, printed) = self.setup(args);
        assert!(is_success, "{args:?}: {printed}");
        printed
    }

    /// The output of `acp-chain setup`, which must fail.
    pub fn is_refused(&self, args: &[&str]) -> String {
        let (is_success, printed) = self.setup(args);
        assert!(!is_success, "{args:?}: {printed}");
        printed
    }

    /// Whether `acp-chain setup` succeeds, and its output, with programs of these names and nothing else in `PATH`.
    fn offers(&self, args: &[&str], programs: &[&str]) -> (bool, String) {
        let bin = self.path(BIN);
        fs::create_dir_all(&bin).unwrap();
        for program in programs {
            executable(&bin.join(program), "#!/bin/sh\n").unwrap();
        }
        let mut command = self.command(installed());
        command.arg("setup").args(args).env("PATH", bin);
        let output = command.output().unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.success(), printed)
    }

    /// Installs a command under a name. Returns the output.
    pub fn adds(&self, name: &str, words: &[&str]) -> String {
        let (is_success, printed) = self.runs(&[&["agent", "add", name, "--"], words].concat());
        assert!(is_success, "{name}: {printed}");
        printed
    }

    /// The same in a terminal in which the user types this line.
    fn types(&self, args: &[&str], line: &str) -> (bool, String) {
        let mut command = self.command(installed());
        command.arg("setup").args(args);
        Terminal::open().unwrap().run(command, line).unwrap()
    }
}

#[test]
fn nothing_changes_before_its_user_has_seen_the_difference_and_said_yes() {
    let user = User::with_zed();
    for line in ["\n", "n\n", "\u{4}"] {
        let (is_success, shown) = user.types(&["zed", "--with", "redact"], line);
        assert!(
            !is_success && shown.contains("Nothing was changed."),
            "{shown}"
        );
        assert_eq!(user.read(ZED), SETTINGS);
    }
    let (is_success, shown) = user.types(&["zed", "--with", "redact"], "y\n");
    assert!(is_success, "{shown}");
    assert!(shown.contains("Change it like this? [y/N] "), "{shown}");
    let program = installed().canonicalize().unwrap();
    let line = format!(
        "    \"Claude\": {{ \"command\": {:?}, \"args\": [\"run\", \"--with\", \"redact\", \"--\", \"claude-agent-acp\"], \"env\": {{}} }},\r\n",
        program.display().to_string()
    );
    assert!(
        shown.contains(&format!("+{line}")),
        "{shown}\nlacks\n{line}"
    );
    assert!(user.read(ZED).contains(line.trim()), "{}", user.read(ZED));
    let (is_success, shown) = user.types(&["zed", "--undo"], "y\n");
    assert!(
        is_success && shown.contains("is as it was before."),
        "{shown}"
    );
    assert_eq!(user.read(ZED), SETTINGS);
}

#[test]
fn without_a_terminal_only_yes_changes_anything_and_print_never_does() {
    let user = User::with_zed();
    let printed = user.is_refused(&["zed"]);
    assert!(
        printed.contains("there is no terminal to ask on; nothing was changed"),
        "{printed}"
    );
    let printed = user.sets_up(&["zed", "--print"]);
    assert!(printed.contains("+    \"OpenCode\": "), "{printed}");
    assert_eq!(user.read(ZED), SETTINGS);
    user.sets_up(&["zed", "--yes"]);
    let changed = user.read(ZED);
    assert_ne!(changed, SETTINGS);
    let printed = user.sets_up(&["zed", "--yes"]);
    assert!(
        printed.contains("launches acp-chain like this already."),
        "{printed}"
    );
    user.sets_up(&["zed", "--undo", "--print"]);
    assert_eq!(user.read(ZED), changed);
    user.sets_up(&["zed", "--undo", "--yes"]);
    assert_eq!(user.read(ZED), SETTINGS);
    let printed = user.is_refused(&["zed", "--undo", "--yes"]);
    assert!(printed.contains("there is nothing to undo"), "{printed}");
}

#[test]
fn what_an_entry_loses_by_a_later_setup_is_told() {
    let user = User::with_zed();
    user.sets_up(&["zed", "--with", "redact", "--yes"]);
    let lost = "! `Claude` loses `redact`; `--with redact` keeps it.\n";
    let printed = user.sets_up(&["zed", "--with", "rules", "--print"]);
    assert!(printed.contains(lost), "{printed}");
    let printed = user.sets_up(&["zed", "--with", "redact", "--with", "rules", "--print"]);
    assert!(!printed.contains("loses"), "{printed}");
    // It stays in force by the user's own chain.
    user.write(
        ".config/acp-chain/config.toml",
        "[[proxy]]\nuse = \"redact\"\n",
    );
    let printed = user.sets_up(&["zed", "--print"]);
    assert!(!printed.contains("loses"), "{printed}");
}

#[test]
fn all_editors_that_are_found_are_changed_and_restored_and_one_that_cannot_be_stops_no_other() {
    let user = User::with_zed();
    let printed = user.is_refused(&["--all", "--undo", "--yes"]);
    assert!(printed.contains("there is nothing to undo"), "{printed}");
    let others = [
        ".config/Code/User/settings.json",
        ".config/Cursor/User/settings.json",
    ];
    let code = r#"{ "acp.agents": { "Mine": { "command": "mine" } } }"#;
    for path in others {
        user.write(path, code);
    }
    let acpx = user.write(".acpx/config.json", "{ no");
    let path = |path: &str| user.path(path).display().to_string();

    let printed = user.is_refused(&["--all", "--with", "redact", "--print"]);
    for line in [
        format!("Zed: {}: would change\n", path(ZED)),
        format!("VS Code: {}: would change\n", path(others[0])),
        format!("VS Code: {}: would change\n", path(others[1])),
        format!(
            "acpx: {}: not changed, because of the error above\n",
            acpx.display()
        ),
    ] {
        assert!(printed.contains(&line), "{printed}\nlacks\n{line}");
    }
    assert_eq!(user.read(ZED), SETTINGS);

    fs::remove_file(acpx).unwrap();
    let printed = user.sets_up(&["--all", "--with", "redact", "--yes"]);
    assert_eq!(printed.matches(": changed\n").count(), 3, "{printed}");
    for path in [ZED, others[0], others[1]] {
        assert!(user.read(path).contains("\"redact\""), "{path}");
    }
    let printed = user.sets_up(&["--all", "--with", "redact", "--yes"]);
    assert_eq!(
        printed.matches(": nothing to change\n").count(),
        3,
        "{printed}"
    );
    let printed = user.sets_up(&["--all", "--undo", "--yes"]);
    assert_eq!(printed.matches(": restored\n").count(), 3, "{printed}");
    assert_eq!(user.read(ZED), SETTINGS);
    for path in others {
        assert_eq!(user.read(path), code);
    }
}

#[test]
fn undo_of_what_was_edited_since_takes_back_only_ours_and_says_so() {
    let user = User::with_zed();
    user.sets_up(&["zed", "--yes", "--agent", "OpenCode"]);
    user.write(ZED, &user.read(ZED).replace("Mine", "Edited"));
    let printed = user.sets_up(&["zed", "--undo", "--yes"]);
    assert!(
        printed.contains("It was edited since: only the entries for acp-chain are removed"),
        "{printed}"
    );
    assert_eq!(user.read(ZED), SETTINGS.replace("Mine", "Edited"));
}

#[test]
fn undo_knows_an_agent_that_only_has_another_name() {
    let user = User::with_zed();
    user.sets_up(&["zed", "--yes", "--agent", "OpenCode"]);
    user.write(ZED, &user.read(ZED).replace("OpenCode", "Renamed"));
    let printed = user.sets_up(&["zed", "--undo", "--yes"]);
    assert!(
        printed.contains("no longer launches acp-chain"),
        "{printed}"
    );
    assert_eq!(user.read(ZED), SETTINGS.replace("OpenCode", "Renamed"));
}

#[test]
fn undo_names_what_still_launches_acp_chain_and_fails() {
    let user = User::with_zed();
    user.sets_up(&["zed", "--yes", "--agent", "OpenCode"]);
    let edited = user.read(ZED).replace("OpenCode", "Renamed");
    user.write(ZED, &edited.replace("\"acp\"", "\"acp\", \"--debug\""));
    for args in [&["--print"][..], &["--yes"]] {
        let printed = user.is_refused(&[&["zed", "--undo"], args].concat());
        assert!(
            printed.contains("still launches acp-chain for `Renamed`")
                && !printed.contains("as it was before"),
            "{printed}"
        );
    }
    user.write(ZED, SETTINGS);
    user.sets_up(&["zed", "--undo", "--yes"]);
}

#[test]
fn commands_that_are_told_name_the_file_where_it_is_needed() {
    let user = User::with_zed();
    let other = user.write(".var/app/dev.zed.Zed/config/zed/settings.json", SETTINGS);
    let other = other.display().to_string();
    let printed = user.sets_up(&[]);
    let command = format!("`acp-chain setup zed --file {other}` puts acp-chain in front");
    assert!(printed.contains(&command), "{printed}");
    let printed = user.sets_up(&["zed", "--file", &other, "--yes"]);
    let command = format!("`acp-chain setup zed --file {other} --undo`");
    assert!(printed.contains(&command), "{printed}");
}

#[test]
fn without_an_editor_those_that_are_found_are_listed_with_what_they_launch() {
    let user = User::new();
    let printed = user.sets_up(&[]);
    assert!(
        printed.contains("No configuration of an editor was found"),
        "{printed}"
    );
    // Of Neovim, its own folder is looked for.
    let printed = user.is_refused(&["neovim"]);
    let missing = format!("there is no {};", user.path(".config/nvim").display());
    assert!(printed.contains(&missing), "{printed}\nlacks\n{missing}");
    let user = User::with_zed();
    user.write(".jetbrains/acp.json", "{\n  oops\n}\n");
    user.write(".config/nvim/init.lua", "");
    user.write(".emacs", "");
    user.sets_up(&["zed", "--yes", "--agent", "Claude"]);
    user.sets_up(&["emacs", "--yes"]);
    let printed = user.sets_up(&[]);
    let path = |path: &str| user.path(path).display().to_string();
    for line in [
        format!(
            "Zed: {}\n  `Claude` launches acp-chain run -- claude-agent-acp\n  `OpenCode` launches opencode acp\n",
            path(ZED)
        ),
        "  `acp-chain setup zed` puts acp-chain in front\n".to_owned(),
        format!("{}:2: ", path(".jetbrains/acp.json")),
        "  `acp-chain setup neovim` puts acp-chain in front\n".to_owned(),
        format!(
            "Emacs (agent-shell, acp.el): {}\n  launches acp-chain\n",
            path(".emacs")
        ),
    ] {
        assert!(printed.contains(&line), "{printed}\nlacks\n{line}");
    }
    let program = installed().canonicalize().unwrap();
    let settings = user.read(ZED);
    user.write(
        ZED,
        &settings.replace(program.to_str().unwrap(), "/gone/acp-chain"),
    );
    let printed = user.sets_up(&[]);
    let line = "  ! `Claude` launches /gone/acp-chain, which does not exist: ";
    assert!(printed.contains(line), "{printed}");
}

#[test]
fn a_difference_has_the_colours_of_other_output() {
    let user = User::with_zed();
    for (force, mark) in [
        ("1", "\u{1b}[32m+    \"OpenCode\": "),
        ("0", "\n+    \"OpenCode\": "),
    ] {
        let mut command = user.command(installed());
        command
            .args(["setup", "zed", "--print"])
            .env("CLICOLOR_FORCE", force);
        let output = command.output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(mark), "{printed:?}");
    }
}

#[test]
fn what_cannot_be_done_is_told_with_the_next_step_and_changes_nothing() {
    let user = User::with_zed();
    for (args, told) in [
        (
            &["zed", "--agent", "claude"][..],
            "has no agent `claude` (did you mean `Claude`?); it has `Claude`, `OpenCode`",
        ),
        (
            &["zed", "--with", "redcat"],
            "--with redcat: `redcat` is not installed (did you mean `redact`?); there are `rules`, `todo`",
        ),
        (
            &["jetbrains"],
            "no configuration of JetBrains was found: there is no ",
        ),
        (&["sublime"], "invalid value 'sublime'"),
        (&["--yes"], "required arguments were not provided"),
        (
            &["zed", "--undo", "--with", "redact"],
            "cannot be used with",
        ),
    ] {
        let printed = user.is_refused(args);
        assert!(printed.contains(told), "{args:?}: {printed}\nlacks\n{told}");
    }
    fs::set_permissions(user.path(ZED), fs::Permissions::from_mode(0o444)).unwrap();
    let printed = user.is_refused(&["zed", "--yes"]);
    assert!(
        printed.contains("is read-only; make it writable"),
        "{printed}"
    );
    assert_eq!(user.read(ZED), SETTINGS);
    user.write(".var/app/dev.zed.Zed/config/zed/settings.json", SETTINGS);
    let printed = user.is_refused(&["zed", "--yes"]);
    assert!(printed.contains("choose one with `--file`"), "{printed}");
}

#[test]
fn a_configuration_shows_no_control_characters_and_keeps_its_mode_and_its_link() {
    let user = User::new();
    let settings = SETTINGS.replace("Mine.", "\u{1b}[31mMine.\u{202e}");
    let dotfile = user.write("dotfiles/zed.json", &settings);
    fs::set_permissions(&dotfile, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(user.path(".config/zed")).unwrap();
    symlink(&dotfile, user.path(ZED)).unwrap();
    let printed = user.sets_up(&["zed", "--yes"]);
    assert!(
        printed.contains("// \\u{1b}[31mMine.\\u{202e}\n"),
        "{printed}"
    );
    assert!(user.path(ZED).symlink_metadata().unwrap().is_symlink());
    let mode = fs::metadata(&dotfile).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    user.sets_up(&["zed", "--undo", "--yes"]);
    assert_eq!(fs::read_to_string(dotfile).unwrap(), settings);
}

#[test]
fn a_program_in_path_is_what_editors_launch() {
    let user = User::with_zed();
    fs::create_dir(user.path("bin")).unwrap();
    symlink(installed(), user.path("bin/acp-chain")).unwrap();
    let mut command = user.command(installed());
    let path = [user.path("bin"), "/usr/bin".into(), "/bin".into()];
    command.env("PATH", std::env::join_paths(path).unwrap());
    let output = command.args(["setup", "zed", "--yes"]).output().unwrap();
    assert!(output.status.success());
    let linked = user.path("bin/acp-chain").display().to_string();
    assert!(
        user.read(ZED).contains(&format!("\"command\": {linked:?}")),
        "{}",
        user.read(ZED)
    );
}

#[test]
fn an_editor_without_a_configuration_of_agents_is_told_on_its_command_line() {
    let user = User::new();
    let (is_success, printed) = user.offers(&["toad", "--with", "redact"], &[]);
    let line = |agent: &str| {
        let program = installed().display();
        format!("  toad acp \"{program} run --with redact {agent}\"\n")
    };
    assert!(
        !is_success && printed.contains(&line("-- AGENT ARGS…")),
        "{printed}"
    );
    let next = "nor installed by name: `acp-chain agent add gemini` installs one\n";
    assert!(printed.ends_with(next), "{printed}");
    user.adds("mine", &["sh"]);
    let (is_success, printed) = user.offers(&["toad", "--with", "redact"], &["opencode"]);
    let lines = line("mine") + &line("-- opencode acp");
    assert!(is_success && printed.ends_with(&lines), "{printed}");
    // By the name of its program, too.
    let named = ["toad", "--with", "redact", "--agent", "claude-agent-acp"];
    let (is_success, printed) = user.offers(&named, &["claude-agent-acp"]);
    let only = line("-- claude-agent-acp");
    assert!(is_success && printed.ends_with(&only), "{printed}");
    assert!(!printed.contains(&line("mine")), "{printed}");
    let (is_success, printed) = user.offers(&["toad", "--agent", "cladue"], &[]);
    let unknown =
        "no agent `cladue` was found, neither in your PATH nor installed by name; there are `";
    assert!(!is_success && printed.contains(unknown), "{printed}");
}

#[test]
fn a_guard_that_decides_nothing_is_told() {
    let user = User::with_zed();
    let printed = user.sets_up(&["zed", "--with", "permissions", "--print"]);
    let told = "`permissions` has no rules, so it decides nothing. ";
    assert!(printed.contains(told), "{printed}");
    let printed = user.sets_up(&["zed", "--with", "redact", "--print"]);
    assert!(!printed.contains(told), "{printed}");
}

#[test]
fn an_installed_agent_that_the_editor_lacks_is_put_in_shown_asked_for_and_taken_back() {
    let user = User::with_zed();
    let printed = user.adds("mine", &["sh"]);
    for next in [
        "acp-chain try mine\n",
        "acp-chain setup EDITOR --agent mine\n",
    ] {
        assert!(printed.contains(next), "{printed}");
    }
    let add = ["zed", "--agent", "mine", "--with", "redact"];
    let printed = user.sets_up(&[&add[..], &["--print"]].concat());
    let program = installed().canonicalize().unwrap();
    let entry = format!(
        "+    \"mine\": {{\n+      \"type\": \"custom\",\n+      \"command\": {:?},\n+      \"args\": [\"run\", \
         \"--with\", \"redact\", \"mine\"],\n+      \"env\": {{}}\n+    }},\n",
        program.display().to_string()
    );
    assert!(printed.contains(&entry), "{printed}\nlacks\n{entry}");
    assert_eq!(user.read(ZED), SETTINGS);
    let (is_success, shown) = user.types(&add, "n\n");
    assert!(!is_success && user.read(ZED) == SETTINGS, "{shown}");
    let (is_success, shown) = user.types(&add, "y\n");
    assert!(is_success, "{shown}");
    let after = user.read(ZED);
    assert!(after.contains(&entry.replace('+', "")), "{after}");
    let printed = user.sets_up(&add);
    assert!(
        printed.contains("launches acp-chain like this already."),
        "{printed}"
    );
    let printed = user.sets_up(&[]);
    assert!(
        printed.contains("  `mine` launches acp-chain run --with redact mine\n"),
        "{printed}"
    );
    // The removal names the settings that still launch the agent, and does not change them.
    let (is_success, printed) = user.runs(&["agent", "remove", "mine"]);
    let told = format!("! `mine` in {} still launches it", user.path(ZED).display());
    assert!(is_success && printed.contains(&told), "{printed}");
    assert_eq!(user.read(ZED), after);
    user.sets_up(&["zed", "--undo", "--yes"]);
    assert_eq!(user.read(ZED), SETTINGS);
}

#[test]
fn an_editor_without_agents_gets_the_one_that_is_installed() {
    let user = User::new();
    user.write(ZED, "{}\n");
    user.adds("mine", &["sh"]);
    for (editor, told) in [
        (
            "zed",
            "has no agent with a launch command; the installed `mine` is added.\n",
        ),
        (
            "acpx",
            "acpx has no configuration yet; the installed `mine` is added.\n",
        ),
    ] {
        let args = [editor, "--with", "redact"];
        let (is_success, printed) = user.offers(&args, &[]);
        let unasked = "there is no terminal to ask on; nothing was changed";
        let is_told = printed.contains(told) && printed.contains(unasked);
        assert!(!is_success && is_told, "{printed}");
        let (is_success, printed) = user.offers(&[&args[..], &["--yes"]].concat(), &[]);
        assert!(is_success, "{printed}");
    }
    assert!(
        user.read(ZED)
            .contains("\"run\", \"--with\", \"redact\", \"mine\"")
    );
    // A broken agent is not added to any editor.
    user.adds("gone", &["sh"]);
    let record = ".local/share/acp-chain/agents/gone/agent.toml";
    let broken = user.read(record).replace("/sh\"", "/no-such-program\"");
    user.write(record, &broken);
    let printed = user.is_refused(&["zed", "--agent", "gone", "--yes"]);
    assert!(
        printed.contains("the agent `gone` is broken: "),
        "{printed}"
    );
    assert!(!user.read(ZED).contains("gone"));
}

#[test]
fn an_agent_whose_program_is_not_here_is_told_before_anything_is_changed() {
    let user = User::with_zed();
    let missing = |name: &str, program: &str| {
        format!(
            "! `{name}` launches `{program}`, which was not found here: correct it, unless Zed has another `PATH`.\n"
        )
    };
    let claude = missing("Claude", "claude-agent-acp");
    let opencode = missing("OpenCode", "opencode");
    let (is_success, printed) = user.offers(&["zed", "--print"], &[]);
    let get = "No agent was found here: `acp-chain agent add gemini` installs one.\n";
    for told in [get, &claude, &opencode] {
        assert!(printed.contains(told), "{printed}\nlacks\n{told}");
    }
    assert!(is_success && user.read(ZED) == SETTINGS, "{printed}");
    // Only what is chosen, and only what is missing.
    let (_, printed) = user.offers(&["zed", "--print", "--agent", "Claude"], &[]);
    assert!(
        printed.contains(&claude) && !printed.contains(&opencode),
        "{printed}"
    );
    let (_, printed) = user.offers(&["zed", "--print"], &["opencode"]);
    let here = "Agents that are here: `opencode acp` of your PATH.\n";
    assert!(
        printed.contains(here) && !printed.contains(&opencode),
        "{printed}"
    );
    let (is_success, printed) = user.offers(&["zed", "--yes"], &["claude-agent-acp"]);
    assert!(is_success && !printed.contains(&claude), "{printed}");
}

#[test]
fn backups_that_cannot_be_kept_are_told_before_anything_is_asked() {
    let user = User::with_zed();
    let data = user.write(".local/share/acp-chain", "");
    let printed = user.is_refused(&["zed"]);
    let told = format!(
        "backups of configurations cannot be written to {}/setup: ",
        data.display()
    );
    let next = "or let XDG_DATA_HOME name a folder of yours";
    assert!(
        printed.contains(&told) && printed.contains(next),
        "{printed}"
    );
    assert_eq!(user.read(ZED), SETTINGS);
}

#[test]
fn an_agent_in_path_gets_a_name_and_an_entry_beside_the_one_that_the_editor_launches_by_itself() {
    let user = User::new();
    let settings = "{ \"agent_servers\": { \"gemini\": { \"type\": \"registry\" } } }\n";
    user.write(ZED, settings);
    let args = ["zed", "--with", "redact", "--yes"];
    let (is_success, printed) = user.offers(&args, &[]);
    let next = "no agent was found in your PATH, and none is installed by name: `acp-chain agent add gemini` installs \
                one, which `acp-chain setup zed --with redact` then adds\n";
    assert!(!is_success && printed.ends_with(next), "{printed}");
    let (is_success, printed) = user.offers(&["zed", "--agent", "nope"], &[]);
    let once = "and none is installed by `acp-chain agent add`; no agent was found in your PATH either: `acp-chain agent \
                add gemini` installs one";
    assert!(!is_success && printed.contains(once), "{printed}");
    assert_eq!(user.read(ZED), settings);

    let (is_success, printed) = user.offers(&["zed", "--with", "redact", "--print"], &["gemini"]);
    assert!(is_success, "{printed}");
    let (_, agents) = user.runs(&["agent", "list"]);
    assert!(!agents.contains("gemini"), "{agents}");

    // Beside another that the chain is put in front of, it is not added unasked.
    let both = r#"{"agent_servers":{"gemini":{"type":"registry"},"Other":{"command":"sh"}}}"#;
    let beside = user.write("both.json", both).display().to_string();
    let (is_success, printed) = user.offers(&["zed", "--file", &beside, "--print"], &["gemini"]);
    let next = format!(
        " `acp-chain setup zed --agent gemini --file {beside}` adds it behind the chain.\n"
    );
    assert!(is_success && printed.contains(&next), "{printed}");

    let (is_success, printed) = user.offers(&args, &["gemini"]);
    assert!(is_success, "{printed}");
    let program = user.path(BIN).join("gemini");
    for told in [
        "; `gemini --acp` of your PATH is added.\n",
        "`gemini` stays as it is: it has no `command` in this file",
        "Zed's own agent, and those that it installs by itself, start without a chain.\n",
        &format!("`gemini` is the name of {} --acp now", program.display()),
    ] {
        assert!(printed.contains(told), "{printed}\nlacks\n{told}");
    }
    let after: serde_json::Value = serde_json::from_str(&user.read(ZED)).unwrap();
    let entry = &after["agent_servers"]["gemini (acp-chain)"];
    assert_eq!(entry["args"], json!(["run", "--with", "redact", "gemini"]));
    let (_, agents) = user.runs(&["agent", "list"]);
    assert!(agents.contains(program.to_str().unwrap()), "{agents}");
    user.sets_up(&["zed", "--undo", "--yes"]);
    assert_eq!(user.read(ZED), settings);
}

#[test]
fn of_several_agents_the_user_chooses_one() {
    let user = User::new();
    user.write(ZED, "{}\n");
    let there = ["gemini", "opencode"];
    let (is_success, printed) = user.offers(&["zed", "--with", "redact", "--yes"], &there);
    let next = "To add one that is here:\n  acp-chain setup zed --agent gemini --with redact    # `gemini --acp` of your \
                PATH\n  acp-chain setup zed --agent opencode --with redact    # `opencode acp` of your PATH\n";
    assert!(!is_success && printed.ends_with(next), "{printed}");
    let mut command = user.command(installed());
    command.args(["setup", "zed"]).env("PATH", user.path(BIN));
    let (is_success, shown) = Terminal::open().unwrap().run(command, "7\n2\ny\n").unwrap();
    assert!(is_success, "{shown}");
    assert!(
        shown.contains("  1. `gemini --acp` of your PATH"),
        "{shown}"
    );
    assert!(
        user.read(ZED).contains("\"run\", \"opencode\""),
        "{}",
        user.read(ZED)
    );
}

#[tokio::test]
async fn acpx_has_a_turn_with_an_installed_agent_that_setup_has_put_in() {
    let user = User::new();
    let received = user.path("received");
    let words = recorded(&received, [peer("bin").join("npm-agent")]);
    let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
    user.adds("mine", &words);
    user.sets_up(&["acpx", "--agent", "mine", "--yes", "--with", "redact"]);
    asks_through_acpx(&user, "mine", &received).await;
}

/// Sends an agent a secret through acpx, and checks that the agent answers and does not receive the secret.
async fn asks_through_acpx(user: &User, name: &str, received: &Path) {
    let mut acpx = user.command(&peer("bin").join("acpx"));
    acpx.args([
        "--format",
        "json",
        "--json-strict",
        "--approve-all",
        name,
        "exec",
    ]);
    acpx.arg(format!("my key is {SECRET}, keep it"));
    let mut acpx = tokio::process::Command::from(acpx);
    let output = acpx.kill_on_drop(true).output();
    let output = watched(&Transcript::new(), "acpx", output).await.unwrap();
    let wire = String::from_utf8(output.stdout).unwrap();
    let ended = wire.lines().any(|line| {
        let result = Message::parse(line).unwrap().result;
        result.is_some_and(|result| result.contains("end_turn"))
    });
    assert!(output.status.success() && ended, "{name}: {wire}");
    let received = fs::read_to_string(received).unwrap();
    assert!(received.contains("[redacted"), "{name}: {received}");
    assert!(!received.contains(SECRET), "{name}: {received}");
}

#[tokio::test]
async fn acpx_launches_what_setup_wrote() {
    // Each way to configure an agent of acpx.
    for name in ["list", "both", "line"] {
        let user = User::new();
        let received = user.path("received");
        let words = recorded(&received, [peer("bin").join("npm-agent")]);
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        let quoted = words
            .iter()
            .map(|word| format!("'{}'", word.replace('\'', r"'\''")));
        let agent = match name {
            "list" => json!({ "argv": words }),
            "both" => json!({ "command": words[0], "args": words[1..] }),
            _ => json!({ "command": quoted.collect::<Vec<_>>().join(" ") }),
        };
        let config = json!({ "agents": { name: agent } });
        user.write(".acpx/config.json", &format!("{config:#}\n"));
        user.sets_up(&["acpx", "--yes", "--with", "redact"]);
        asks_through_acpx(&user, name, &received).await;
    }
}

#[test]
fn a_configuration_that_an_editor_is_told_of_has_to_be_there() {
    let user = User::with_zed();
    let pass = component("pass");
    let chain = format!("[[proxy]]\nid = \"pass\"\npath = '{}'\n", pass.display());
    let config = user.write(".config/acp-chain/config.toml", &chain);
    user.sets_up(&["zed", "--yes"]);
    let config = config.to_str().unwrap();
    let settings = user.read(ZED);
    assert!(
        settings.contains("\"--settings\"") && settings.contains(config),
        "{settings}"
    );

    // An editor that clears its environment can still start the chain.
    let run = |args: &[&str]| {
        let mut command = user.command(installed());
        let elsewhere = user.path("elsewhere");
        command.args(args).env("XDG_CONFIG_HOME", elsewhere);
        let output = command.stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr)
    };
    let shown = run(&["check", "--settings", config]);
    assert!(shown.contains("pass  "), "{shown}");
    fs::remove_file(config).unwrap();
    let told = "your config.toml is missing, and without it your own chain would be empty";
    let shown = run(&["check", "--settings", config]);
    assert!(shown.contains(told), "{shown}");
    let doctor = run(&["doctor"]);
    assert!(doctor.contains(told), "{doctor}");
    user.sets_up(&["zed", "--undo", "--yes"]);
    assert!(!user.read(ZED).contains("acp-chain"));
}

#[tokio::test]
async fn an_editor_is_told_that_its_configuration_is_gone() {
    let refused = User::new().error_of_run(&["--settings", "gone.toml"]).await;
    assert!(refused.contains("your config.toml is missing"), "{refused}");
}
