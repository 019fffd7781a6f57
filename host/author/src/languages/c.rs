//! C: bindings from wit-bindgen, compiled by `zig cc`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use include_dir::{Dir, include_dir};

use super::{Language, Site, add_sdk, zig};
use crate::component::{self, Imports};
use crate::toolchain::run;
use crate::{Error, bindings};

pub(super) static C: Language = Language {
    name: "c",
    aliases: &[],
    title: "C",
    manifest: "extension.toml",
    entry: "src/proxy.c",
    reserved: "\
        alignas alignof auto bool break case char const constexpr continue default do double else enum \
        extern false float for goto if inline int long main nullptr register restrict return short \
        signed sizeof static struct switch true typedef typeof union unsigned void volatile while",
    layers: &["wit", "c"],
    sdk: |files| add_sdk(files, "sdk", &SDK),
    tools: &[&zig::COMPILER],
    imports: Imports::Channel,
    has_drafts: false,
    make,
};

static SDK: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/c");

/// The name of every world in the bindings, so that all sources include the same header.
const WORLD: &str = "proxy";

const OPTIONS: &str = "\
    -target wasm32-wasi -mexec-model=reactor -Os -Wall -Wextra -Wno-unused-parameter -Wl,-z,stack-size=65536";

fn make(site: &Site) -> Result<Vec<u8>, Error> {
    let (wit, world) = site.wit()?;
    let zig = site.tool(&zig::COMPILER)?;
    let (headers, module) = (site.made.join("bindings"), site.made.join("_module.wasm"));
    let mut sources = bindings(&wit, &world, &headers)?;
    let sdk = site.folder.join("sdk");
    for folder in [&site.folder.join("src"), &sdk] {
        sources.extend(all_in(folder, "c")?);
    }
    let mut cc = Command::new(zig);
    cc.arg("cc");
    run(compile(&mut cc, &[&headers, &sdk], &sources, &module))?;
    let module = fs::read(&module).map_err(Error::disk(&module))?;
    component::encode(&module)
}

/// The sources with this file extension in a folder, in a fixed order.
pub(super) fn all_in(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::disk(folder))?;
    let entries = entries.map(|entry| Ok(entry.map_err(Error::disk(folder))?.path()));
    let mut all: Vec<PathBuf> = entries.collect::<Result<_, Error>>()?;
    all.retain(|path| path.extension().is_some_and(|its| its == extension));
    all.sort();
    Ok(all)
}

/// Compiles sources into a core module.
pub fn compile<'c>(
    cc: &'c mut Command,
    headers: &[&Path],
    sources: &[PathBuf],
    module: &Path,
) -> &'c mut Command {
    cc.args(OPTIONS.split(' '));
    for folder in headers {
        cc.arg("-I").arg(folder);
    }
    cc.args(sources).arg("-o").arg(module)
}

/// Generates the bindings of a world; returns the files to compile or link. For each export of the world there is a
/// macro, such as `EXPORTS_TOOLS`.
pub fn bindings(wit: &Path, world: &str, into: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut exports = String::new();
    let mut sources = bindings::generate(wit, world, into, |resolve, world| {
        let world = &resolve.worlds[world];
        let all = [&world.imports, &world.exports];
        let all = all.map(|items| component::interfaces(resolve, items));
        for name in all[1].iter().filter_map(|name| short(name)) {
            let _ = writeln!(exports, "#define EXPORTS_{}", name.to_uppercase());
        }
        let all = all.into_iter().flatten();
        let options = wit_bindgen_c::Opts {
            rename: all
                .filter_map(|name| Some((name.clone(), short(&name)?)))
                .collect(),
            rename_world: Some(WORLD.into()),
            ..wit_bindgen_c::Opts::default()
        };
        options.build()
    })?;
    for header in sources.iter().filter(|file| file.ends_with("proxy.h")) {
        let made = fs::read_to_string(header).map_err(Error::disk(header))?;
        fs::write(header, exports.clone() + &made).map_err(Error::disk(header))?;
    }
    sources.retain(|file| file.extension().is_some_and(|extension| extension != "h"));
    Ok(sources)
}

/// A short name for one of our interfaces, instead of `acp_chain_proxy_types_…`.
fn short(interface: &str) -> Option<String> {
    let (name, _version) = interface
        .strip_prefix("acp-chain:proxy/")?
        .split_once('@')?;
    Some(match name {
        "types" => "acp".to_owned(),
        name => name.to_owned(),
    })
}
