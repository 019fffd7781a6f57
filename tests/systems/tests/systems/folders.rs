//! Where the user's files are, by the table in `docs/systems.md`.

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::user::{User, fails};

/// A folder of a user.
#[derive(Clone, Copy)]
pub enum Folder {
    Home,
    /// Of programs' settings.
    Settings,
}

/// The usual place of a folder: within the folder of this user, but on Windows in the user's profile.
///
/// # Panics
/// On Windows, if the profile is not one of tests.
pub fn usual(user: &User, folder: Folder) -> PathBuf {
    if cfg!(windows) {
        assert!(
            env::var_os("ACP_CHAIN_TEST_PROFILE").is_some(),
            "this test writes into the profile of its user: set ACP_CHAIN_TEST_PROFILE=1 where nobody else uses it"
        );
        let variable = match folder {
            Folder::Home => "USERPROFILE",
            Folder::Settings => "APPDATA",
        };
        return env::var_os(variable).expect(variable).into();
    }
    let settings = if cfg!(target_os = "macos") {
        "Library/Application Support"
    } else {
        ".config"
    };
    match folder {
        Folder::Home => user.path(""),
        Folder::Settings => user.path(settings),
    }
}

#[test]
fn settings_are_read_from_the_usual_place() {
    let user = User::new();
    let mut folder = usual(&user, Folder::Settings).join("acp-chain");
    if cfg!(windows) {
        folder.push("config");
    }
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("config.toml");
    fs::write(&file, "no-such-key = 1\n").unwrap();
    let printed = fails(&mut user.usual("check"));
    fs::remove_file(&file).unwrap();
    assert!(printed.contains("no-such-key"), "{printed}");
    assert!(printed.contains("config.toml"), "{printed}");
}
