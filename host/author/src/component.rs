//! Turns core modules into components, and checks the requirements for all components.

use std::path::Path;

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_bindgen_core::wit_parser::{
    ParseError, Resolve, ResolveError, WorldId, WorldItem, WorldKey,
};
use wit_component::{ComponentEncoder, DecodedWasm, StringEncoding, embed_component_metadata};

use crate::Error;

/// The interface between acp-chain and a proxy.
pub const WIT: &str = include_str!("../../../wit/proxy.wit");

/// The prefix of the channel's interfaces.
pub(crate) const OURS: &str = "acp-chain:proxy/";

/// What the SDK for Rust reads the time of day from.
const CLOCK: &str = "wasi:clocks/wall-clock@";

/// The required export.
const HANDLER: &str = "acp-chain:proxy/handler@";

/// The allowed imports of a component besides the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imports {
    /// The time of day.
    Channel,
    /// WASI, for an interpreter's clock and output; it grants nothing else.
    Wasi,
}

/// The version of the interface.
///
/// # Panics
/// If our own file has none.
pub fn version() -> &'static str {
    let mut lines = WIT.lines();
    let version = lines.find_map(|line| {
        line.strip_prefix("package acp-chain:proxy@")?
            .strip_suffix(';')
    });
    version.expect("the interface has a version")
}

/// Creates a component from a core module with an embedded WIT world, as every wit-bindgen produces.
pub fn encode(module: &[u8]) -> Result<Vec<u8>, Error> {
    let encoded = ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|encoder| {
            encoder.adapter(
                WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
                WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
            )
        })
        .and_then(|mut encoder| encoder.encode());
    encoded.map_err(|error| Error::component(format_args!("{error:#}")))
}

/// Embeds the world of a WIT folder in a core module, for languages whose wit-bindgen does not do that.
pub(crate) fn embed(mut module: Vec<u8>, wit: &Path, world: &str) -> Result<Vec<u8>, Error> {
    let (resolve, world) = read(wit, Some(world))?;
    let embedded = embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8);
    embedded.map_err(|error| Error::component(format_args!("{error:#}")))?;
    Ok(module)
}

/// Rejects a component that imports too much, has no handler, or has another version of the interface.
pub fn check(component: &[u8], imports: Imports) -> Result<(), Error> {
    let wrong = |wrong: String| Err(Error::component(wrong));
    let (resolve, world) = match wit_component::decode(component) {
        Ok(DecodedWasm::Component(resolve, world)) => (resolve, world),
        Ok(DecodedWasm::WitPackage(..)) => return wrong("it is an interface".to_owned()),
        Err(error) => return wrong(format!("{error:#}")),
    };
    let given: &[&str] = match imports {
        Imports::Channel => &[OURS, CLOCK],
        Imports::Wasi => &[OURS, "wasi:"],
    };
    let world = &resolve.worlds[world];
    let imports = interfaces(&resolve, &world.imports);
    let is_given = |name: &&String| given.iter().any(|given| name.starts_with(given));
    if let Some(more) = imports.iter().find(|name| !is_given(name)) {
        let given = given.join(" and ");
        return wrong(format!(
            "it imports {more}; it may import {given}, and nothing else"
        ));
    }
    let exports = interfaces(&resolve, &world.exports);
    let own = version();
    match exports.iter().find_map(|name| name.strip_prefix(HANDLER)) {
        Some(version) if version == own => Ok(()),
        Some(version) => wrong(format!(
            "it is made for version {version} of the interface acp-chain:proxy, and this is version {own}; take \
             its SDK and its interface (`acp-chain sdk`)"
        )),
        None => wrong(format!(
            "it does not export {HANDLER}{own}, only {exports:?}"
        )),
    }
}

/// The name of the world in a project's WIT.
pub fn world(wit: &Path) -> Result<String, Error> {
    let (resolve, world) = read(wit, None)?;
    Ok(resolve.worlds[world].name.clone())
}

/// Our interfaces that a project's world exports, such as `handler` and `tools`.
pub(crate) fn exports(wit: &Path) -> Result<Vec<String>, Error> {
    let (resolve, world) = read(wit, None)?;
    let all = interfaces(&resolve, &resolve.worlds[world].exports);
    let ours = all.iter().filter_map(|name| name.strip_prefix(OURS));
    let names = ours.map(|name| name.split('@').next().unwrap_or(name).to_owned());
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    Ok(names)
}

/// The functions that a project's world exports of our interfaces, each with the full name of its interface.
pub(crate) fn exported(wit: &Path) -> Result<Vec<(String, String)>, Error> {
    let (resolve, world) = read(wit, None)?;
    let mut functions = Vec::new();
    for item in resolve.worlds[world].exports.values() {
        if let WorldItem::Interface { id, .. } = item
            && let Some(name) = resolve.id_of(*id)
            && name.starts_with(OURS)
        {
            let all = resolve.interfaces[*id].functions.keys();
            functions.extend(all.map(|function| (name.clone(), function.clone())));
        }
    }
    Ok(functions)
}

/// Reads a folder with WIT, and finds the world of this name in it, or its only one.
pub(crate) fn read(wit: &Path, world: Option<&str>) -> Result<(Resolve, WorldId), Error> {
    let mut resolve = Resolve::default();
    let pushed = resolve.push_dir(wit);
    let (package, _) = pushed.map_err(|error| match place(&resolve, error.chain()) {
        Some(place) => Error::at(Path::new(&place), error.root_cause()),
        None => Error::at(wit, format_args!("{error:#}")),
    })?;
    let world = resolve.select_world(&[package], world);
    let world = world.map_err(|error| Error::at(wit, error))?;
    Ok((resolve, world))
}

/// The file, line and column of an error.
fn place<'e>(
    resolve: &Resolve,
    mut layers: impl Iterator<Item = &'e (dyn std::error::Error + 'static)>,
) -> Option<String> {
    let of_layer = |layer: &(dyn std::error::Error + 'static)| {
        let parsed = layer.downcast_ref::<ParseError>();
        let resolved = layer.downcast_ref::<ResolveError>();
        let span = parsed.map(|error| error.kind().span());
        span.or_else(|| Some(resolved?.kind().span()))
    };
    let span = layers.find_map(of_layer)?;
    span.is_known().then(|| resolve.render_location(span))
}

/// The names of the interfaces among what a world imports, or exports.
pub(crate) fn interfaces<'w>(
    resolve: &Resolve,
    items: impl IntoIterator<Item = (&'w WorldKey, &'w WorldItem)>,
) -> Vec<String> {
    let items = items.into_iter().map(|(key, item)| match item {
        WorldItem::Interface { id, .. } => resolve
            .id_of(*id)
            .unwrap_or_else(|| resolve.name_world_key(key)),
        _ => resolve.name_world_key(key),
    });
    items.collect()
}
