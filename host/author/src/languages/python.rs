//! Python: a snapshot of `CPython` with the source and its imports loaded.

use std::fs;
use std::path::Path;
use std::process::Command;

use include_dir::{Dir, include_dir};
use semver::Version;

use super::{Language, Site, add_sdk};
use crate::Error;
use crate::component::Imports;
use crate::toolchain::{Origin, Tool, VersionSource, run};

pub(super) static PYTHON: Language = Language {
    name: "python",
    aliases: &[],
    title: "Python",
    manifest: "pyproject.toml",
    entry: "src/proxy.py",
    reserved: "\
        and as assert async await break case class continue def del elif else except finally for from \
        global if import in is lambda match nonlocal not or pass raise return try type while with yield \
        acp_chain componentize_py componentize_py_types wit_world",
    layers: &["wit", "python"],
    sdk: |files| add_sdk(files, "sdk/acp_chain", &SDK),
    tools: &[&COMPONENTIZE],
    imports: Imports::Wasi,
    has_drafts: false,
    make,
};

const COMPONENTIZE: Tool = Tool {
    names: &["componentize-py"],
    version: VersionSource::Given("--version"),
    lowest: Version::new(0, 25, 1),
    origin: Origin::Pip("componentize-py"),
};

static SDK: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/python/acp_chain");

/// The module whose classes are exported.
const MODULE: &str = "proxy";

fn make(site: &Site) -> Result<Vec<u8>, Error> {
    let (wit, world) = site.wit()?;
    let program = site.tool(&COMPONENTIZE)?;
    bindings(&program, &wit, &world, &site.made.join("bindings"))?;
    let component = site.made.join("_embedded.wasm");
    let paths = [site.folder.join("src"), site.folder.join("sdk")];
    let paths = paths.each_ref().map(|path| &**path);
    run(&mut componentize(
        &program, &wit, &world, MODULE, &paths, &component,
    ))?;
    fs::read(&component).map_err(Error::disk(&component))
}

/// The types of the interface, for editors: components do not need them.
fn bindings(program: &Path, wit: &Path, world: &str, into: &Path) -> Result<(), Error> {
    if into.exists() {
        fs::remove_dir_all(into).map_err(Error::disk(into))?;
    }
    run(Command::new(program)
        .arg("--wit-path")
        .arg(wit)
        .args(["--world", world, "bindings"])
        .arg(into))
}

/// Builds a component from a module and its imports, with componentize-py. `folders` are searched for modules.
pub fn componentize(
    program: &Path,
    wit: &Path,
    world: &str,
    module: &str,
    folders: &[&Path],
    component: &Path,
) -> Command {
    let mut command = Command::new(program);
    command
        // Authors should see Python's traceback, not the toolchain's.
        .env("RUST_BACKTRACE", "0")
        .arg("--wit-path")
        .arg(wit)
        .args(["--world", world])
        .args(["componentize", module]);
    for folder in folders {
        command.arg("--python-path").arg(folder);
    }
    command.arg("--output").arg(component);
    command
}
