//! A proxy in `AssemblyScript`: a project as `acp-chain new` begins it, with the example's own files in it.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_author::Language;
use acp_chain_author::component::Imports;
use acp_chain_author::languages::assemblyscript;
use anyhow::{Context, Result};

use super::{Example, package};
use crate::fetch::npm;
use crate::progress::Progress;
use crate::workspace::Workspace;

/// The one that there is.
pub const EXAMPLE: &str = "quiet-thoughts";

/// Installs the compiler. Returns the folder with it.
pub fn install(workspace: &Workspace, progress: &Progress) -> Result<PathBuf> {
    let locked_in = workspace.path("tests/toolchains/assemblyscript");
    let into = workspace.target("toolchains/assemblyscript");
    npm::install(workspace, progress, &locked_in, &into)
}

pub fn build(
    workspace: &Workspace,
    progress: &Progress,
    example: &Example,
    component: &Path,
) -> Result<()> {
    let Example { name, folder, .. } = example;
    // What a project has that is not in the example.
    let begun = [
        "author/sdk/assemblyscript",
        "author/templates",
        "wit/proxy.wit",
    ];
    let mut stamp = example
        .stamp(workspace, component)?
        .on_path(&workspace.path("author/src"))?
        .on_path(&workspace.path("tests/toolchains/assemblyscript"))?;
    for path in begun {
        stamp = stamp.on_path(&workspace.path(path))?;
    }
    let own = ["package.json", "assembly/proxy.ts", "wit/world.wit"];
    for path in own {
        stamp = stamp.on_path(&folder.join(path))?;
    }
    if stamp.is_current() {
        return Ok(());
    }
    let programs = install(workspace, progress)?;
    progress.step(&format!("{name} in AssemblyScript"), |_| {
        let project = workspace.target("xtask/assemblyscript").join(name);
        if project.exists() {
            fs::remove_dir_all(&project)?;
        }
        let language = Language::named("assemblyscript").context("there is such a language")?;
        acp_chain_author::new(language, "prompt", name, &project)?;
        for path in own {
            fs::copy(folder.join(path), project.join(path))?;
        }
        let made = assemblyscript::compile(&programs.join("asc"), &project)?;
        fs::write(component, made)?;
        package(component, Imports::Channel, &example.project)
    })?;
    stamp.set()
}
