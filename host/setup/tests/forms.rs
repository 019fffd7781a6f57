//! Special forms of configurations: `~`, no agents, settings for a channel, a system or a profile, and agents that run
//! on other machines.

mod user;

use std::env::consts::OS;
use std::fs;

use acp_chain_setup::{Editor, Error, Runs, Wanted, agents, plan};

use user::{User, launch};

const ZED: &str = ".config/zed/settings.json";

fn zed() -> &'static Editor {
    Editor::named("zed").unwrap()
}

/// The words of the only agent that has any.
fn words(user: &User, editor: &Editor, path: &str) -> Vec<String> {
    let (found, _) = agents(editor, &user.places.home.join(path)).unwrap();
    let mut words = found.into_iter().map(|agent| agent.words);
    words.find(|words| !words.is_empty()).unwrap()
}

#[test]
fn the_tilde_of_a_program_is_expanded_and_restored_by_undo() {
    for (name, path, key) in [
        ("zed", ZED, "agent_servers"),
        ("jetbrains", ".jetbrains/acp.json", "agent_servers"),
        ("vscode", ".config/Code/User/settings.json", "acp.agents"),
    ] {
        let editor = Editor::named(name).unwrap();
        for (agent, rest) in [
            (r#"{ "command": "~/bin/agent" }"#, &[][..]),
            (
                r#"{ "command": "~/bin/agent", "args": ["acp", "~/x"] }"#,
                &["acp", "~/x"],
            ),
            (r#"{ "args": null, "command": "~\/bin/agent" }"#, &[]),
        ] {
            let user = User::new();
            let before = format!("{{ \"{key}\": {{ \"mine\": {agent} }} }}\n");
            let file = user.file(path, &before);
            user.set_up(editor);
            let program = user.places.home.join("bin/agent");
            let launched = words(&user, editor, path);
            let own = launched.iter().position(|word| word == "--").unwrap() + 1;
            assert_eq!(launched[own], program.to_str().unwrap(), "{agent}");
            assert_eq!(launched[own + 1..], *rest, "{agent}");
            assert!(user.plan(editor, &[]).unwrap().change.is_none());
            // Also after an edit, the agent is as the user wrote it, without `args` if it had none.
            let after = fs::read_to_string(&file).unwrap();
            fs::write(&file, format!("// edited\n{after}")).unwrap();
            let undo = user.backups.undo(editor, &user.places, None).unwrap();
            let left = undo.change.unwrap().after.unwrap();
            assert_eq!(left, format!("// edited\n{before}"));
            fs::write(&file, after).unwrap();
            assert!(user.undo(editor));
            assert_eq!(fs::read_to_string(&file).unwrap(), before);
        }
    }
}

#[test]
fn only_the_tilde_of_the_users_own_home_is_replaced() {
    for program in ["~other/bin/agent", "~", "bin/~/agent", "./~/agent"] {
        let user = User::new();
        let text = format!(r#"{{ "agent_servers": {{ "mine": {{ "command": "{program}" }} }} }}"#);
        user.file(ZED, &text);
        user.set_up(zed());
        let words = words(&user, zed(), ZED);
        assert_eq!(words.last().map(String::as_str), Some(program));
    }
}

#[test]
fn a_program_that_was_changed_since_is_not_mistaken_for_the_one_in_the_home_folder() {
    let user = User::new();
    let before = r#"{ "agent_servers": { "mine": { "command": "~/bin/agent" } } }"#;
    let file = user.file(ZED, before);
    user.set_up(zed());
    let after = fs::read_to_string(&file).unwrap();
    fs::write(&file, after.replace("/bin/agent", "/bin/another")).unwrap();
    assert!(!user.undo(zed()));
    let left = fs::read_to_string(&file).unwrap();
    assert!(
        left.contains("/bin/another\"") && !left.contains('~'),
        "{left}"
    );
}

#[test]
fn null_means_no_agents_and_is_replaced_by_an_installed_one() {
    for (name, path, key) in [
        ("zed", ZED, "agent_servers"),
        ("jetbrains", ".jetbrains/acp.json", "agent_servers"),
        ("vscode", ".config/Code/User/settings.json", "acp.agents"),
        ("acpx", ".acpx/config.json", "agents"),
    ] {
        let editor = Editor::named(name).unwrap();
        let user = User::new();
        let before = format!("{{\n  \"{key}\": null, // none\n  \"other\": null\n}}\n");
        let file = user.file(path, &before);
        assert_eq!(agents(editor, &file).unwrap().0, []);
        let error = user.plan(editor, &[]).unwrap_err();
        assert!(matches!(error, Error::NoAgents { .. }), "{error}");
        let planned = user.plan_installed(editor, &["mine"], &["mine"]).unwrap();
        user.backups
            .apply(editor, &planned.change.unwrap())
            .unwrap();
        let after = fs::read_to_string(&file).unwrap();
        let outside = after.contains("  }, // none\n  \"other\": null\n}\n");
        assert!(
            outside && after.contains(&format!("\"{key}\": {{\n    \"mine\": {{\n")),
            "{after}"
        );
        let (found, _) = agents(editor, &file).unwrap();
        assert!(
            found.len() == 1 && found[0].runs == Runs::Chain,
            "{found:?}"
        );
        assert!(user.undo(editor));
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
}

#[test]
fn agents_for_a_channel_this_system_or_a_profile_get_the_chain_too() {
    let agents = r#"{ "agent_servers": { "mine": { "command": "agent", "args": ["acp"] } } }"#;
    for (settings, count) in [
        (format!(r#"{{ "{OS}": {agents} }}"#), 1),
        (
            format!(r#"{{ "preview": {agents}, "agent_servers": null }}"#),
            1,
        ),
        (
            format!(r#"{{ "dev": {agents}, "nightly": {agents}, "stable": {agents} }}"#),
            3,
        ),
        (
            format!(r#"{{ "profiles": {{ "Work": {agents}, "Home": {{}} }} }}"#),
            1,
        ),
        (
            format!(
                r#"{{ "profiles": {{ "Work": {{ "base": "user", "settings": {agents} }} }} }}"#
            ),
            1,
        ),
        (
            format!(r#"{{ "profiles": null, "preview": 7, "{OS}": {agents} }}"#),
            1,
        ),
    ] {
        let user = User::new();
        let file = user.file(ZED, &settings);
        user.set_up(zed());
        let after = fs::read_to_string(&file).unwrap();
        let ours = r#""args": ["run", "--with", "redact", "--", "agent", "acp"]"#;
        assert_eq!(after.matches(ours).count(), count, "{after}");
        fs::write(&file, after + "\n").unwrap();
        assert!(!user.undo(zed()));
        assert_eq!(fs::read_to_string(&file).unwrap(), settings + "\n");
    }
}

#[test]
fn agents_for_another_system_are_unchanged_and_reported() {
    let other = if OS == "macos" { "linux" } else { "macos" };
    let agents =
        |name: &str| format!(r#""agent_servers": {{ "{name}": {{ "command": "agent" }} }}"#);
    let user = User::new();
    let text = format!(
        r#"{{ "{other}": {{ {} }}, {} }}"#,
        agents("theirs"),
        agents("mine")
    );
    let file = user.file(ZED, &text);
    let planned = user.plan(zed(), &[]).unwrap();
    assert_eq!(planned.left.len(), 1);
    let (name, why) = &planned.left[0];
    assert!(name == "theirs" && why.contains("another system"), "{why}");
    let after = planned.change.unwrap().after.unwrap();
    assert!(after.contains(&agents("theirs")), "{after}");
    assert!(!after.contains(&agents("mine")), "{after}");
    // If there are no other agents, the error says why.
    fs::write(
        &file,
        format!(r#"{{ "{other}": {{ {} }} }}"#, agents("theirs")),
    )
    .unwrap();
    for wanted in [&[][..], &["theirs"]] {
        let error = user.plan(zed(), wanted).unwrap_err().to_string();
        assert!(error.contains("`theirs` is for another system"), "{error}");
    }
}

#[test]
fn an_agent_that_runs_on_another_machine_keeps_its_command() {
    let path = ".config/Code/User/settings.json";
    let vscode = Editor::named("vscode").unwrap();
    for remote in [
        r#"{ "host": "box", "user": "me", "port": 22 }"#,
        r#""me@box""#,
        "true",
    ] {
        let user = User::new();
        let there =
            format!(r#""there": {{ "command": "hermes", "args": ["acp"], "remote": {remote} }}"#);
        let here = r#""here": { "command": "hermes", "remote": null }"#;
        user.file(
            path,
            &format!("{{ \"acp.agents\": {{ {there}, {here} }} }}\n"),
        );
        let planned = user.plan(vscode, &[]).unwrap();
        assert_eq!(planned.left.len(), 1);
        assert!(planned.left[0].1.contains("another machine"), "{planned:?}");
        let after = planned.change.unwrap().after.unwrap();
        assert!(after.contains(&there) && !after.contains(here), "{after}");
        let error = user.plan(vscode, &["there"]).unwrap_err().to_string();
        assert!(error.contains("`there` has `remote`"), "{error}");
    }
}

#[test]
fn acpx_gets_a_line_that_all_versions_read() {
    let user = User::new();
    let acpx = Editor::named("acpx").unwrap();
    let file = user.file(".acpx/config.json", "{}\n");
    let planned = user.plan_installed(acpx, &["mine"], &["mine"]).unwrap();
    let after = planned.change.unwrap().after.unwrap();
    assert!(!after.contains("argv"), "{after}");
    let line = r#""command": "/usr/local/bin/acp-chain run --with redact mine""#;
    assert!(after.contains(line), "{after}");
    fs::write(&file, &after).unwrap();
    assert_eq!(agents(acpx, &file).unwrap().0[0].runs, Runs::Chain);
}

#[test]
fn further_files_with_agents_are_found_but_changed_only_if_named() {
    let vscode = Editor::named("vscode").unwrap();
    let agents = r#"{ "acp.agents": { "mine": { "command": "agent" } } }"#;
    for path in [
        ".config/Code/User/profiles/1a2b3c/settings.json",
        ".config/Cursor/User/profiles/-7f/settings.json",
        ".vscode-server/data/Machine/settings.json",
        ".cursor-server/data/Machine/settings.json",
        ".local/share/code-server/User/settings.json",
        ".var/app/com.visualstudio.code/config/Code/User/settings.json",
    ] {
        let user = User::new();
        let file = user.file(path, "{}");
        assert!(vscode.further(&user.places).is_empty(), "{path}");
        fs::write(&file, agents).unwrap();
        assert_eq!(vscode.further(&user.places), std::slice::from_ref(&file));
        assert_eq!(vscode.everywhere(&user.places), std::slice::from_ref(&file));
        // By default only the usual file is changed.
        let usual = user.file(".config/Code/User/settings.json", agents);
        let planned = user.plan(vscode, &[]).unwrap();
        assert_eq!(planned.path, usual);
        user.backups
            .apply(vscode, &planned.change.unwrap())
            .unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), agents);
        assert!(user.undo(vscode));
        let named = Wanted {
            file: Some(file.clone()),
            ..Wanted::default()
        };
        let planned = plan(vscode, &user.places, &named, &launch(&[])).unwrap();
        user.backups
            .apply(vscode, &planned.change.unwrap())
            .unwrap();
        assert_ne!(fs::read_to_string(&file).unwrap(), agents);
        assert!(user.undo(vscode));
        assert_eq!(fs::read_to_string(&file).unwrap(), agents);
    }
}
