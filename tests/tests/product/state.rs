//! `acp-chain state`: what proxies have stored is listed, and removed after a question.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use acp_chain_state::{Database, Namespace, StoreOutcome};
use acp_chain_tests::host::program;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A user with a home, and a project in it.
struct User(TempDir);

impl User {
    fn new() -> Self {
        let user = Self(tempfile::tempdir().unwrap());
        fs::create_dir(user.project()).unwrap();
        user
    }

    fn home(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap()
    }

    fn project(&self) -> PathBuf {
        self.home().join("work")
    }

    fn database(&self) -> PathBuf {
        self.home().join(".local/share/acp-chain/state/state.db")
    }

    /// A user of whom two proxies have stored values.
    fn with_values() -> Self {
        let user = Self::new();
        let mut database = Database::open(&user.database()).unwrap();
        for (extension, project) in [
            ("one", None),
            ("one", Some(user.project())),
            ("two", Some(user.project())),
        ] {
            let namespace = Namespace {
                extension: extension.to_owned(),
                source: "built-in".to_owned(),
                user: None,
                project,
            };
            let outcome = database.store(&namespace, "k", 0, Some("v")).unwrap();
            assert!(matches!(outcome, StoreOutcome::Stored { .. }));
        }
        user
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(program());
        command
            .arg("state")
            .args(args)
            .env_clear()
            .env("HOME", self.0.path())
            .current_dir(self.0.path());
        command.output().unwrap()
    }

    /// What a command prints, which must succeed.
    fn prints(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.is_empty(), "{told}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The error of a command, which must fail with this exit code.
    fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(code));
        String::from_utf8(output.stderr).unwrap()
    }

    /// The extensions that have values, and their projects.
    fn listed(&self) -> Vec<(String, Option<String>)> {
        let printed = self.prints(&["list", "--json"]);
        let read: Value = serde_json::from_str(&printed).unwrap();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let all = read["state"].as_array().unwrap().iter();
        all.map(|one| (text(&one["extension"]).unwrap(), text(&one["project"])))
            .collect()
    }
}

#[test]
fn where_nothing_is_stored_nothing_is_listed_or_created() {
    let user = User::new();
    assert_eq!(user.prints(&["list"]), "No proxy has stored anything.\n");
    assert!(user.listed().is_empty());
    let wiped = user.prints(&["wipe", "--all"]);
    assert!(wiped.starts_with("There are no such values"), "{wiped}");
    assert!(!user.database().exists());
}

#[test]
fn the_list_says_whose_values_there_are() {
    let user = User::with_values();
    let (printed, project) = (user.prints(&["list"]), user.project());
    for lines in [
        "one\n  from      built-in\n  for       you, in every project\n  has       1 value, 66 B",
        &format!(
            "two\n  from      built-in\n  for       you, in {}\n",
            project.display()
        ),
        "\n  since     20",
        "\n  changed   20",
    ] {
        assert!(printed.contains(lines), "{printed}\nlacks\n{lines}");
    }
    let project = project.to_str().map(str::to_owned);
    let (one, two) = ("one".to_owned(), "two".to_owned());
    let expected = [(one.clone(), None), (one, project.clone()), (two, project)];
    assert_eq!(user.listed(), expected);
}

#[test]
fn the_list_says_what_brake_has_counted() {
    let user = User::new();
    let mut database = Database::open(&user.database()).unwrap();
    let account = |day: &str, spent: [u64; 4]| {
        let account = json!({ "spent": spent, "raises": [0, 0, 0, 0] });
        json!({ "day": day, "account": account }).to_string()
    };
    for (extension, project, key, value) in [
        (
            "brake",
            None,
            "day",
            account("2026-11-28", [1500, 1_239_999, 3, 61]),
        ),
        (
            "brake",
            Some(user.project()),
            "project",
            account("", [0, 0, 1, 0]),
        ),
        // It has no accounts.
        ("other", None, "day", account("2026-11-28", [9; 4])),
    ] {
        let namespace = Namespace {
            extension: extension.to_owned(),
            source: "built-in".to_owned(),
            user: None,
            project,
        };
        let outcome = database.store(&namespace, key, 0, Some(&value)).unwrap();
        assert!(matches!(outcome, StoreOutcome::Stored { .. }));
    }
    let printed = user.prints(&["list"]);
    let day = "  spent     1500 tokens, a cost of 1.23, 3 tool calls, 2 minutes, on 2026-11-28\n";
    let project = "  spent     1 tool call\n";
    assert!(
        printed.contains(day) && printed.contains(project),
        "{printed}"
    );
    assert_eq!(printed.matches("  spent ").count(), 2, "{printed}");
    let read: Value = serde_json::from_str(&user.prints(&["list", "--json"])).unwrap();
    let first = &read["state"][0];
    assert_eq!(first["day"], "2026-11-28");
    assert_eq!(first["spent"]["tool-calls"], 3);
    assert!(read["state"][2]["spent"].is_null(), "{read}");
}

#[test]
fn values_are_removed_by_extension_and_project_after_a_question() {
    let user = User::with_values();
    let before = user.listed();
    let refused = user.fails(1, &["wipe", "--all"]);
    assert!(refused.contains("no terminal to ask on"), "{refused}");
    assert_eq!(user.listed(), before);
    for wrong in [&["wipe"][..], &["wipe", "one", "--all"], &["wipe", "--yes"]] {
        user.fails(2, wrong);
    }
    user.prints(&["wipe", "three", "--yes"]);
    user.prints(&["wipe", "one", "--project", ".", "--yes"]);
    assert_eq!(user.listed(), before);
    let wiped = user.prints(&["wipe", "one", "--project", "work", "--yes"]);
    assert!(wiped.ends_with("1 value removed.\n"), "{wiped}");
    assert_eq!(user.listed(), [before[0].clone(), before[2].clone()]);
    // A project that no longer exists has the same name.
    fs::remove_dir(user.project()).unwrap();
    let gone = user.project().display().to_string();
    user.prints(&["wipe", "--project", &gone, "--yes"]);
    assert_eq!(user.listed(), before[..1]);
    user.prints(&["wipe", "--all", "--yes"]);
    assert!(user.listed().is_empty());
}

#[test]
fn a_damaged_database_is_replaced_only_with_all_that_is_in_it() {
    let user = User::with_values();
    fs::write(user.database(), "damaged").unwrap();
    let path = user.database().display().to_string();
    for args in [&["list"][..], &["wipe", "one", "--yes"], &["wipe", "--all"]] {
        let error = user.fails(1, args);
        assert!(!error.is_empty());
        assert_eq!(fs::read(user.database()).unwrap(), b"damaged");
    }
    let error = user.fails(1, &["list"]);
    assert!(error.contains(&format!("{path} is damaged")), "{error}");
    assert!(error.contains("`acp-chain state wipe --all`"), "{error}");
    user.prints(&["wipe", "--all", "--yes"]);
    assert!(user.listed().is_empty());
}
