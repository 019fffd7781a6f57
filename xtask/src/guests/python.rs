//! A proxy in Python: a whole `CPython` with the source and its imports, already loaded.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Example, component};
use crate::fetch::python;
use crate::progress::Progress;
use crate::workspace::Workspace;

pub fn build(
    workspace: &Workspace,
    progress: &Progress,
    example: &Example,
    component: &Path,
) -> Result<()> {
    let Example {
        name,
        world,
        folder,
        ..
    } = example;
    let (wit, requirements) = (workspace.path("wit"), folder.join("requirements.txt"));
    let source = folder.join(name).with_extension("py");
    let stamp = example
        .stamp(workspace, component)?
        .on(world)
        .on_path(&wit)?
        .on_path(&requirements)?
        .on_path(&source)?;
    if stamp.is_current() {
        return Ok(());
    }
    let toolchain = workspace.target("toolchains/python");
    let programs = python::install(workspace, progress, &requirements, &toolchain)?;
    progress.step(&format!("{name} in Python"), |step| {
        // From a copy: compiled Python is left beside the source.
        let copy = workspace.target("xtask/python").join(name);
        fs::create_dir_all(&copy)?;
        fs::copy(&source, copy.join(name).with_extension("py"))?;
        step.run(
            Command::new(programs.join("componentize-py"))
                .arg("--wit-path")
                .arg(wit)
                .args(["--world", world])
                .args(["componentize", name])
                .arg("--python-path")
                .arg(&copy)
                .arg("--output")
                .arg(component),
        )?;
        component::check_interpreted(component)?;
        component::package(component, &example.project)
    })?;
    stamp.set()
}
