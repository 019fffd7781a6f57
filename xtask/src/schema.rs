//! The protocol's schemas in `host/messages/schema`. The program in `xtask/schema` prints them, from the crate that its
//! manifest pins. `cargo xtask types` writes them, and `cargo xtask newest` lists what the newest crate would add.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::workspace::{Workspace, cargo};

const VERSIONS: [&str; 2] = ["v1", "v2"];

/// Writes the schemas of the crate.
pub fn write(workspace: &Workspace) -> Result<()> {
    let program = build(workspace, &workspace.path("xtask/schema"), &["--locked"])?;
    for version in VERSIONS {
        fs::write(file(workspace, version), print(&program, version)?)?;
    }
    Ok(())
}

/// Prints how the schemas of the newest crate differ from ours.
pub fn tell_newer(workspace: &Workspace) -> Result<()> {
    let (ours, copy) = (
        workspace.path("xtask/schema"),
        workspace.target("newest/schema"),
    );
    fs::create_dir_all(copy.join("src"))?;
    fs::copy(ours.join("src/main.rs"), copy.join("src/main.rs"))?;
    let manifest = fs::read_to_string(ours.join("Cargo.toml"))?;
    let any = manifest.replace("version = \"=", "version = \"");
    ensure!(any != manifest, "{} pins no version", ours.display());
    fs::write(copy.join("Cargo.toml"), any)?;
    let _ = fs::remove_file(copy.join("Cargo.lock"));
    let program = build(workspace, &copy, &[])?;
    for version in VERSIONS {
        let ours = fs::read_to_string(file(workspace, version))?;
        let (ours, newest) = (facts(&ours)?, facts(&print(&program, version)?)?);
        for added in newest.difference(&ours) {
            println!("{version}: the newest schema adds {added}");
        }
        for gone in ours.difference(&newest) {
            println!("{version}: the newest schema lacks {gone}");
        }
        if ours == newest {
            println!("{version}: the newest schema is the same as ours");
        }
    }
    Ok(())
}

fn file(workspace: &Workspace, version: &str) -> PathBuf {
    workspace.path(format!("host/messages/schema/{version}.json"))
}

fn build(workspace: &Workspace, folder: &Path, args: &[&str]) -> Result<PathBuf> {
    let target = workspace.target("schema");
    workspace.step("the schemas of the protocol", |step| {
        let mut build = cargo();
        build.arg("build").args(args).arg("--target-dir");
        step.run(build.arg(&target).current_dir(folder))
    })?;
    Ok(target.join("debug/acp-schema"))
}

fn print(program: &Path, version: &str) -> Result<String> {
    xtask::printed(Command::new(program).arg(version))
}

/// The methods, updates and members of a schema, in words.
fn facts(schema: &str) -> Result<BTreeSet<String>> {
    let schema: Value = serde_json::from_str(schema)?;
    let definitions = schema["$defs"]
        .as_object()
        .context("the schema has no definitions")?;
    let mut facts = BTreeSet::new();
    for (name, definition) in definitions {
        if let Some(method) = definition["x-method"].as_str() {
            facts.insert(format!("the method `{method}`"));
        }
        let variants = ["oneOf", "anyOf"].map(|choice| definition[choice].as_array());
        for variant in variants.into_iter().flatten().flatten() {
            let members = variant["properties"].as_object().into_iter().flatten();
            for (member, value) in members {
                if let Some(value) = value["const"].as_str() {
                    facts.insert(format!("`{member}` `{value}` in {name}"));
                }
            }
            if let Some(value) = variant["const"].as_str() {
                facts.insert(format!("`{value}` in {name}"));
            }
        }
        let members = definition["properties"].as_object().into_iter().flatten();
        facts.extend(members.map(|(member, _)| format!("`{member}` in {name}")));
    }
    Ok(facts)
}
