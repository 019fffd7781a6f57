//! A proxy in C: bindings from wit-bindgen, compiled by `zig cc`.

use std::path::Path;

use acp_chain_author::component::Imports;
use acp_chain_author::languages::c;
use anyhow::Result;

use super::{Example, encode, package};
use xtask::fetch::zig;
use xtask::workspace::Workspace;

pub fn build(workspace: &Workspace, example: &Example, component: &Path) -> Result<()> {
    let (name, world, folder) = (&example.name, &example.world, &example.folder);
    let (wit, requirements) = (workspace.path("wit"), zig::requirements(workspace));
    let sdk = workspace.path("host/author/sdk/c");
    let sources = [folder.join(name).with_extension("c"), sdk.join("json.c")];
    let stamp = example
        .stamp(workspace, component)?
        .on(world)
        .on_path(&workspace.path("host/author/src/languages/c.rs"))?
        .on_path(&wit)?
        .on_path(&requirements)?
        .on_path(&sdk)?
        .on_path(&sources[0])?;
    if stamp.is_current() {
        return Ok(());
    }
    let zig = zig::install(workspace)?;
    workspace.step(&format!("{name} in C"), |step| {
        let made = workspace.target("xtask/c").join(name);
        let mut all = c::bindings(&wit, world, &made)?;
        all.splice(0..0, sources);
        let module = made.join(name).with_extension("wasm");
        step.run(c::compile(&mut zig.cc(), &[&made, &sdk], &all, &module))?;
        encode(&module, component)?;
        package(component, Imports::Channel, &example.project)
    })?;
    stamp.set()
}
