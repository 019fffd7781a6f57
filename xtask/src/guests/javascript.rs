//! A proxy in JavaScript: the source is embedded in an engine (`QuickJS`) that is compiled already.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Example, component};
use crate::fetch::npm;
use crate::progress::Progress;
use crate::workspace::Workspace;

/// No async ABI.
const OPTION: &str = "--sync";

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
    let (wit, source) = (
        workspace.path("wit"),
        folder.join(name).with_extension("js"),
    );
    let stamp = example
        .stamp(workspace, component)?
        .on((OPTION, world))
        .on_path(&wit)?
        .on_path(&folder.join("package-lock.json"))?
        .on_path(&folder.join("proxy.js"))?
        .on_path(&source)?;
    if stamp.is_current() {
        return Ok(());
    }
    let toolchain = workspace.target("toolchains/javascript");
    let programs = npm::install(workspace, progress, folder, &toolchain)?;
    progress.step(&format!("{name} in JavaScript"), |step| {
        step.run(
            Command::new(programs.join("componentize-qjs"))
                .args(["--world", world])
                .arg(OPTION)
                .arg("--wit")
                .arg(wit)
                .arg("--js")
                .arg(source)
                .arg("--output")
                .arg(component),
        )?;
        component::check_interpreted(component)?;
        component::package(component, &example.project)
    })?;
    stamp.set()
}
