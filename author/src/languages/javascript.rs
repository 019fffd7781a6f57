//! JavaScript, which is embedded in an engine (`QuickJS`) that is compiled already, and TypeScript, which is
//! JavaScript after `tsc`.

use std::fs;
use std::path::Path;
use std::process::Command;

use semver::Version;

use super::{Files, Language, Site, add_wit};
use crate::Error;
use crate::component::Imports;
use crate::toolchain::{Origin, Says, Tool, run};

const RESERVED: &str = "\
    arguments await break case catch class const continue debugger default delete do else enum eval \
    export extends false finally for function if implements import in instanceof interface let new null \
    package private protected public return static super switch this throw true try typeof var void \
    while with yield componentize_qjs node_modules typescript";

pub(super) static JAVASCRIPT: Language = Language {
    name: "js",
    title: "JavaScript",
    manifest: "package.json",
    entry: "src/proxy.js",
    reserved: RESERVED,
    layers: &["wit", "javascript"],
    sdk,
    imports: Imports::Wasi,
    make: |site| make(site, &site.folder.join("src/proxy.js")),
};

pub(super) static TYPESCRIPT: Language = Language {
    name: "ts",
    title: "TypeScript",
    manifest: "package.json",
    entry: "src/proxy.ts",
    reserved: RESERVED,
    layers: &["wit", "typescript"],
    sdk,
    imports: Imports::Wasi,
    make: |site| {
        let compiled = site.made.join("js");
        run(Command::new(site.tool(&TSC)?)
            .args(["--noEmit", "false", "--rootDir", ".", "--outDir"])
            .arg(&compiled)
            .current_dir(site.folder))?;
        make(site, &compiled.join("src/proxy.js"))
    },
};

const QJS: Tool = Tool {
    names: &["componentize-qjs"],
    version: Says::InPackage,
    lowest: Version::new(0, 4, 5),
    origin: Origin::Npm("componentize-qjs"),
};

const TSC: Tool = Tool {
    names: &["tsc"],
    version: Says::Given("--version"),
    lowest: Version::new(5, 9, 3),
    origin: Origin::Npm("typescript"),
};

fn sdk(files: &mut Files) {
    add_wit(files);
    let frame = include_bytes!("../../../examples/javascript/proxy.js");
    files.insert("sdk/proxy.js".into(), frame.into());
    let types = include_bytes!("../../../examples/javascript/acp-chain.d.ts");
    files.insert("sdk/acp-chain.d.ts".into(), types.into());
}

fn make(site: &Site, source: &Path) -> Result<Vec<u8>, Error> {
    let component = site.made.join("embedded.wasm");
    let (wit, world) = site.wit()?;
    let program = site.tool(&QJS)?;
    run(&mut componentize(
        &program, &wit, &world, source, &component,
    ))?;
    fs::read(&component).map_err(Error::disk(&component))
}

/// Makes a component of a source and what it imports, by componentize-qjs.
#[must_use]
pub fn componentize(
    program: &Path,
    wit: &Path,
    world: &str,
    source: &Path,
    component: &Path,
) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--world", world])
        // No async ABI.
        .arg("--sync")
        .arg("--wit")
        .arg(wit)
        .arg("--js")
        .arg(source)
        .arg("--output")
        .arg(component);
    command
}
