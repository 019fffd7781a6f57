//! `acp-chain setup` with the user's folders, the agents, or their settings at unusual places.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use acp_chain_tests::host::{component, installed};
use serde_json::Value;

use super::setup::User;

const JETBRAINS: &str = ".jetbrains/acp.json";

const AGENT: &str = "{ \"agent_servers\": { \"mine\": { \"command\": \"agent\" } } }\n";

/// The output of a command, which must succeed.
fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{command:?}: {printed}");
    printed
}

/// A user whose folders of settings and data are named only by the environment.
struct MovedUser(User);

impl MovedUser {
    fn new() -> Self {
        let user = User::new();
        user.write(JETBRAINS, AGENT);
        Self(user)
    }

    fn config(&self) -> PathBuf {
        self.0.path("elsewhere/settings/acp-chain/config.toml")
    }

    fn runs(&self, args: &[&str]) -> String {
        let mut command = self.0.command(installed());
        command
            .args(args)
            .env("XDG_CONFIG_HOME", self.0.path("elsewhere/settings"))
            .env("XDG_DATA_HOME", self.0.path("elsewhere/data"));
        printed(command)
    }

    /// The options before the agent in an editor's launch command.
    fn launched(&self, name: &str) -> Vec<String> {
        let settings: Value = serde_json::from_str(&self.0.read(JETBRAINS)).unwrap();
        let agent = &settings["agent_servers"][name];
        let words = agent["args"].as_array().unwrap().iter();
        let words = words.map(|word| word.as_str().unwrap().to_owned());
        words.skip_while(|word| word == "run").collect()
    }

    /// Another subcommand with these options, from an editor that clears the environment.
    fn launches(&self, command: &[&str], options: &[String]) -> String {
        let mut cleared = self.0.command(installed());
        cleared.args(command).args(options);
        printed(cleared)
    }
}

#[test]
fn an_editor_that_clears_the_environment_finds_what_the_user_has() {
    let moved = MovedUser::new();
    let pass = component("pass");
    let chain = format!("[[proxy]]\nid = \"pass\"\npath = '{}'\n", pass.display());
    fs::create_dir_all(moved.config().parent().unwrap()).unwrap();
    fs::write(moved.config(), chain).unwrap();
    moved.runs(&["agent", "add", "own", "--", "sh"]);
    moved.runs(&[
        "setup",
        "jetbrains",
        "--yes",
        "--agent",
        "own",
        "--agent",
        "mine",
    ]);
    let config = moved.config();
    let data = moved.0.path("elsewhere/data/acp-chain");
    let expected = [
        "--settings",
        config.to_str().unwrap(),
        "--data",
        data.to_str().unwrap(),
    ];
    for (name, rest) in [("own", &["own"][..]), ("mine", &["--", "agent"])] {
        let words = moved.launched(name);
        assert_eq!(words, [&expected[..], rest].concat(), "{name}");
    }
    let options = expected.map(str::to_owned);
    assert!(moved.launches(&["check"], &options).contains("pass  "));
    assert!(moved.launches(&["agent", "list"], &options).contains("own"));
    // Without the options, nothing would be found.
    assert!(!moved.launches(&["agent", "list"], &[]).contains("own"));
    moved.runs(&["setup", "jetbrains", "--undo", "--yes"]);
    assert_eq!(moved.0.read(JETBRAINS), AGENT);
}

#[test]
fn settings_that_are_not_there_yet_are_begun_where_they_will_be_found() {
    let moved = MovedUser::new();
    moved.runs(&["setup", "jetbrains", "--print"]);
    assert!(!moved.config().exists());
    let told = moved.runs(&["setup", "jetbrains", "--yes"]);
    let new = format!("{} is new and empty", moved.config().display());
    assert!(told.contains(&new), "{told}");
    assert!(
        told.contains("There is no proxy of your own in the chain yet"),
        "{told}"
    );
    let words = moved.launched("mine");
    let pass = component("pass");
    let chain = format!("[[proxy]]\nid = \"pass\"\npath = '{}'\n", pass.display());
    fs::write(moved.config(), chain).unwrap();
    let shown = moved.launches(&["check"], &words[..4]);
    assert!(shown.contains("pass  "), "{shown}");
}

#[test]
fn folders_at_their_usual_places_are_not_named() {
    let user = User::new();
    user.write(JETBRAINS, AGENT);
    let mut command = user.command(installed());
    command
        .args(["setup", "jetbrains", "--yes"])
        .env("XDG_CONFIG_HOME", user.path(".config"))
        .env("XDG_DATA_HOME", user.path(".local/share"));
    printed(command);
    let settings = user.read(JETBRAINS);
    assert!(
        settings.contains(r#""args": ["run", "--", "agent"]"#),
        "{settings}"
    );
    assert!(!user.path(".config/acp-chain").exists());
}

#[tokio::test]
async fn an_editor_is_told_that_a_link_to_the_settings_leads_nowhere() {
    for link in [
        ".config",
        ".config/acp-chain",
        ".config/acp-chain/config.toml",
    ] {
        let user = User::new();
        let path = user.path(link);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(user.path("gone"), &path).unwrap();
        let refused = user.error_of_run(&[]).await;
        assert!(refused.contains("leads nowhere"), "{link}: {refused}");
    }
}

#[tokio::test]
async fn an_editor_is_told_that_the_folder_of_data_is_gone() {
    let refused = User::new().error_of_run(&["--data", "gone"]).await;
    assert!(refused.contains("there is no such folder"), "{refused}");
}

#[test]
fn what_code_does_not_reach_is_told_with_the_command_to_use_there() {
    for (editor, file, others) in [
        (
            "neovim",
            ".config/nvim/init.lua",
            "plugins other than CodeCompanion, avante and agentic.nvim",
        ),
        (
            "emacs",
            ".emacs",
            "on other machines (TRAMP), behind `agent-shell-command-prefix`",
        ),
    ] {
        let user = User::new();
        user.write(file, "");
        let command = format!(
            "`{} run --with redact -- AGENT ARGS…`",
            installed().display()
        );
        // The message is repeated when there is nothing to change.
        for _ in 0..2 {
            let told = user.sets_up(&[editor, "--with", "redact", "--yes"]);
            assert!(told.contains(others) && told.contains(&command), "{told}");
        }
    }
}

#[test]
fn settings_of_a_profile_or_of_this_machine_are_listed_and_left_alone() {
    let agents = "{ \"acp.agents\": { \"mine\": { \"command\": \"agent\" } } }\n";
    let usual = ".config/Code/User/settings.json";
    for further in [
        ".config/Code/User/profiles/1a2b/settings.json",
        ".vscode-server/data/Machine/settings.json",
    ] {
        let user = User::new();
        user.write(further, agents);
        let next = format!(
            "`acp-chain setup vscode --file {}`",
            user.path(further).display()
        );
        for args in [&[][..], &["vscode", "--yes"]] {
            let (_, told) = user.setup(args);
            assert!(told.contains(&next), "{told}");
        }
        user.write(usual, agents);
        let told = user.sets_up(&["vscode", "--yes"]);
        assert!(
            told.contains("stays as it is") && told.contains(&next),
            "{told}"
        );
        assert!(user.read(usual).contains("acp-chain"));
        assert_eq!(user.read(further), agents);
        user.sets_up(&[
            "vscode",
            "--yes",
            "--file",
            Path::new(&user.path(further)).to_str().unwrap(),
        ]);
        assert!(user.read(further).contains("acp-chain"));
        let told = user.sets_up(&["vscode", "--yes"]);
        assert!(!told.contains("stays as it is"), "{told}");
    }
}
