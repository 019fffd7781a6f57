//! A user with a home, on a machine without problems at first.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use acp_chain_tests::host;
use serde_json::{Value, json};
use tempfile::TempDir;

pub const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

pub const CONFIG: &str = ".config/acp-chain/config.toml";

pub const ZED: &str = ".config/zed/settings.json";

pub struct User {
    home: TempDir,
    environment: Vec<(&'static str, PathBuf)>,
}

#[derive(Debug)]
pub struct Report {
    pub code: Option<i32>,
    pub findings: Vec<Value>,
}

impl User {
    /// A user with a chain of two built-in extensions, a trusted project, and an editor that launches an agent through
    /// acp-chain.
    pub fn new() -> Self {
        let user = Self {
            home: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        };
        user.write(
            CONFIG,
            "[[proxy]]\nuse = \"redact\"\n\n[[proxy]]\nuse = \"rules\"\n",
        );
        let launched = json!({ "agent_servers": { "Wild": {
            "command": host::installed().canonicalize().unwrap(),
            "args": ["run", "--with", "todo", "--", AGENT],
        } } });
        user.write(ZED, &launched.to_string());
        user.write(
            "project/acp-chain.toml",
            "[[proxy]]\nid = \"mine\"\nuse = \"todo\"\n",
        );
        let shown: Value =
            serde_json::from_str(&user.does(&["trust", "--show", "--json"])).unwrap();
        user.does(&["trust", "--digest", shown["key"].as_str().unwrap()]);
        user
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(path)
    }

    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Sets a variable for later commands.
    pub fn set(&mut self, name: &'static str, value: impl Into<PathBuf>) {
        self.environment.push((name, value.into()));
    }

    /// A command in the project.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(host::installed());
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path(""))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        command
    }

    pub fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The output of a command, which must succeed.
    pub fn does(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The doctor's report, with these arguments.
    pub fn doctor(&self, args: &[&str]) -> Report {
        let output = self.output(&[&["doctor", "--json"], args].concat());
        report(&output)
    }

    /// Runs the command of a remedy in a shell.
    pub fn follows(&self, command: &str) {
        let folder = host::installed().parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .env_clear()
            .env("PATH", format!("{}:{path}", folder.display()))
            .env("HOME", self.path(""))
            .current_dir(self.path("project"));
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
}

pub fn report(output: &Output) -> Report {
    assert!(output.stderr.is_empty(), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["version"], 1);
    let findings = told["findings"].as_array().unwrap().clone();
    let count = |state| {
        findings
            .iter()
            .filter(|finding| finding["state"] == state)
            .count()
    };
    assert_eq!(told["problems"], count("problem"));
    assert_eq!(told["notes"], count("note"));
    Report {
        code: output.status.code(),
        findings,
    }
}

impl Report {
    /// The findings that are not fine.
    pub fn unwell(&self) -> Vec<&Value> {
        let unwell = self
            .findings
            .iter()
            .filter(|finding| finding["state"] != "fine");
        unwell.collect()
    }

    /// Checks that the only problem is in this area and has this text. Returns its remedy.
    #[track_caller]
    pub fn only(&self, area: &str, says: &str) -> String {
        assert_eq!(self.code, Some(1), "{self:#?}");
        let problems = self
            .findings
            .iter()
            .filter(|finding| finding["state"] == "problem");
        let problems: Vec<_> = problems.collect();
        let [problem] = &problems[..] else {
            panic!("one problem: {problems:#?}")
        };
        assert_eq!(problem["area"], area);
        let text = problem["says"].as_str().unwrap();
        assert!(text.contains(says), "{text}\nlacks\n{says}");
        remedy(problem)
    }

    /// Finds a problem among others. Returns its remedy.
    #[track_caller]
    pub fn among(&self, area: &str, says: &str) -> String {
        let is_it = |finding: &&Value| {
            let text = finding["says"].as_str().unwrap();
            finding["area"] == area && finding["state"] == "problem" && text.contains(says)
        };
        let found = self.findings.iter().find(is_it);
        remedy(found.unwrap_or_else(|| panic!("{says} is missing: {self:#?}")))
    }
}

#[track_caller]
fn remedy(problem: &Value) -> String {
    let remedy = &problem["remedy"];
    let text = remedy["command"].as_str().or(remedy["step"].as_str());
    text.unwrap_or_else(|| panic!("{problem:#} has a remedy"))
        .to_owned()
}

/// All files below a folder, with their content and when they were changed.
pub fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let changed = path.symlink_metadata().unwrap().modified().unwrap();
        if path.is_dir() {
            all.extend(snapshot(&path));
        }
        let content = fs::read(&path).unwrap_or_default();
        all.push((path, content, changed));
    }
    all.sort();
    all
}
