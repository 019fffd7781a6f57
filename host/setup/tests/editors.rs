//! The configurations of editors, in their current formats: set up, edited, and restored.

mod user;

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_setup::{Backups, EDITORS, Editor, Error, Launch, Runs, Wanted, plan, typed};

use user::{User, launch, wanted};

/// Where each editor's configuration is in a home, and its ending.
const GOLDEN: [(&str, &str, &str); 6] = [
    ("zed", ".config/zed/settings.json", "json"),
    ("jetbrains", ".jetbrains/acp.json", "json"),
    ("vscode", ".config/Code/User/settings.json", "json"),
    ("acpx", ".acpx/config.json", "json"),
    ("emacs", ".emacs.d/init.el", "el"),
    ("neovim", ".config/nvim/plugin/acp-chain.lua", "lua"),
];

fn golden(editor: &str, name: &str, ending: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    fs::read_to_string(folder.join(editor).join(format!("{name}.{ending}"))).ok()
}

/// A user with an editor's configuration.
fn configured(name: &str, path: &str, ending: &str) -> (User, PathBuf) {
    let user = User::new();
    let path = match golden(name, "before", ending) {
        Some(text) => user.file(path, &text),
        // Neovim has a folder, in which ours is a new file.
        None => {
            user.file(".config/nvim/init.lua", "");
            user.places.home.join(path)
        }
    };
    (user, path)
}

#[test]
fn each_editor_has_a_golden_file_or_a_command_line() {
    for editor in &EDITORS {
        let is_golden = GOLDEN.iter().any(|(name, ..)| *name == editor.name);
        assert_ne!(
            is_golden,
            typed(editor, &wanted(&[], &[]), &[], &launch(&[])).is_some(),
            "{}",
            editor.name
        );
    }
}

#[test]
fn only_launch_commands_change_and_undo_restores_the_exact_bytes() {
    for (name, path, ending) in GOLDEN {
        let editor = Editor::named(name).unwrap();
        let (user, path) = configured(name, path, ending);
        let before = fs::read(&path).ok();
        user.set_up(editor);
        let after = fs::read_to_string(&path).unwrap();
        let file = format!("{name}/after.{ending}");
        assert_eq!(after, golden(name, "after", ending).unwrap(), "{file}");
        // A second setup changes nothing.
        assert!(user.plan(editor, &[]).unwrap().change.is_none(), "{name}");
        assert!(user.undo(editor), "{name}");
        assert_eq!(fs::read(&path).ok(), before, "{name}");
        let error = user.backups.undo(editor, &user.places, None).unwrap_err();
        assert!(matches!(error, Error::NothingToUndo(_)), "{error}");
    }
}

#[test]
fn other_extensions_replace_the_first_ones_and_undo_restores_the_original_bytes() {
    for (name, path, ending) in GOLDEN {
        let editor = Editor::named(name).unwrap();
        let (user, path) = configured(name, path, ending);
        let before = fs::read(&path).ok();
        user.set_up(editor);
        let once = fs::read_to_string(&path).unwrap();
        let others = launch(&["rules", "todo"]);
        let planned = plan(editor, &user.places, &Wanted::default(), &others).unwrap();
        user.backups
            .apply(editor, &planned.change.unwrap())
            .unwrap();
        let twice = fs::read_to_string(&path).unwrap();
        assert!(
            !twice.contains("redact") && twice.contains("todo"),
            "{twice}"
        );
        // The result is the same as if only the second extensions had been set up.
        user.set_up(editor);
        assert_eq!(fs::read_to_string(&path).unwrap(), once, "{name}");
        assert!(user.undo(editor));
        assert_eq!(fs::read(&path).ok(), before, "{name}");
    }
}

#[test]
fn undo_keeps_later_edits_and_removes_only_our_changes() {
    for (name, path, ending) in GOLDEN {
        let editor = Editor::named(name).unwrap();
        let (user, path) = configured(name, path, ending);
        user.set_up(editor);
        let comment = match ending {
            "json" => "// edited\n",
            "el" => "; edited\n",
            _ => "-- edited\n",
        };
        let after = fs::read_to_string(&path).unwrap();
        fs::write(&path, comment.to_owned() + &after).unwrap();
        assert!(!user.undo(editor), "{name}");
        let left = fs::read_to_string(&path).unwrap();
        // A missing line break at the end is added.
        assert_eq!(Some(left), golden(name, "taken-back", ending), "{name}");
    }
}

#[test]
fn a_second_setup_after_an_edit_backs_up_the_edited_file_without_our_changes() {
    let editor = Editor::named("jetbrains").unwrap();
    let (user, path) = configured(editor.name, ".jetbrains/acp.json", "json");
    let before = fs::read_to_string(&path).unwrap();
    user.set_up(editor);
    let edited = fs::read_to_string(&path).unwrap().replace("true", "false");
    fs::write(&path, edited).unwrap();
    let planned = plan(editor, &user.places, &Wanted::default(), &launch(&[])).unwrap();
    user.backups
        .apply(editor, &planned.change.unwrap())
        .unwrap();
    assert!(user.undo(editor));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        before.replace("true", "false")
    );
}

#[test]
fn a_setup_killed_before_it_writes_the_file_can_be_undone() {
    let editor = Editor::named("jetbrains").unwrap();
    let (user, path) = configured(editor.name, ".jetbrains/acp.json", "json");
    let before = fs::read_to_string(&path).unwrap();
    let change = user.plan(editor, &[]).unwrap().change.unwrap();
    let folder = user.places.home.join("remembered");
    // The backup and the record are written; the configuration, by its name, is not.
    let killed = Backups::new(folder, |path, bytes| {
        if path.ends_with("acp.json") {
            Err(std::io::ErrorKind::StorageFull.into())
        } else {
            fs::write(path, bytes)
        }
    });
    killed.apply(editor, &change).unwrap_err();
    let undo = user.backups.undo(editor, &user.places, None).unwrap();
    assert!(undo.is_exact && undo.change.is_none());
    user.backups.apply(editor, &change).unwrap();
    assert!(user.undo(editor));
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn a_folder_that_was_made_for_a_file_goes_with_it() {
    let neovim = Editor::named("neovim").unwrap();
    for is_made in [true, false] {
        let user = User::new();
        user.file(".config/nvim/init.lua", "");
        let folder = user.places.home.join(".config/nvim/plugin");
        if !is_made {
            fs::create_dir(&folder).unwrap();
        }
        user.set_up(neovim);
        assert!(folder.join("acp-chain.lua").exists());
        assert!(user.undo(neovim));
        assert_eq!(folder.exists(), !is_made);
    }
    // Other files in it are not ours.
    let user = User::new();
    user.file(".config/nvim/init.lua", "");
    user.set_up(neovim);
    let other = user.file(".config/nvim/plugin/other.lua", "");
    assert!(user.undo(neovim));
    assert!(other.exists());
}

#[test]
fn a_file_that_changed_since_the_plan_is_not_written() {
    let editor = Editor::named("jetbrains").unwrap();
    let (user, path) = configured(editor.name, ".jetbrains/acp.json", "json");
    let change = user.plan(editor, &[]).unwrap().change.unwrap();
    fs::write(&path, "{}").unwrap();
    let error = user.backups.apply(editor, &change).unwrap_err();
    assert!(matches!(error, Error::Changed(_)), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
}

#[test]
fn an_agent_by_name_is_the_only_one_that_changes() {
    let editor = Editor::named("zed").unwrap();
    let (user, _) = configured(editor.name, ".config/zed/settings.json", "json");
    let change = user.plan(editor, &["OpenCode"]).unwrap().change.unwrap();
    let (before, after) = (change.before.unwrap(), change.after.unwrap());
    let changed: Vec<_> = before
        .lines()
        .zip(after.lines())
        .filter(|(old, new)| old != new)
        .collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert!(
        changed[0].1.contains("\"--\", \"opencode\", \"acp\"]"),
        "{changed:?}"
    );
}

/// The editors that name their agents, each with a file of JSON.
fn naming() -> impl Iterator<Item = (&'static Editor, &'static str)> {
    let json = GOLDEN.iter().filter(|(.., ending)| *ending == "json");
    json.map(|(name, path, _)| (Editor::named(name).unwrap(), *path))
}

#[test]
fn an_installed_agent_is_added_and_undo_restores_the_exact_bytes() {
    for (editor, path) in naming() {
        let name = editor.name;
        let (user, path) = configured(name, path, "json");
        let before = fs::read(&path).unwrap();
        let add = || user.plan_installed(editor, &["mine-too"], &["mine-too"]);
        let planned = add().unwrap();
        assert_eq!(planned.added, ["mine-too"]);
        user.backups
            .apply(editor, &planned.change.unwrap())
            .unwrap();
        let after = fs::read_to_string(&path).unwrap();
        assert_eq!(Some(&after), golden(name, "added", "json").as_ref());
        // It is listed as ours; a second setup changes nothing.
        let (agents, _) = acp_chain_setup::agents(editor, &path).unwrap();
        let added: Vec<_> = agents.iter().filter(|a| a.name == "mine-too").collect();
        assert!(!added.is_empty() && added.iter().all(|agent| agent.runs == Runs::Chain));
        assert!(add().unwrap().change.is_none(), "{name}");
        // After setting up all agents, its entry is unchanged.
        user.set_up(editor);
        let all = fs::read_to_string(&path).unwrap();
        let words = all.replace(['"', ','], "");
        let ours = "run --with redact mine-too";
        let count = after.replace(['"', ','], "").matches(ours).count();
        assert_eq!(words.matches(ours).count(), count);
        assert!(words.contains(ours), "{all}");
        assert!(user.undo(editor), "{name}");
        assert_eq!(fs::read(&path).unwrap(), before, "{name}");
    }
}

#[test]
fn an_installed_agent_of_a_taken_name_gets_an_entry_beside_it() {
    let zed = Editor::named("zed").unwrap();
    let text = "{\n  \"agent_servers\": {\n    \"mine\": { \"type\": \"registry\" }\n  }\n}\n";
    let user = User::new();
    let path = user.file(".config/zed/settings.json", text);
    for again in [false, true] {
        let planned = user.plan_installed(zed, &["mine"], &["mine"]).unwrap();
        let [(name, why)] = &planned.left[..] else {
            panic!("{planned:?}");
        };
        assert!(name == "mine" && why.contains("without a chain"), "{why}");
        assert_eq!(planned.change.is_none(), again);
        if let Some(change) = planned.change {
            assert_eq!(planned.added, ["mine"]);
            user.backups.apply(zed, &change).unwrap();
        }
        let (agents, _) = acp_chain_setup::agents(zed, &path).unwrap();
        let names: Vec<_> = agents.iter().map(|agent| &*agent.name).collect();
        assert_eq!(names, ["mine", "mine (acp-chain)"]);
        assert_eq!(agents[1].words[1..], ["run", "--with", "redact", "mine"]);
    }
    assert!(user.undo(zed));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    // Without an installed one, the error says what it is.
    let error = user.plan(zed, &["mine"]).unwrap_err().to_string();
    assert!(error.contains("without a chain"), "{error}");
}

#[test]
fn other_extensions_replace_the_first_ones_of_an_installed_agent() {
    for (editor, path) in naming() {
        let (user, _) = configured(editor.name, path, "json");
        let planned = user.plan_installed(editor, &["mine-too"], &["mine-too"]);
        let change = planned.unwrap().change.unwrap();
        user.backups.apply(editor, &change).unwrap();
        let others = launch(&[]);
        let wanted = wanted(&["mine-too"], &[]);
        let planned = plan(editor, &user.places, &wanted, &others).unwrap();
        let after = planned.change.unwrap().after.unwrap();
        let expected = golden(editor.name, "added", "json").unwrap();
        let expected = expected.replace(r#""--with", "redact", "#, "");
        let expected = expected.replace("run --with redact mine-too", "run mine-too");
        assert_eq!(after, expected);
    }
}

#[test]
fn undo_after_an_edit_removes_only_the_added_agent() {
    for (editor, path) in naming() {
        let (user, path) = configured(editor.name, path, "json");
        let before = fs::read_to_string(&path).unwrap();
        let planned = user.plan_installed(editor, &["b", "a"], &["a", "b"]);
        let change = planned.unwrap().change.unwrap();
        user.backups.apply(editor, &change).unwrap();
        let after = change.after.unwrap();
        assert!(after.contains("\"a\"") && after.contains("\"b\""));
        fs::write(&path, format!("// edited\n{after}")).unwrap();
        assert!(!user.undo(editor));
        let left = fs::read_to_string(&path).unwrap();
        assert_eq!(left, format!("// edited\n{before}"), "{}", editor.name);
    }
}

#[test]
fn an_installed_agent_is_added_to_any_configuration() {
    let entry = |gap: &str, outer: &str| {
        let program = r#""command": "/usr/local/bin/acp-chain""#;
        let list = r#""args": ["run", "--with", "redact", "mine"]"#;
        format!("\"mine\": {{{gap}{program},{gap}{list},{gap}\"env\": {{}}{outer}}}")
    };
    let deep = entry("\n      ", "\n    ");
    let alone = format!("{{\n  \"agent_servers\": {{\n    {deep}\n  }}\n}}\n");
    let windows = alone.replace('\n', "\r\n");
    let short = entry(" ", " ");
    for (before, after) in [
        // A missing or empty file.
        (None, alone.clone()),
        (Some(""), alone.clone()),
        (Some("{}\n"), alone.clone()),
        (Some("// mine"), format!("// mine\n{alone}")),
        (Some("\u{feff}{\r\n}\r\n"), format!("\u{feff}{windows}")),
        // A missing or empty key.
        (Some("{\n  \"agent_servers\": {}\n}\n"), alone.clone()),
        (
            Some("{\n  \"a\": 1 // one\n}\n"),
            alone.replacen('{', "{\n  \"a\": 1, // one", 1),
        ),
        (
            Some("{\n  \"agent_servers\": { // none\n  }\n}\n"),
            alone.replacen(": {\n    \"mine", ": { // none\n    \"mine", 1),
        ),
        (
            Some("{\r\n  \"a\": 1 // one\r\n}\r\n"),
            windows.replacen('{', "{\r\n  \"a\": 1, // one", 1),
        ),
        // All in one line.
        (
            Some("{\"agent_servers\":{\"a\":{}} // one\n}"),
            format!("{{\"agent_servers\":{{\"a\":{{}}, {short}}} // one\n}}"),
        ),
        // A comment behind the last one stays there, and so does a comma.
        (
            Some("{\n  \"agent_servers\": {\n    \"a\": {}, // one\n    // two\n  }\n}\n"),
            alone
                .replacen(": {\n", ": {\n    \"a\": {}, // one\n", 1)
                .replacen("    }\n", "    },\n    // two\n", 1),
        ),
    ] {
        let user = User::new();
        let path = user.places.home.join(".jetbrains/acp.json");
        if let Some(before) = before {
            user.file(".jetbrains/acp.json", before);
        }
        let editor = Editor::named("jetbrains").unwrap();
        let change = user.plan_installed(editor, &["mine"], &["mine"]).unwrap();
        user.backups.apply(editor, &change.change.unwrap()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), after, "{before:?}");
        assert!(user.undo(editor));
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), before);
    }
}

#[test]
fn a_configuration_is_created_only_if_its_place_is_unambiguous() {
    let user = User::new();
    let editor = Editor::named("zed").unwrap();
    let add = || user.plan_installed(editor, &["mine"], &["mine"]);
    let error = add().unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    fs::create_dir_all(user.places.home.join(".config/zed")).unwrap();
    let place = user.places.home.join(".config/zed/settings.json");
    assert_eq!(add().unwrap().path, place);
    user.file(".var/app/dev.zed.Zed/config/zed/keymap.json", "");
    add().unwrap_err();
    // No configuration is created for an unknown agent.
    user.plan_installed(Editor::named("jetbrains").unwrap(), &["other"], &["mine"])
        .unwrap_err();
}

#[test]
fn if_agents_are_code_or_typed_the_command_of_an_installed_one_is_shown() {
    let words = "/usr/local/bin/acp-chain run --with redact mine-too";
    for name in ["neovim", "emacs"] {
        let (_, path, ending) = GOLDEN.iter().find(|(editor, ..)| *editor == name).unwrap();
        let (user, _) = configured(name, path, ending);
        let editor = Editor::named(name).unwrap();
        let error = user.plan_installed(editor, &["mine-too"], &["mine-too"]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&format!("`{words}`")), "{error}");
    }
    let toad = Editor::named("toad").unwrap();
    let installed = wanted(&["mine-too"], &["mine-too"]);
    let commands = ["gemini --acp".to_owned()];
    let lines = typed(toad, &installed, &commands, &launch(&["redact"]));
    let other = "/usr/local/bin/acp-chain run --with redact -- gemini --acp";
    let expected = [words, other].map(|line| format!("toad acp \"{line}\""));
    assert_eq!(lines.unwrap(), expected);
    let any = typed(toad, &wanted(&[], &[]), &[], &launch(&[])).unwrap();
    assert!(any[0].ends_with(" run -- AGENT ARGS…\""), "{any:?}");
}

#[test]
fn errors_name_the_file_and_the_next_step() {
    let zed = |text: &str, agents: &[&str]| {
        let user = User::new();
        user.file(".config/zed/settings.json", text);
        let error = user
            .plan(Editor::named("zed").unwrap(), agents)
            .unwrap_err();
        error
            .to_string()
            .replace(user.places.home.to_str().unwrap(), "~")
    };
    for (text, agents, told) in [
        (
            "{\n  \"agent_servers\": {\n}",
            &[][..],
            "settings.json:1: Unterminated object; nothing was changed",
        ),
        (
            "[]",
            &[],
            "settings.json:1: expected an object with settings",
        ),
        (
            "{\"agent_servers\":\n7}",
            &[],
            "settings.json:2: expected an object with agents in `agent_servers`",
        ),
        (
            "{\"agent_servers\":{\"a\":{\"command\":\"x\"},\n\"a\":{}}}",
            &[],
            "settings.json:2: duplicate key `a`",
        ),
        (
            "{'agent_servers': {}}",
            &[],
            "Single-quoted strings are not allowed",
        ),
        ("{} {}", &[], "Text cannot contain more than one JSON value"),
        (
            "{}",
            &[],
            "settings.json has no agent with a launch command",
        ),
        (
            "",
            &["a"],
            "has no agent `a`; it has none, and none is installed by `acp-chain agent add`",
        ),
        (
            "{\"agent_servers\":{\"Claude Code\":{\"command\":\"x\"}}}",
            &["claude-code"],
            "has no agent `claude-code` (did you mean `Claude Code`?); it has `Claude Code`",
        ),
        (
            "{\"agent_servers\":{\"a\":{\"type\":\"registry\"}}}",
            &["a"],
            "`a` has no `command` in this file",
        ),
        (
            "{\"agent_servers\":{\"a\":{\"command\":\"\"}}}",
            &[],
            "`a` has an empty command",
        ),
        (
            "{\"agent_servers\":{\"a\":{\"command\":7}}}",
            &[],
            "`a` has a `command` that is not text",
        ),
        (
            "{\"agent_servers\":{\"a\":{\"command\":\"x\",\"args\":[7]}}}",
            &[],
            "`a` has `args` that are not a list of texts",
        ),
        (
            "{\"agent_servers\":{\"a\":{\"command\":\"acp-chain\",\"args\":[\"run\",\"--manifest\",\"m\",\"--\",\"x\"]}}}",
            &["a"],
            "`a` launches acp-chain already",
        ),
    ] {
        let error = zed(text, agents);
        assert!(error.contains(told), "{text}: {error}");
    }
    let deep = "[".repeat(100_000);
    assert!(
        zed(&deep, &[]).contains("nesting depth"),
        "it does not overflow the stack"
    );
}

#[test]
fn a_path_with_spaces_stays_one_word_or_the_agent_is_left_as_it_is() {
    let (user, path) = configured("acpx", ".acpx/config.json", "json");
    let editor = Editor::named("acpx").unwrap();
    let launch = Launch::new(Path::new("/opt/it's mine/acp-chain"), Vec::new()).unwrap();
    let planned = plan(editor, &user.places, &Wanted::default(), &launch).unwrap();
    let left: Vec<_> = planned.left.iter().map(|(name, _)| &**name).collect();
    // acpx takes no such path beside `args`.
    assert_eq!(left, ["both"]);
    let change = planned.change.unwrap();
    let line = r"'/opt/it'\\''s mine/acp-chain' run -- npx -y 'my agent' --acp";
    assert!(change.after.as_ref().unwrap().contains(line), "{change:?}");
    user.backups.apply(editor, &change).unwrap();
    let (agents, _) = acp_chain_setup::agents(editor, &path).unwrap();
    assert_eq!(agents[0].runs, Runs::Chain);
    fs::write(&path, change.after.unwrap() + "\n").unwrap();
    assert!(!user.undo(editor));
    let before = golden("acpx", "before", "json").unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), before + "\n");
}

#[test]
fn agents_of_one_name_under_two_keys_both_change() {
    let user = User::new();
    let agent = r#"{ "Claude": { "command": "claude-agent-acp" } }"#;
    let text = format!("{{ \"acp.agents\": {agent}, \"agent_servers\": {agent} }}\n");
    let path = user.file(".config/Code/User/settings.json", &text);
    let editor = Editor::named("vscode").unwrap();
    user.set_up(editor);
    let after = fs::read_to_string(path).unwrap();
    assert_eq!(
        after.matches("/usr/local/bin/acp-chain").count(),
        2,
        "{after}"
    );
    assert!(user.plan(editor, &[]).unwrap().change.is_none());
}

#[test]
fn an_agent_that_launches_acp_chain_by_hand_is_unchanged_beside_another_of_its_name() {
    let user = User::new();
    let other = r#"{ "Claude": { "command": "claude-agent-acp" } }"#;
    let by_hand = r#"{ "Claude": { "command": "acp-chain", "args": ["run", "--manifest", "m", "--", "x"] } }"#;
    for (first, second) in [(other, by_hand), (by_hand, other)] {
        let text = format!("{{ \"acp.agents\": {first}, \"agent_servers\": {second} }}\n");
        user.file(".config/Code/User/settings.json", &text);
        let editor = Editor::named("vscode").unwrap();
        for agents in [&["Claude"][..], &[]] {
            let change = user.plan(editor, agents).unwrap().change.unwrap();
            let after = change.after.unwrap();
            assert!(after.contains(by_hand), "{after}");
            assert_eq!(
                after.matches("/usr/local/bin/acp-chain").count(),
                1,
                "{after}"
            );
        }
    }
}

#[test]
fn an_agent_still_launched_by_acp_chain_after_undo_is_reported_and_the_backup_kept() {
    let editor = Editor::named("jetbrains").unwrap();
    let user = User::new();
    let own =
        r#""mine": { "command": "acp-chain", "args": ["run", "--manifest", "m", "--", "x"] }"#;
    let before = format!("{{ \"agent_servers\": {{ \"a\": {{ \"command\": \"x\" }}, {own} }} }}\n");
    let path = user.file(".jetbrains/acp.json", &before);
    user.set_up(editor);
    let after = fs::read_to_string(&path).unwrap();
    // With another command, too, it may be any agent.
    let other = after.replace("\"a\"", "\"b\"").replace("\"x\"", "\"y\"");
    fs::write(&path, other).unwrap();
    for _ in 0..2 {
        let undo = user.backups.undo(editor, &user.places, None).unwrap();
        assert_eq!(undo.left, ["b"]);
        user.backups.revert(&undo).unwrap();
    }
    fs::write(&path, before.replace("\"a\"", "\"b\"")).unwrap();
    let undo = user.backups.undo(editor, &user.places, None).unwrap();
    assert!(undo.left.is_empty() && undo.change.is_none(), "{undo:?}");
    user.backups.revert(&undo).unwrap();
    let error = user.backups.undo(editor, &user.places, None).unwrap_err();
    assert!(matches!(error, Error::NothingToUndo(_)), "{error}");
}

#[test]
fn a_program_that_could_not_be_recognized_later_is_not_written() {
    let error = Launch::new(Path::new("/usr/bin/chain"), Vec::new()).unwrap_err();
    assert!(matches!(error, Error::Renamed(_)), "{error}");
}

#[test]
fn several_configurations_or_none_are_an_error_unless_a_file_is_named() {
    let user = User::new();
    let editor = Editor::named("zed").unwrap();
    let error = user.plan(editor, &[]).unwrap_err().to_string();
    assert!(
        error.contains("no configuration of Zed was found") && error.contains("--file"),
        "{error}"
    );
    let text = golden("zed", "before", "json").unwrap();
    user.file(".config/zed/settings.json", &text);
    let preview = user.file(
        ".var/app/dev.zed.Zed-Preview/config/zed/settings.json",
        &text,
    );
    let error = user.plan(editor, &[]).unwrap_err().to_string();
    assert!(
        error.contains("Zed-Preview") && error.contains("choose one with `--file`"),
        "{error}"
    );
    let wanted = Wanted {
        file: Some(preview.clone()),
        ..Wanted::default()
    };
    let planned = plan(editor, &user.places, &wanted, &launch(&[])).unwrap();
    assert_eq!(planned.path, preview);
    user.backups
        .apply(editor, &planned.change.unwrap())
        .unwrap();
    // Only one was changed, so `--file` is not needed.
    assert!(user.undo(editor));
    assert_eq!(fs::read_to_string(preview).unwrap(), text);
}

#[test]
fn a_file_of_the_users_with_our_name_is_left_alone() {
    let user = User::new();
    user.file(".config/nvim/plugin/acp-chain.lua", "print('mine')\n");
    let error = user
        .plan(Editor::named("neovim").unwrap(), &[])
        .unwrap_err();
    assert!(matches!(error, Error::Taken(_)), "{error}");
}

#[test]
fn incomplete_code_is_not_extended() {
    let user = User::new();
    user.file(".emacs", "(setq a 1)\n(when b\n");
    let error = user
        .plan(Editor::named("emacs").unwrap(), &[])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(".emacs:2: `(` is never closed; nothing was changed"),
        "{error}"
    );
}

#[test]
fn emacs_reads_one_init_file_and_doom_has_its_own() {
    let user = User::new();
    let editor = Editor::named("emacs").unwrap();
    let init = user.file(".emacs.d/init.el", "");
    assert_eq!(editor.found(&user.places), [init]);
    let first = user.file(".emacs", "");
    assert_eq!(editor.found(&user.places), [first]);
    let doom = user.file(".config/doom/config.el", "");
    assert_eq!(editor.found(&user.places), [doom]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_is_followed_and_stays_a_link() {
        let user = User::new();
        let editor = Editor::named("jetbrains").unwrap();
        let text = golden("jetbrains", "before", "json").unwrap();
        let dotfile = user.file("dotfiles/acp.json", &text);
        fs::create_dir(user.places.home.join(".jetbrains")).unwrap();
        let link = user.places.home.join(".jetbrains/acp.json");
        symlink("../dotfiles/acp.json", &link).unwrap();
        user.set_up(editor);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(
            Some(fs::read_to_string(&dotfile).unwrap()),
            golden("jetbrains", "after", "json")
        );
        assert!(user.undo(editor));
        assert_eq!(fs::read_to_string(dotfile).unwrap(), text);
    }

    #[test]
    fn two_names_of_one_folder_count_once() {
        let user = User::new();
        let editor = Editor::named("zed").unwrap();
        fs::create_dir_all(user.places.home.join(".config/zed")).unwrap();
        // As on systems with case-insensitive names.
        symlink("zed", user.places.home.join(".config/Zed")).unwrap();
        let planned = user.plan_installed(editor, &["mine"], &["mine"]).unwrap();
        let place = user.places.home.join(".config/zed/settings.json");
        assert_eq!(planned.path, place);
    }

    #[test]
    fn a_dangling_link_is_an_error() {
        let user = User::new();
        fs::create_dir(user.places.home.join(".jetbrains")).unwrap();
        symlink("nowhere", user.places.home.join(".jetbrains/acp.json")).unwrap();
        let error = user
            .plan(Editor::named("jetbrains").unwrap(), &[])
            .unwrap_err();
        assert!(matches!(error, Error::Dangling(_)), "{error}");
    }

    #[test]
    fn a_read_only_file_stays_as_it_is() {
        let (user, path) = configured("jetbrains", ".jetbrains/acp.json", "json");
        let editor = Editor::named("jetbrains").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let change = user.plan(editor, &[]).unwrap().change.unwrap();
        let error = change.check().unwrap_err();
        assert!(
            error.to_string().contains("is read-only; make it writable"),
            "{error}"
        );
        user.backups.apply(editor, &change).unwrap_err();
    }
}

#[test]
fn agents_are_read_with_what_they_launch() {
    let (user, path) = configured("zed", ".config/zed/settings.json", "json");
    let editor = Editor::named("zed").unwrap();
    let read = || acp_chain_setup::agents(editor, &path).unwrap();
    let (agents, is_chained) = read();
    assert!(!is_chained);
    assert_eq!(agents[1].runs, Runs::Other("opencode acp".to_owned()));
    assert_eq!(agents[2].runs, Runs::Other("/opt/an agent/bare".to_owned()));
    assert!(matches!(agents[4].runs, Runs::Unfit(_)));
    user.set_up(editor);
    let (agents, is_chained) = read();
    assert!(is_chained && agents[..4].iter().all(|agent| agent.runs == Runs::Chain));
}
