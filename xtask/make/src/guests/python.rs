//! A proxy in Python: a whole `CPython` with the source and its imports, already loaded.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_author::component::Imports;
use acp_chain_author::languages::python as author;
use anyhow::Result;

use super::{Example, package};
use xtask::fetch::python;
use xtask::workspace::Workspace;

const REQUIREMENTS: &str = "tests/examples/python/requirements.txt";

/// Installs the toolchain; returns the folder with its programs.
pub fn toolchain(workspace: &Workspace) -> Result<PathBuf> {
    let requirements = workspace.path(REQUIREMENTS);
    let into = workspace.target("toolchains/python");
    python::install(workspace, &requirements, &into)
}

pub fn build(workspace: &Workspace, example: &Example, component: &Path) -> Result<()> {
    let (name, world, folder) = (&example.name, &example.world, &example.folder);
    let (wit, requirements) = (workspace.path("wit"), workspace.path(REQUIREMENTS));
    let source = folder.join(name).with_extension("py");
    let sdk = workspace.path("host/author/sdk/python/acp_chain");
    let stamp = example
        .stamp(workspace, component)?
        .on(world)
        .on_path(&workspace.path("host/author/src/languages/python.rs"))?
        .on_path(&wit)?
        .on_path(&requirements)?
        .on_path(&sdk)?
        .on_path(&source)?;
    if stamp.is_current() {
        return Ok(());
    }
    let programs = toolchain(workspace)?;
    workspace.step(&format!("{name} in Python"), |step| {
        // From a copy, as compiled Python is left beside the source.
        let copy = workspace.target("xtask/python").join(name);
        fs::create_dir_all(copy.join("acp_chain"))?;
        fs::copy(&source, copy.join(name).with_extension("py"))?;
        for file in fs::read_dir(&sdk)? {
            let file = file?;
            if file.file_type()?.is_file() {
                fs::copy(file.path(), copy.join("acp_chain").join(file.file_name()))?;
            }
        }
        let program = programs.join("componentize-py");
        let mut build = author::componentize(&program, &wit, world, name, &[&copy], component);
        step.run(&mut build)?;
        package(component, Imports::Wasi, &example.project)
    })?;
    stamp.set()
}
