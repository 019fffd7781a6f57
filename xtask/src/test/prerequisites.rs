//! What the tests need on the machine: checked before anything is compiled, and reported all at once.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// What is needed: a command that succeeds if it is installed, and its name with what to do otherwise.
const PREREQUISITES: [(&[&str], &str); 6] = [
    (
        &["node", "--version"],
        "Node: with Debian or Ubuntu, apt-get install nodejs npm",
    ),
    (
        &["npm", "--version"],
        "npm, which comes with Node: with Debian or Ubuntu, apt-get install npm",
    ),
    (
        &["python3", "-c", "import ensurepip, venv"],
        "Python 3 with its module venv: with Debian or Ubuntu, apt-get install python3 python3-venv",
    ),
    (
        // It installs into environments that have none of their own, which older ones cannot.
        &[
            "python3",
            "-c",
            "import pip; assert [int(part) for part in pip.__version__.split('.')[:2]] >= [22, 3]",
        ],
        "pip 22.3 or newer for Python 3: with Debian or Ubuntu, apt-get install python3-pip",
    ),
    (
        &["apt-get", "--version"],
        "apt-get: real servers and shells for the tests are packages of Debian; use Debian or Ubuntu, or a container \
         of it",
    ),
    (
        &["dpkg-deb", "--version"],
        "dpkg-deb, which unpacks packages of Debian and comes with it",
    ),
];

/// Fails with the names of everything that is missing.
pub fn check() -> Result<()> {
    let missing: Vec<_> = PREREQUISITES
        .iter()
        .filter(|(seen_by, _)| !runs(seen_by))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing: Vec<_> = missing
        .iter()
        .map(|(_, what)| format!("\n  {what}"))
        .collect();
    bail!(
        "the tests need what is not installed here:{}",
        missing.concat()
    );
}

fn runs(command: &[&str]) -> bool {
    let status = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
