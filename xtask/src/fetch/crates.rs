//! Programs in Rust that are not part of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::printed;
use crate::stamp::Stamp;
use crate::workspace::{Workspace, cargo};

/// Installs a program with `cargo install` and these arguments into `target/bench`, as its users build it: a crate and
/// its version, or the path of a folder of the checkout, whose files are then given as `sources`. Returns the program.
pub fn install(
    workspace: &Workspace,
    program: &str,
    args: &[&str],
    sources: &[&Path],
) -> Result<PathBuf> {
    let root = workspace.target("bench");
    let product = root.join("bin").join(program);
    let mut stamp = Stamp::new(workspace, &product).on(args);
    for source in sources {
        stamp = stamp.on_path(source)?;
    }
    if stamp.is_current() {
        return Ok(product);
    }
    let mut install = workspace.cargo("install --locked --force --root");
    install.arg(&root).args(args);
    install.env("CARGO_TARGET_DIR", root.join("build"));
    workspace.run(program, &mut install)?;
    stamp.set()?;
    Ok(product)
}

/// The folder with the source of a crate of exactly this version. Nothing is compiled.
pub fn source(workspace: &Workspace, name: &str, version: &str) -> Result<PathBuf> {
    let folder = workspace.target("xtask").join(format!("{name}-{version}"));
    fs::create_dir_all(&folder)?;
    // A package only for its one dependency, in a workspace of its own.
    let manifest = format!(
        "[package]\nname = \"source\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\n{name} = \"={version}\"\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::write(folder.join("lib.rs"), "")?;
    let step = format!("source of {name}");
    workspace.run(&step, cargo().arg("fetch").current_dir(&folder))?;
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version=1", "--offline"]);
    let metadata: Value = serde_json::from_str(&printed(metadata.current_dir(&folder))?)?;
    let packages = metadata["packages"].as_array();
    let package = packages.and_then(|all| all.iter().find(|package| package["name"] == name));
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest = manifest.with_context(|| format!("cargo did not fetch {name}"))?;
    Ok(Path::new(manifest).with_file_name(""))
}
