//! Rust: a crate that cargo builds for WebAssembly.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, str};

use include_dir::{Dir, include_dir};
use semver::Version;
use serde_json::Value;

use super::{Files, Language, Site, add};
use crate::Error;
use crate::component::{self, Imports, WIT};
use crate::toolchain::{Origin, Tool, VersionSource, run, without_installing};

pub(super) static RUST: Language = Language {
    name: "rust",
    aliases: &[],
    title: "Rust",
    manifest: "Cargo.toml",
    entry: "Cargo.toml",
    reserved: "\
        abstract as async await become box break const continue crate do dyn else enum extern false \
        final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self \
        static struct super trait true try type typeof unsafe unsized use virtual where while yield \
        alloc core proc_macro std test acp_chain_acp acp_chain_bindings acp_chain_powers acp_chain_proxy schemars serde serde_json",
    layers: &["rust"],
    sdk,
    tools: &[&CARGO],
    imports: Imports::Channel,
    has_drafts: false,
    make,
};

const CARGO: Tool = Tool {
    names: &["cargo"],
    version: VersionSource::Given("--version"),
    lowest: Version::new(1, 95, 0),
    origin: Origin::Own("install Rust from https://rustup.rs, or `rustup update` it"),
};

/// The default target of a proxy, unless its `Cargo.toml` names another.
const TARGET: &str = "wasm32-unknown-unknown";

static PROXY: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../guests/acp-chain-proxy/src");
static BINDINGS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../guests/bindings/src");
static ACP: Dir = include_dir!("$CARGO_MANIFEST_DIR/../acp/src");
static POWERS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../powers/src");

fn sdk(files: &mut Files) {
    let proxy = include_str!(concat!(env!("OUT_DIR"), "/acp-chain-proxy.toml"));
    let bindings = include_str!(concat!(env!("OUT_DIR"), "/acp-chain-bindings.toml"));
    let acp = include_str!(concat!(env!("OUT_DIR"), "/acp-chain-acp.toml"));
    let powers = include_str!(concat!(env!("OUT_DIR"), "/acp-chain-powers.toml"));
    for (name, manifest, source) in [
        ("acp-chain-proxy", proxy, &PROXY),
        ("acp-chain-bindings", bindings, &BINDINGS),
        ("acp-chain-acp", acp, &ACP),
        ("acp-chain-powers", powers, &POWERS),
    ] {
        let folder = Path::new("sdk").join(name);
        files.insert(folder.join("Cargo.toml"), manifest.as_bytes().into());
        add(files, &folder.join("src"), source);
    }
    let wit = "sdk/acp-chain-proxy/wit/proxy.wit";
    files.insert(wit.into(), WIT.as_bytes().into());
}

/// Cargo's metadata of a project.
struct Crate {
    package: String,
    target: String,
    module: PathBuf,
}

fn make(site: &Site) -> Result<Vec<u8>, Error> {
    let cargo = site.tool(&CARGO)?;
    let made = Crate::of(&cargo, site.folder)?;
    add_target(site, &made.target)?;
    run(without_installing(&cargo)
        .args(["build", "--lib", "--release", "--package", &made.package])
        .args(["--target", &made.target])
        .current_dir(site.folder))?;
    let module = fs::read(&made.module).map_err(Error::disk(&made.module))?;
    component::encode(&module)
}

/// Ensures that the standard library of a target is installed, explicitly, since rustup may be configured not to
/// install targets on demand.
fn add_target(site: &Site, target: &str) -> Result<(), Error> {
    let asked = without_installing("rustc")
        .args(["--print=target-libdir", "--target", target])
        .current_dir(site.folder)
        .output();
    let folder = asked.ok().map(|output| output.stdout);
    let folder = folder.as_deref().and_then(|path| str::from_utf8(path).ok());
    if folder.is_some_and(|path| Path::new(path.trim()).exists()) {
        return Ok(());
    }
    let title = site.language.title;
    if site.toolchains.install {
        let mut add = Command::new("rustup");
        add.args(["target", "add", target]).current_dir(site.folder);
        return site.toolchains.install(title, &mut add);
    }
    Err(Error::toolchain(
        title,
        &format!("the target {target}"),
        "which is not installed",
        &format!("`acp-chain build --install` installs it with `rustup target add {target}`"),
    ))
}

impl Crate {
    fn of(cargo: &Path, folder: &Path) -> Result<Self, Error> {
        let mut command = without_installing(cargo);
        command
            .args(["metadata", "--format-version=1", "--no-deps"])
            .current_dir(folder);
        // Cargo's errors are shown immediately.
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = command.output().map_err(Error::disk(cargo))?;
        if !output.status.success() {
            return Err(Error::failed("cargo metadata", output.status));
        }
        let wrong = |wrong: &dyn Display| Error::new(format_args!("cargo metadata: {wrong}"));
        let all: Value = serde_json::from_slice(&output.stdout).map_err(|error| wrong(&error))?;
        let manifest = folder.join("Cargo.toml");
        let real = manifest.canonicalize().map_err(Error::disk(&manifest))?;
        let manifest = manifest.display();
        let mut packages = all["packages"].as_array().into_iter().flatten();
        let is_it = |package: &&Value| {
            let path = package["manifest_path"].as_str().map(Path::new);
            path.and_then(|path| path.canonicalize().ok()) == Some(real.clone())
        };
        let package = packages.find(is_it);
        let package =
            package.ok_or_else(|| wrong(&format_args!("it has no package for {manifest}")))?;
        let mut targets = package["targets"].as_array().into_iter().flatten();
        let is_library = |target: &&Value| {
            let mut kinds = target["crate_types"].as_array().into_iter().flatten();
            kinds.any(|kind| kind == "cdylib")
        };
        let library = targets
            .find(is_library)
            .and_then(|library| library["name"].as_str());
        let library = library.ok_or_else(|| {
            wrong(&format_args!(
                "{manifest} has no library with `crate-type = [\"cdylib\", \"rlib\"]` in [lib]"
            ))
        })?;
        let target = package["metadata"]["acp-chain"]["target"].as_str();
        let target = target.unwrap_or(TARGET);
        let folder = all["target_directory"].as_str().unwrap_or("target");
        let module = library.replace('-', "_");
        Ok(Self {
            // Another package may have the same name.
            package: package["id"].as_str().unwrap_or_default().to_owned(),
            target: target.to_owned(),
            module: [folder, target, "release", &module]
                .iter()
                .collect::<PathBuf>()
                .with_extension("wasm"),
        })
    }
}
