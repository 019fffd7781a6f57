//! The suite itself: it gets a URL, and writes its findings to files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use acp_chain_tests::host::peer;
use acp_chain_tests::wire::in_time;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A release of the suite.
#[derive(Clone, Copy, Debug)]
pub enum Suite {
    /// 0.1.16.
    Stable,
    /// 0.2.0-alpha.12, which knows MCP 2026-07-28.
    Next,
}

impl Suite {
    pub fn release(self) -> &'static str {
        match self {
            Self::Stable => "0.1.16",
            Self::Next => "0.2.0-alpha.12",
        }
    }
}

/// The findings for each scenario: none if it passed, otherwise the reasons.
pub type Findings = BTreeMap<String, Vec<String>>;

/// A program between the suite and a server, on a port of its own. It ends when this is dropped.
pub struct Front {
    _child: Child,
    pub url: String,
}

/// Starts a program that prints its port.
pub async fn front(program: &str, arguments: &[&str]) -> Front {
    let mut child = Command::new(peer("bin").join(program))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("a front");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let port = in_time("a port", lines.next_line()).await;
    let port = port.expect("a line").expect("a port");
    Front {
        _child: child,
        url: format!("http://127.0.0.1:{port}/mcp"),
    }
}

/// Runs all scenarios of the suite for a version.
pub async fn run(suite: Suite, version: &str, url: &str) -> Findings {
    let folder = tempfile::tempdir().expect("a folder");
    let release = match suite {
        Suite::Stable => "0.1",
        Suite::Next => "0.2",
    };
    // The suite fails if a scenario fails.
    let output = Command::new(peer("bin/npm-conformance"))
        .args([release, "server", "--url", url, "--suite", "all"])
        .args(["--spec-version", version, "--output-dir"])
        .arg(folder.path())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("the suite");
    let found = findings(folder.path());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!found.is_empty(), "{suite:?} {version}: {printed}");
    found
}

/// The end of a scenario's folder name, in other digits.
const TIME: &str = "-2026-07-28T00-00-00-000Z";

/// Each scenario has a folder, `server-SCENARIO-TIME`, with its checks.
fn findings(folder: &Path) -> Findings {
    let folders = fs::read_dir(folder).expect("a folder").flatten();
    let checked = folders.filter_map(|scenario| {
        let checks = fs::read_to_string(scenario.path().join("checks.json")).ok()?;
        let checks: Vec<Value> = serde_json::from_str(&checks).expect("JSON");
        let name = scenario.file_name().into_string().expect("a name");
        let name = name.strip_prefix("server-").expect("a server's folder");
        let name = name[..name.len() - TIME.len()].to_owned();
        let failed = checks.iter().filter(|check| check["status"] == "FAILURE");
        let why = failed.map(|check| format!("{}: {}", check["id"], check["errorMessage"]));
        Some((name, why.collect()))
    });
    checked.collect()
}
