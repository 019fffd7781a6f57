//! Projects on the disk, which the user trusts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Places, Subject, TERMS};

/// Creates the projects of a subject, and trusts each. The command is acp-chain's, without arguments.
pub fn make(subject: &Subject, places: &Places, command: impl Fn() -> Command) -> Result<()> {
    for folder in folders(subject, &places.scratch) {
        if folder.exists() {
            continue;
        }
        fs::create_dir_all(&folder)?;
        fs::copy(
            places.components.join("pass.wasm"),
            folder.join("pass.wasm"),
        )?;
        let manifest = manifest(subject.proxies, &places.powers);
        fs::write(folder.join("acp-chain.toml"), manifest)?;
        let shown = trust(command().args(["trust", "--show", "--json"]).arg(&folder))?;
        let shown: serde_json::Value = serde_json::from_slice(&shown)?;
        let key = shown["key"].as_str().context("the project has no key")?;
        trust(command().args(["trust", "--digest", key]).arg(&folder))?;
    }
    Ok(())
}

/// The folders of a subject's projects.
pub fn folders(subject: &Subject, scratch: &Path) -> impl Iterator<Item = PathBuf> {
    let all = scratch.join(format!("{:?}-{}", subject.family, subject.proxies));
    (0..subject.projects()).map(move |number| all.join(number.to_string()))
}

fn trust(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "trusting failed: {told}");
    Ok(output.stdout)
}

fn manifest(proxies: usize, powers: &[&str]) -> String {
    let proxy = |number| {
        format!("[[proxy]]\nid = 'pass-{number}'\npath = 'pass.wasm'\n{TERMS}powers = {powers:?}\n")
    };
    (0..proxies).map(proxy).collect()
}
