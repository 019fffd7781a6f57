//! Folders and files with the names that there are.

use std::fs;
use std::path::{MAIN_SEPARATOR, Path};

use serde_json::Value;

use crate::host::Host;
use crate::user::{User, agent, component, fails, succeeds};

/// The longest path that Windows takes without further ado has 260 characters.
const LONG: usize = 300;

/// A proxy's entry in a manifest, with lines that end like this.
fn entry(line_end: &str) -> String {
    let path = component("todo");
    let path = path.display();
    let lines = [
        "[[proxy]]".to_owned(),
        "id = \"todo\"".to_owned(),
        format!("path = '{path}'"),
        "powers = [\"tools\", \"plans.show\"]".to_owned(),
    ];
    lines.map(|line| line + line_end).concat()
}

fn check(user: &User, manifest: &Path) -> String {
    succeeds(user.command("check").arg("--manifest").arg(manifest))
}

#[test]
fn lines_of_a_manifest_may_end_as_in_files_of_windows() {
    let user = User::new();
    for line_end in ["\n", "\r\n"] {
        let manifest = user.write("chain.toml", entry(line_end));
        let printed = check(&user, &manifest);
        assert!(printed.contains("todo"), "{printed}");
    }
}

#[test]
fn a_manifest_may_be_far_down() {
    let user = User::new();
    let mut name = String::new();
    while user.path("").as_os_str().len() + name.len() < LONG {
        name += "a folder within/";
    }
    let manifest = user.write(&format!("{name}chain.toml"), entry("\n"));
    let printed = check(&user, &manifest);
    assert!(printed.contains("todo"), "{printed}");
}

#[test]
fn a_command_with_a_separator_is_beside_its_manifest() {
    let user = User::new();
    let program = agent();
    let name = program.file_name().unwrap().to_str().unwrap();
    let at = user.write(&format!("bin/{name}"), "");
    fs::copy(&program, at).unwrap();
    let command = format!("bin{MAIN_SEPARATOR}{name}");
    let manifest = user.write("chain.toml", format!("[agent]\ncommand = '{command}'\n"));
    let mut run = user.command("run");
    let mut host = Host::start(&user, run.arg("--manifest").arg(manifest));
    host.open(&user.work());
    let facts: Value = serde_json::from_str(&host.turn("facts")).unwrap();
    assert_eq!(facts["args"], Value::Array(Vec::new()));
}

#[test]
fn a_device_is_no_manifest() {
    let user = User::new();
    let device = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let mut check = user.command("check");
    let printed = fails(check.args(["--manifest", device]));
    assert!(printed.contains(device), "{printed}");
}

#[test]
fn a_project_is_found_from_a_folder_within_and_trusted_by_its_path() {
    let user = User::new();
    user.write("work/acp-chain.toml", "[[proxy]]\nuse = \"todo\"\n");
    let within = user.work().join("src");
    fs::create_dir(&within).unwrap();
    let trust = |options: &[&str]| {
        let mut trust = user.command("trust");
        succeeds(trust.args(options).current_dir(&within))
    };
    let shown: Value = serde_json::from_str(&trust(&["--show", "--json"])).unwrap();
    trust(&["--digest", shown["key"].as_str().unwrap()]);
    let listed = trust(&["--list"]);
    assert!(listed.contains("work"), "{listed}");
    // As people write it.
    assert!(!listed.contains(r"\\?\"), "{listed}");
    let mut host = Host::start(&user, &mut user.run(&[], [agent()]));
    host.open(&within);
    let result = host.turn("call list {}");
    assert!(result.contains("tasks"), "{result}: {host}");
}

#[cfg(windows)]
mod of_windows {
    use super::*;

    #[test]
    fn the_case_of_a_path_does_not_matter() {
        let user = User::new();
        user.write("Chain.toml", entry("\n"));
        for name in ["chain.TOML", "CHAIN.toml"] {
            check(&user, &user.path(name));
        }
    }

    #[test]
    fn a_path_may_have_slashes() {
        let user = User::new();
        let manifest = user.write("chain.toml", entry("\n"));
        let slashes = manifest.to_str().unwrap().replace('\\', "/");
        check(&user, Path::new(&slashes));
    }

    #[test]
    fn a_folder_that_a_proxy_has_open_is_not_moved() {
        let user = User::new();
        let shared = user.path("shared");
        fs::create_dir(&shared).unwrap();
        let path = shared.display();
        let component = component("files");
        let component = component.display();
        let text = format!(
            "[[proxy]]\nid = \"files\"\npath = '{component}'\n\
             methods = {{ \"test/*\" = [\"read\", \"answer\"] }}\n\
             directories = [{{ path = '{path}', name = \"/shared\" }}]\n"
        );
        let manifest = user.write("chain.toml", text);
        let mut run = user.command("run");
        run.arg("--manifest").arg(manifest).arg("--").arg(agent());
        let mut host = Host::start(&user, &mut run);
        host.open(&user.work());
        let moved = fs::rename(&shared, user.path("elsewhere"));
        assert!(moved.is_err(), "{host}");
        assert!(host.close().success());
        fs::rename(&shared, user.path("elsewhere")).unwrap();
    }
}
