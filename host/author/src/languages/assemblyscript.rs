//! `AssemblyScript`: compiled by `asc`. The compiled exports have valid names of the language, which are replaced with
//! the interface's names here.

mod lines;
mod module;

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use include_dir::{Dir, include_dir};
use semver::Version;

use super::{BUILD, Language, Site, add_sdk};
use crate::Error;
use crate::component::{self, Imports};
use crate::toolchain::{Origin, Tool, VersionSource, run};

static SDK: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/assemblyscript");

pub(super) static ASSEMBLYSCRIPT: Language = Language {
    name: "assemblyscript",
    aliases: &["as"],
    title: "AssemblyScript",
    manifest: "package.json",
    entry: "assembly/proxy.ts",
    reserved: "\
        abstract as async await break case catch class const constructor continue debugger declare default \
        delete do else enum export extends false finally for from function get if implements import in \
        instanceof interface is keyof let module namespace new null of override package private protected \
        public readonly return set static super switch this throw true try type typeof var void while with \
        yield asc assembly assemblyscript node_modules",
    layers: &["wit", "assemblyscript"],
    sdk: |files| add_sdk(files, "sdk", &SDK),
    tools: &[&ASC],
    imports: Imports::Channel,
    has_drafts: false,
    make,
};

const ASC: Tool = Tool {
    names: &["asc"],
    version: VersionSource::Given("--version"),
    lowest: Version::new(0, 28, 20),
    origin: Origin::Npm("assemblyscript"),
};

fn make(site: &Site) -> Result<Vec<u8>, Error> {
    let (asc, folder) = (site.tool(&ASC)?, site.folder);
    let wit = folder.join("wit");
    let (world, functions) = (component::world(&wit)?, component::exported(&wit)?);
    // `asc` accepts no absolute paths.
    let (main, module) = ("build/main.ts", "build/_module.wasm");
    let (file, made) = (folder.join(main), folder.join(BUILD));
    fs::create_dir_all(&made).map_err(Error::disk(&made))?;
    fs::write(&file, exports(&functions)).map_err(Error::disk(&file))?;
    run(Command::new(asc)
        .args([main, "--outFile", module])
        // The collector finds all live objects, and frees the others incrementally.
        .args(["--runtime", "incremental"])
        .args(["--use", "abort=sdk/abort/abort"])
        // Initialization code may use the channel.
        .args(["--exportStart", "_initialize"])
        .args(["--optimize", "--debug", "--sourceMap"])
        .current_dir(folder))?;
    let module = folder.join(module);
    let map = module.with_added_extension("map");
    let made = fs::read(&module).map_err(Error::disk(&module))?;
    let map = fs::read(&map).map_err(Error::disk(&map))?;
    let module = module::finish(&made, &map, &functions)?;
    component::encode(&component::embed(module, &wit, &world)?)
}

/// The entry source for `asc`, with the exports of the world.
fn exports(functions: &[(String, String)]) -> String {
    let mut text = "\
        // Written by `acp-chain build`.\n\
        import \"../sdk/abort\";\n\
        export { cabi_post, cabi_realloc } from \"../sdk/abi\";\n"
        .to_owned();
    for (interface, function) in functions {
        let name = identifier(interface, function);
        let _ = writeln!(text, "export {{ {name} }} from \"../sdk/exports\";");
    }
    text
}

/// The exported name of an interface's function, as in `handler$on_request`.
fn identifier(interface: &str, function: &str) -> String {
    let short = interface.rsplit('/').next().unwrap_or(interface);
    let short = short.split('@').next().unwrap_or(short);
    format!("{short}${function}").replace('-', "_")
}
