//! Words of command lines, and programs that are found by their names.

use std::env;
use std::ffi::OsString;
use std::path::Path;

use serde_json::{Value, json};

use crate::host::Host;
use crate::user::{User, agent, fails, succeeds};

/// What an agent that is launched like this reports.
fn facts(user: &User, command: &mut std::process::Command) -> Value {
    let mut host = Host::start(user, command);
    host.open(&user.work());
    let facts = serde_json::from_str(&host.turn("facts")).unwrap();
    assert!(host.close().success(), "{}", user.log());
    facts
}

/// Writes a script that runs the agent with its own arguments, in a folder for programs. Returns that folder.
fn script(user: &User, name: &str) -> String {
    let path = agent();
    let path = path.to_str().unwrap();
    let (file, text) = if cfg!(windows) {
        (
            format!("my programs/{name}.cmd"),
            format!("@\"{path}\" %*\r\n"),
        )
    } else {
        (
            format!("my programs/{name}"),
            format!("#!/bin/sh\nexec '{path}' \"$@\"\n"),
        )
    };
    let file = user.write(&file, text);
    allow(&file);
    file.parent().unwrap().to_str().unwrap().to_owned()
}

#[cfg(unix)]
fn allow(program: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program, mode).unwrap();
}

/// Every file may be run.
#[cfg(windows)]
fn allow(_: &Path) {}

/// `PATH` with this folder before all others.
fn path_with(folder: &str) -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let others = env::split_paths(&path);
    env::join_paths([folder.into()].into_iter().chain(others)).unwrap()
}

#[test]
fn an_agent_gets_its_arguments_as_they_are() {
    let user = User::new();
    let words = [
        "two words",
        "",
        r#"in "quotes""#,
        r"C:\a folder\",
        r#"\\"\"#,
        "ü €",
        "%PATH% $HOME",
        "a&b|c>d",
        "*",
        "'one'",
    ];
    let path = agent();
    let command = [path.to_str().unwrap()].into_iter().chain(words);
    let facts = facts(&user, &mut user.run(&[], command));
    assert_eq!(facts["args"], json!(words));
}

#[test]
fn an_agent_that_is_a_script_in_path_is_found_by_its_name() {
    let user = User::new();
    let folder = script(&user, "wild");
    let words = ["wild", "two words", "a&b"];
    let mut command = user.run(&[], words);
    let facts = facts(&user, command.env("PATH", path_with(&folder)));
    assert_eq!(facts["args"], json!(words[1..]));
}

#[test]
fn an_agent_that_is_a_script_keeps_a_name_of_its_own() {
    let user = User::new();
    let folder = script(&user, "wild");
    let mut add = user.command("agent");
    add.args(["add", "mine", "--", "wild", "--acp"]);
    succeeds(add.env("PATH", path_with(&folder)));
    // Editors have another `PATH`.
    let mut command = user.command("run");
    let facts = facts(&user, command.arg("mine"));
    assert_eq!(facts["args"], json!(["--acp"]));
    let mut list = user.command("agent");
    let listed = succeeds(list.arg("list"));
    assert!(listed.contains("mine"), "{listed}");
}

#[test]
fn a_program_that_is_nowhere_is_named() {
    let user = User::new();
    let mut host = Host::start(&user, &mut user.run(&[], ["no-such-agent"]));
    let error = host.ask("initialize", json!({ "protocolVersion": 1 }));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("`no-such-agent` was not found"), "{error}");
}

#[test]
fn no_agent_has_a_name_that_no_folder_can_have() {
    let user = User::new();
    let path = agent();
    let add = |name: &str| {
        let mut add = user.command("agent");
        add.args(["add", name, "--"]).arg(&path);
        add
    };
    for name in ["../up", "a b", ""] {
        fails(&mut add(name));
    }
    for name in ["nul", "com1.x"] {
        if cfg!(windows) {
            fails(&mut add(name));
        } else {
            succeeds(&mut add(name));
        }
    }
}
