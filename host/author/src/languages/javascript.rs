//! JavaScript and TypeScript: esbuild bundles the sources of a project, its SDK and its packages into one, which is
//! embedded in a precompiled engine (`QuickJS`).
//!
//! The engine does not settle promises, so `async` and `await` are compiled to the SDK's promises; it supports
//! everything else.

pub mod places;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use include_dir::{Dir, include_dir};
use semver::Version;
use serde_json::Value;

use super::{Language, Site, add_sdk};
use crate::component::{self, Imports};
use crate::toolchain::{Origin, Tool, VersionSource, run};
use crate::{Error, Purpose};

static SDK: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/javascript");

pub(super) static JAVASCRIPT: Language = PLAIN;

const PLAIN: Language = Language {
    name: "js",
    aliases: &["javascript"],
    title: "JavaScript",
    manifest: "package.json",
    entry: "src/proxy.js",
    reserved: "\
        arguments await break case catch class const continue debugger default delete do else enum eval export \
        extends false finally for function if implements import in instanceof interface let new null package private \
        protected public return static super switch this throw true try typeof var void while with yield \
        componentize_qjs esbuild node_modules typescript",
    layers: &["wit", "javascript"],
    sdk: |files| add_sdk(files, "sdk", &SDK),
    tools: &[&ESBUILD, &QJS],
    imports: Imports::Wasi,
    has_drafts: true,
    make: |site| make(site, "src/proxy.js"),
};

pub(super) static TYPESCRIPT: Language = Language {
    name: "ts",
    aliases: &["typescript"],
    title: "TypeScript",
    entry: "src/proxy.ts",
    layers: &["wit", "typescript"],
    make: |site| make(site, "src/proxy.ts"),
    ..PLAIN
};

const ESBUILD: Tool = Tool {
    names: &["esbuild"],
    version: VersionSource::Given("--version"),
    lowest: Version::new(0, 28, 2),
    origin: Origin::Npm("esbuild"),
};

const QJS: Tool = Tool {
    names: &["componentize-qjs"],
    version: VersionSource::InPackage,
    lowest: Version::new(0, 4, 5),
    origin: Origin::Npm("componentize-qjs"),
};

fn make(site: &Site, source: &'static str) -> Result<Vec<u8>, Error> {
    let (bundled, component) = (
        site.made.join("bundle.js"),
        site.made.join("_embedded.wasm"),
    );
    let (wit, world) = site.wit()?;
    let (esbuild, qjs) = (site.tool(&ESBUILD)?, site.tool(&QJS)?);
    let sdk = site.folder.join("sdk");
    run(bundle(&esbuild, Path::new(source), &sdk, &bundled).current_dir(site.folder))?;
    check_exports(site, source, &bundled)?;
    places::embed(&bundled, site.folder, &sdk)?;
    let mut componentize = componentize(&qjs, &wit, &world, &bundled, &component);
    if site.purpose == Purpose::Draft {
        // The engine is a third smaller, so it compiles faster, here and in the host; a message takes two fifths
        // longer.
        componentize.arg("--opt-size");
    }
    run(&mut componentize)?;
    fs::read(&component).map_err(Error::disk(&component))
}

/// Bundles a source and its imports with esbuild, with a source map beside the result.
pub fn bundle(program: &Path, source: &Path, sdk: &Path, into: &Path) -> Command {
    let with = |option: &str, path: &Path| {
        let mut option = OsString::from(option);
        option.push(path);
        option
    };
    let mut command = Command::new(program);
    command
        .arg(source)
        .args(["--bundle", "--format=esm", "--log-level=warning"])
        // The features of the engine, except for those that need its own promises.
        .args(["--target=es2023", "--supported:async-await=false"])
        .arg("--supported:async-generator=false")
        .arg("--supported:for-await=false")
        .args(["--platform=neutral", "--main-fields=module,main"])
        .arg("--define:process.env.NODE_ENV=\"production\"")
        .arg("--external:acp-chain:*")
        .arg(with("--inject:", &sdk.join("engine.js")))
        .args(["--charset=utf8", "--sourcemap=external"])
        .arg("--sources-content=false")
        .arg(with("--metafile=", &metafile(into)))
        .arg(with("--outfile=", into));
    command
}

fn metafile(bundle: &Path) -> PathBuf {
    bundle.with_extension("json")
}

fn read_json(file: &Path) -> Result<Value, Error> {
    let text = fs::read(file).map_err(Error::disk(file))?;
    serde_json::from_slice(&text).map_err(|error| Error::disk(file)(error.into()))
}

/// Rejects a source whose exports do not match its world: calling a missing one would trap, and an extra one would
/// never be called.
fn check_exports(site: &Site, source: &'static str, bundle: &Path) -> Result<(), Error> {
    let meta = read_json(&metafile(bundle))?;
    let outputs = meta["outputs"].as_object();
    let exports =
        outputs.and_then(|all| all.values().find_map(|output| output["exports"].as_array()));
    let exports: Vec<_> = exports
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let world = component::exports(&site.folder.join("wit"))?;
    let wrong = |wrong: String| Err(Error::at(Path::new(source), wrong));
    if let Some(name) = world.iter().find(|name| !exports.contains(&&***name)) {
        return wrong(format!(
            "it does not export `{name}`, which the world in wit/world.wit has: `export const {{ {} }} = proxy`",
            world.join(", ")
        ));
    }
    let more = [
        ("tools", "tool-proxy"),
        ("resources", "resource-proxy"),
        ("prompts", "prompt-proxy"),
        ("completion", "completion-proxy"),
    ];
    let is_more =
        |(name, _): &(&str, &str)| exports.contains(name) && !world.iter().any(|one| one == name);
    match more.into_iter().find(is_more) {
        Some((name, part)) => wrong(format!(
            "it exports `{name}`, and the world in wit/world.wit does not: write `include acp-chain:proxy/{part}@{};` \
             into it",
            component::version()
        )),
        None => Ok(()),
    }
}

/// Builds a component from a source and its imports, with componentize-qjs.
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
        // Without the async ABI.
        .arg("--sync")
        .arg("--wit")
        .arg(wit)
        .arg("--js")
        .arg(source)
        .arg("--output")
        .arg(component);
    command
}
