//! `acp-chain self-test`: what the program promises, on this machine.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use acp_chain_tests::host::{installed, program};
use tempfile::TempDir;
use tokio::process::Command;

/// The promises, in order.
const PROMISES: [&str; 11] = [
    "chain",
    "trap",
    "loop",
    "kill",
    "bridge",
    "cache",
    "confinement",
    "live",
    "hooks",
    "setup",
    "private",
];

/// A user with an empty home, and a folder for temporary files.
struct User(TempDir);

impl User {
    fn new() -> Self {
        let user = Self(tempfile::tempdir().unwrap());
        for folder in [user.home(), user.temporary()] {
            fs::create_dir(folder).unwrap();
        }
        user
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    fn temporary(&self) -> PathBuf {
        self.0.path().join("tmp")
    }

    async fn self_test(&self, program: &Path) -> Output {
        let mut command = Command::new(program);
        command
            .arg("self-test")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .env("TMPDIR", self.temporary())
            .kill_on_drop(true);
        command.output().await.unwrap()
    }

    fn has_left_nothing(&self) {
        for folder in [self.home(), self.temporary()] {
            let left = fs::read_dir(&folder).unwrap();
            let left: Vec<_> = left.map(|entry| entry.unwrap().path()).collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

fn text(output: &Output) -> String {
    let printed = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8(printed).unwrap()
}

/// The mark and the text of each promise.
fn lines(printed: &str) -> Vec<(&str, &str)> {
    let lines = PROMISES.iter().zip(printed.lines());
    let read = lines.map(|(name, line)| {
        let (mark, rest) = line.split_once(' ').unwrap();
        let (named, text) = rest.split_once(' ').unwrap();
        assert_eq!(named, *name, "{printed}");
        (mark, text.trim())
    });
    let read: Vec<_> = read.collect();
    assert_eq!(read.len(), PROMISES.len(), "{printed}");
    read
}

#[tokio::test]
async fn every_promise_has_a_line_and_nothing_is_left() {
    // With and without built-in extensions.
    for program in [program(), installed().to_owned()] {
        let user = User::new();
        let output = user.self_test(&program).await;
        let printed = text(&output);
        assert!(output.status.success(), "{printed}");
        for (name, (mark, text)) in PROMISES.iter().zip(lines(&printed)) {
            // What is given up is the kernel's to say.
            let is_kept = mark == "✓" || *name == "confinement" && mark == "–";
            assert!(is_kept && !text.is_empty(), "{printed}");
        }
        let places = user.home().join(".config/zed/settings.json");
        assert!(
            printed.contains(&format!("Zed at {}", places.display())),
            "{printed}"
        );
        assert!(
            printed.contains("\nEverything holds that this system can keep.\n"),
            "{printed}"
        );
        user.has_left_nothing();
    }
}

#[tokio::test]
async fn a_promise_that_the_environment_breaks_is_told_with_the_reason() {
    let user = User::new();
    // Others can replace what is in it.
    fs::set_permissions(user.temporary(), Permissions::from_mode(0o777)).unwrap();
    let output = user.self_test(&program()).await;
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    let why = format!("others may write to {}", user.temporary().display());
    for (name, (mark, text)) in PROMISES.iter().zip(lines(&printed)) {
        if *name == "private" {
            assert!(mark == "✗" && text.contains(&why), "{printed}");
        } else {
            assert_ne!(mark, "✗", "{printed}");
        }
    }
    assert!(
        printed.contains("\n1 promise does not hold here.\n"),
        "{printed}"
    );
    user.has_left_nothing();
}

#[tokio::test]
async fn without_a_place_for_its_files_it_says_what_it_lacks() {
    let user = User::new();
    fs::remove_dir(user.temporary()).unwrap();
    let output = user.self_test(&program()).await;
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("let TMPDIR name a folder that you can write to"),
        "{printed}"
    );
}
