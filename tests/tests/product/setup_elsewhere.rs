//! `acp-chain setup` where something is not at its usual place: the agents, or their settings.

use std::path::Path;

use acp_chain_tests::host::installed;

use super::setup::User;

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
        // It is told again when there is nothing to change.
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
