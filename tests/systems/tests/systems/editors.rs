//! Configurations of editors: at any path, and where editors have them.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::folders::{Folder, usual};
use crate::host::Host;
use crate::user::{User, agent, succeeds};

/// A configuration of Zed with one agent, and lines that end as in files of Windows.
fn settings() -> String {
    let servers = json!({ "Mine": { "command": agent(), "args": ["--acp"], "env": {} } });
    let text = serde_json::to_string_pretty(&json!({ "agent_servers": servers })).unwrap();
    text.replace('\n', "\r\n")
}

#[test]
fn an_editor_launches_what_setup_has_written_and_undo_restores_every_byte() {
    let user = User::new();
    let before = settings();
    let file = user.write("Zed/settings.json", &before);
    let setup = |options: &[&str]| {
        let mut setup = user.command("setup");
        setup.arg("zed").args(options).arg("--yes");
        succeeds(setup.arg("--file").arg(&file))
    };
    setup(&["--with", "redact"]);
    let after = fs::read_to_string(&file).unwrap();
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    let after: Value = serde_json::from_str(&after).unwrap();
    let entry = &after["agent_servers"]["Mine"];
    let words = entry["args"].as_array().unwrap().iter();
    let mut launched = Command::new(entry["command"].as_str().unwrap());
    launched.args(words.map(|word| word.as_str().unwrap()));
    if cfg!(unix) {
        launched.env("HOME", user.path(""));
    }
    let mut host = Host::start(&user, &mut launched);
    host.open(&user.work());
    let facts: Value = serde_json::from_str(&host.turn("facts")).unwrap();
    assert_eq!(facts["args"], json!(["--acp"]));
    assert!(host.close().success());
    setup(&["--undo"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
}

/// The configurations, by the folder that each is in.
fn configurations() -> [(&'static str, Folder, &'static str); 4] {
    let zed = if cfg!(windows) {
        "Zed/settings.json"
    } else {
        "zed/settings.json"
    };
    [
        ("Zed", Folder::Settings, zed),
        ("VS Code", Folder::Settings, "Code/User/settings.json"),
        ("JetBrains", Folder::Home, ".jetbrains/acp.json"),
        ("acpx", Folder::Home, ".acpx/config.json"),
    ]
}

#[test]
fn configurations_are_found_where_editors_have_them_and_each_once() {
    let user = User::new();
    let files: Vec<PathBuf> = configurations()
        .iter()
        .map(|(_, folder, path)| {
            path.split('/')
                .fold(usual(&user, *folder), |at, name| at.join(name))
        })
        .collect();
    for file in &files {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "{}").unwrap();
    }
    let mut setup = user.usual("setup");
    // Editors that are programs in `PATH` are found, too.
    let printed = succeeds(setup.env("PATH", env::var_os("PATH").unwrap_or_default()));
    for file in &files {
        let shown = file.to_string_lossy().to_lowercase();
        let count = printed.to_lowercase().matches(&*shown).count();
        assert_eq!(count, 1, "{}: {printed}", file.display());
        fs::remove_file(file).unwrap();
    }
}
