//! Core modules into components, and what every component has to look like.

use std::fs;
use std::path::Path;

use acp_chain_package::Project;
use anyhow::{Context, Result, bail, ensure};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_bindgen_core::wit_parser::{Resolve, WorldId, WorldItem};
use wit_component::{ComponentEncoder, DecodedWasm};

/// Turns a core module that carries its WIT world, as every wit-bindgen embeds it, into a
/// component.
pub fn encode(module: &Path, component: &Path) -> Result<()> {
    let module = fs::read(module).with_context(|| format!("{} is missing", module.display()))?;
    let bytes = ComponentEncoder::default()
        .validate(true)
        .module(&module)?
        .adapter(
            WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
            WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
        )?
        .encode()?;
    fs::write(component, bytes)?;
    Ok(())
}

/// Writes into a component what the project at `path` says of it.
pub fn package(component: &Path, path: &Path) -> Result<()> {
    let project = Project::read(path)?;
    let written = project.package.write(&fs::read(component)?);
    let written = written.with_context(|| format!("{}", project.file.display()))?;
    fs::write(component, written)?;
    Ok(())
}

/// Refuses a component that imports more than the channel, or has no handler.
pub fn check(component: &Path) -> Result<()> {
    check_with(component, &[CHANNEL])
}

/// The same of one with an interpreter, whose clock and whose output are those of WASI: nothing is to be
/// had by it.
pub fn check_interpreted(component: &Path) -> Result<()> {
    check_with(component, &[CHANNEL, "wasi:"])
}

/// What the interfaces of the channel begin with.
const CHANNEL: &str = "acp-chain:proxy/";

fn check_with(component: &Path, given: &[&str]) -> Result<()> {
    let (resolve, world) = match wit_component::decode(&fs::read(component)?)? {
        DecodedWasm::Component(resolve, world) => (resolve, world),
        DecodedWasm::WitPackage(..) => bail!("{} is no component", component.display()),
    };
    let imports = interfaces(&resolve, world, true);
    let is_given = |name: &&String| given.iter().any(|given| name.starts_with(given));
    let more = imports.iter().find(|name| !is_given(name));
    ensure!(
        more.is_none(),
        "{} imports {}: it may import {}, and nothing else",
        component.display(),
        more.map_or("", |name| name),
        given.join(" and ")
    );
    let exports = interfaces(&resolve, world, false);
    ensure!(
        exports
            .iter()
            .any(|name| name.starts_with("acp-chain:proxy/handler@")),
        "{} does not export acp-chain:proxy/handler, only {exports:?}",
        component.display()
    );
    Ok(())
}

fn interfaces(resolve: &Resolve, world: WorldId, imports: bool) -> Vec<String> {
    let world = &resolve.worlds[world];
    let items = if imports {
        &world.imports
    } else {
        &world.exports
    };
    items
        .iter()
        .map(|(key, item)| match item {
            WorldItem::Interface { id, .. } => resolve
                .id_of(*id)
                .unwrap_or_else(|| resolve.name_world_key(key)),
            _ => resolve.name_world_key(key),
        })
        .collect()
}
