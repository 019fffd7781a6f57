//! A proxy in JavaScript: the source is bundled with the SDK, and embedded in a precompiled engine (`QuickJS`).

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_author::component::Imports;
use acp_chain_author::languages::javascript;
use anyhow::Result;

use super::{Example, package};
use xtask::fetch::npm;
use xtask::workspace::Workspace;

/// Installs the toolchain; returns the folder with its programs.
pub fn toolchain(workspace: &Workspace) -> Result<PathBuf> {
    let packages = workspace.path("tests/examples/javascript");
    let into = workspace.target("toolchains/javascript");
    npm::install(workspace, &packages, &into)
}

pub fn build(workspace: &Workspace, example: &Example, component: &Path) -> Result<()> {
    let (name, world, folder) = (&example.name, &example.world, &example.folder);
    let (wit, sdk) = (
        workspace.path("wit"),
        workspace.path("host/author/sdk/javascript"),
    );
    let source = folder.join(name).with_extension("js");
    let stamp = example
        .stamp(workspace, component)?
        .on(world)
        .on_path(&workspace.path("host/author/src/languages/javascript.rs"))?
        .on_path(&workspace.path("host/author/src/languages/javascript"))?
        .on_path(&wit)?
        .on_path(&folder.join("package-lock.json"))?
        .on_path(&sdk)?
        .on_path(&source)?;
    if stamp.is_current() {
        return Ok(());
    }
    let programs = toolchain(workspace)?;
    workspace.step(&format!("{name} in JavaScript"), |step| {
        let made = workspace.target("xtask/javascript");
        fs::create_dir_all(&made)?;
        let bundle = made.join(name).with_extension("js");
        let program = programs.join("esbuild");
        step.run(&mut javascript::bundle(&program, &source, &sdk, &bundle))?;
        javascript::places::embed(&bundle, &workspace.path(""), &sdk)?;
        let program = programs.join("componentize-qjs");
        let mut build = javascript::componentize(&program, &wit, world, &bundle, component);
        step.run(&mut build)?;
        package(component, Imports::Wasi, &example.project)
    })?;
    stamp.set()
}
