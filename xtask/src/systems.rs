//! The tests of `tests/systems` for another system or machine: built here, and what they print.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;
use xtask::fetch::target;
use xtask::workspace::Workspace;

/// The page with the results.
pub const PAGE: &str = "docs/systems.md";

/// The program of the tests, in `tests/systems`.
const TESTS: &str = "systems";

/// The program under test.
const PROGRAM: &str = "acp-chain";

/// What was built.
pub struct Built {
    pub tests: PathBuf,
    /// The program under test, if that was asked for.
    pub program: Option<PathBuf>,
}

/// A line of the results: what it is about, and whether it is as it should be.
pub struct Outcome {
    pub about: String,
    pub says: String,
}

impl Outcome {
    /// What a line says after this mark.
    pub fn read(line: &str, mark: &str) -> Option<Self> {
        let (about, says) = line.trim().rsplit_once(mark)?;
        Some(Self {
            about: about.to_owned(),
            says: says.to_owned(),
        })
    }
}

/// Builds the tests with their agent for a target, and what `more` names on cargo's command line. The folder is one of
/// `target`, for the output of cargo.
pub fn build(
    workspace: &Workspace,
    folder: &str,
    triple: &str,
    compiler: &OsStr,
    more: &str,
) -> Result<Built> {
    let log = workspace.target(folder).join("build.json");
    fs::create_dir_all(workspace.target(folder))?;
    workspace.step(&format!("tests for {triple}"), |step| {
        target::add(workspace, step, triple)?;
        let mut build = workspace.cargo(
            "build --locked --package acp-chain-systems --bin systems-agent \
             --message-format=json-render-diagnostics",
        );
        build.args(["--test", TESTS]).args(more.split_whitespace());
        target::compile_for(&mut build, triple, compiler);
        // The output is read below.
        step.run_into(&mut build, &log)
    })?;
    let messages = fs::read_to_string(&log)?;
    let messages = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let file = PathBuf::from(message["executable"].as_str()?);
        Some((message, file))
    });
    let (mut tests, mut program) = (None, None);
    for (message, file) in messages {
        let is_test = message["profile"]["test"] == true;
        match (message["target"]["name"].as_str(), is_test) {
            (Some(TESTS), true) => tests = Some(file),
            (Some(PROGRAM), false) => program = Some(file),
            _ => {}
        }
    }
    let tests =
        tests.with_context(|| format!("cargo has not built the tests: see {}", log.display()))?;
    Ok(Built { tests, program })
}

/// The outcomes in the output of a program of tests.
pub fn outcomes(printed: &str) -> impl Iterator<Item = Outcome> {
    let lines = printed.lines();
    let tests = lines.filter_map(|line| line.trim().strip_prefix("test "));
    tests.filter_map(|test| Outcome::read(test, " ... "))
}

/// How many of the tests have not passed.
pub fn failed(tests: &[Outcome]) -> usize {
    tests.iter().filter(|test| test.says != "ok").count()
}

/// The outcomes of tests, for the book; `place` is what they ran in.
pub fn table(place: &str, tests: &[Outcome]) -> String {
    let passed = tests.len() - failed(tests);
    let mut text = format!(
        "Under {place}, {passed} of {} tests pass:\n\n| Test | |\n|---|---|\n",
        tests.len()
    );
    for Outcome { about, says } in tests {
        let _ = writeln!(text, "| `{about}` | {says} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_from_what_tests_print() {
        let printed = "running 2 tests\r\ntest kills::leaves_nothing ... ok\r\n\
                       test cache::is_used ... FAILED\r\n\r\ntest result: FAILED. 1 passed; 1 failed\r\n";
        let read: Vec<_> = outcomes(printed).collect();
        assert_eq!(failed(&read), 1);
        assert_eq!(
            table("an emulator", &read),
            "Under an emulator, 1 of 2 tests pass:\n\n| Test | |\n|---|---|\n\
             | `kills::leaves_nothing` | ok |\n| `cache::is_used` | FAILED |\n"
        );
    }
}
