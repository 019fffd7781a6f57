//! A proxy in C: bindings from wit-bindgen, compiled by `zig cc`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use wit_bindgen_core::{Files, wit_parser::Resolve};

use super::{Example, component};
use crate::fetch::zig;
use crate::progress::Progress;
use crate::workspace::Workspace;

/// Short names for the WIT interfaces, in place of `acp_chain_proxy_types_…`.
const NAMES: [(&str, &str); 4] = [
    ("acp-chain:proxy/types@0.1.0", "acp"),
    ("acp-chain:proxy/channel@0.1.0", "channel"),
    ("acp-chain:proxy/handler@0.1.0", "handler"),
    ("acp-chain:proxy/tools@0.1.0", "tools"),
];

/// What every world is called there, so that all sources include the same header.
const WORLD: &str = "proxy";

const OPTIONS: [&str; 8] = [
    "-target",
    "wasm32-wasi",
    "-mexec-model=reactor",
    "-Os",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Wl,-z,stack-size=65536",
];

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
    let (wit, requirements) = (workspace.path("wit"), zig::requirements(workspace));
    let sources = [folder.join(name).with_extension("c"), folder.join("json.c")];
    let stamp = example
        .stamp(workspace, component)?
        .on((NAMES, WORLD, OPTIONS, world))
        .on_path(&wit)?
        .on_path(&requirements)?
        .on_path(&folder.join("json.h"))?
        .on_path(&sources[0])?
        .on_path(&sources[1])?;
    if stamp.is_current() {
        return Ok(());
    }
    let zig = zig::install(workspace, progress)?;
    progress.step(&format!("{name} in C"), |step| {
        let made = workspace.target("xtask/c").join(name);
        let generated = bindings(&wit, world, &made)?;
        let module = made.join(name).with_extension("wasm");
        step.run(
            zig.cc()
                .args(OPTIONS)
                .arg("-I")
                .arg(&made)
                .args(sources)
                .args(generated)
                .arg("-o")
                .arg(&module),
        )?;
        component::encode(&module, component)?;
        component::check(component)?;
        component::package(component, &example.project)
    })?;
    stamp.set()
}

/// Generates the bindings; returns what has to be compiled or linked.
fn bindings(wit: &Path, world: &str, into: &Path) -> Result<Vec<PathBuf>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(wit)?;
    let world = resolve.select_world(&[package], Some(world))?;
    let mut files = Files::default();
    let options = wit_bindgen_c::Opts {
        rename: NAMES.map(|(from, to)| (from.into(), to.into())).into(),
        rename_world: Some(WORLD.into()),
        ..wit_bindgen_c::Opts::default()
    };
    options.build().generate(&mut resolve, world, &mut files)?;

    fs::create_dir_all(into)?;
    let mut sources = Vec::new();
    for (name, content) in files.iter() {
        let file = into.join(name);
        fs::write(&file, content)?;
        if file.extension().is_some_and(|extension| extension != "h") {
            sources.push(file);
        }
    }
    Ok(sources)
}
