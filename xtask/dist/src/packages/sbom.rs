//! The list of what is in the program, in the format `CycloneDX`: the crates that are linked into it, its extensions,
//! and the crates that are compiled into each of those.
//!
//! Cargo resolves both for their own targets and features. Macros and build scripts run while the program is built, and
//! are not in it. The list has no time, so that packing again gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use acp_chain_extension::Carried;
use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toml::Table;
use xtask::printed;
use xtask::workspace::Workspace;

use super::Package;
use super::product::{DESCRIPTION, LICENCE, Product};

/// The package of the program.
const PROGRAM: &str = "acp-chain-cli";

/// A crate, as cargo lists it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    /// In the form that its manifest has.
    licence: String,
    /// Whether it is a part of the workspace.
    is_ours: bool,
}

/// The digests of crates in the registry, by name and version.
type Digests = BTreeMap<(String, String), String>;

pub fn pack(workspace: &Workspace, product: &Product, program: &Path) -> Result<Package> {
    let digests = digests(workspace)?;
    let triple = product.platform.triple();
    let linked = crates(workspace, PROGRAM, &triple)?;
    let mut components: Vec<_> = linked
        .iter()
        .map(|one| component(one, "", &digests))
        .collect();
    components.push(standard_library(workspace)?);
    let targets = workspace.guest_crates();
    let carried = Carried::by(program)?;
    for extension in carried.iter() {
        let name = &extension.name;
        let guest = targets.iter().find(|guest| guest.package == *name);
        let guest = guest.with_context(|| format!("there is no extension {name} here"))?;
        let compiled = crates(workspace, name, &guest.target)?;
        let own = compiled.iter().find(|one| one.name == *name);
        let own = own.with_context(|| format!("cargo does not list {name}"))?;
        let within = format!("{name}/");
        let others = compiled.iter().filter(|one| one.name != *name);
        let others = others.map(|one| component(one, &within, &digests));
        components.push(json!({
            "type": "library",
            "bom-ref": format!("extension:{name}"),
            "name": name,
            "version": own.version,
            "licenses": [{ "expression": LICENCE }],
            "hashes": [{ "alg": "SHA-256", "content": extension.digest.hex() }],
            "components": others.collect::<Vec<_>>(),
        }));
    }
    let bytes = fs::read(program)?;
    let list = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": "acp-chain",
            "name": "acp-chain",
            "version": product.version,
            "description": DESCRIPTION,
            "licenses": [{ "expression": LICENCE }],
            "hashes": [{ "alg": "SHA-256", "content": HEXLOWER.encode(&Sha256::digest(&bytes)) }],
        } },
        "components": components,
    });
    let file = format!("acp-chain-{}-{triple}.cdx.json", product.version);
    Ok(Package(file, serde_json::to_vec_pretty(&list)?))
}

/// The entry of a crate. `within` keeps the references of those in different extensions apart.
fn component(listed: &Crate, within: &str, digests: &Digests) -> Value {
    let Crate { name, version, .. } = listed;
    let mut entry = json!({
        "type": "library",
        "bom-ref": format!("{within}{name}@{version}"),
        "name": name,
        "version": version,
    });
    if !listed.licence.is_empty() {
        entry["licenses"] = json!([{ "expression": listed.licence }]);
    }
    if !listed.is_ours {
        entry["purl"] = json!(format!("pkg:cargo/{name}@{version}"));
    }
    if let Some(digest) = digests.get(&(name.clone(), version.clone())) {
        entry["hashes"] = json!([{ "alg": "SHA-256", "content": digest }]);
    }
    entry
}

/// The standard library, which is that of the compiler.
fn standard_library(workspace: &Workspace) -> Result<Value> {
    let mut rustc = Command::new("rustc");
    rustc.arg("--version").current_dir(workspace.path(""));
    let version = printed(&mut rustc)?;
    // `rustc 1.95.0 (…)`
    let version = version.split(' ').nth(1);
    let version = version.context("rustc does not report its version")?;
    Ok(json!({
        "type": "library",
        "bom-ref": format!("std@{version}"),
        "name": "std",
        "version": version,
        "description": "The standard library of Rust",
        "licenses": [{ "expression": LICENCE }],
    }))
}

/// The crates that are compiled into a package for a target, with the features that the package needs.
fn crates(workspace: &Workspace, package: &str, target: &str) -> Result<BTreeSet<Crate>> {
    let tree = printed(&mut workspace.cargo(&format!(
        "tree --locked --package {package} --target {target} \
         --edges normal,no-proc-macro --prefix none --format {{p}}|{{l}}"
    )))?;
    let lines = tree.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| listed(line).with_context(|| format!("cargo tree lists `{line}`")))
        .collect()
}

/// A line of `cargo tree`: `name v1.0.0 (/path)|LICENCE (*)`, where the mark says that it is listed above, too.
fn listed(line: &str) -> Option<Crate> {
    let line = line.strip_suffix(" (*)").unwrap_or(line);
    let (package, licence) = line.rsplit_once('|')?;
    let mut words = package.split(' ');
    let name = words.next()?.to_owned();
    let version = words.next()?.strip_prefix('v')?.to_owned();
    // A slash is how alternatives were written before there was a standard.
    let licence = match licence.trim() {
        "N/A" => String::new(),
        licence => licence.replace('/', " OR ").replace("  OR  ", " OR "),
    };
    Some(Crate {
        name,
        version,
        licence,
        is_ours: words.next().is_some(),
    })
}

/// The digests in the lock file.
fn digests(workspace: &Workspace) -> Result<Digests> {
    let lock = fs::read_to_string(workspace.path("Cargo.lock"))?;
    let lock: Table = lock.parse()?;
    let packages = lock.get("package").and_then(|packages| packages.as_array());
    let packages = packages.context("Cargo.lock lists no packages")?;
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let digests = packages.iter().filter_map(|package| {
        let known = (text(package, "name")?, text(package, "version")?);
        Some((known, text(package, "checksum")?))
    });
    Ok(digests.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_are_read() {
        let read =
            |line| listed(line).map(|read| (read.name, read.version, read.licence, read.is_ours));
        for (line, name, version, licence, is_ours) in [
            (
                "serde v1.0.228|MIT OR Apache-2.0",
                "serde",
                "1.0.228",
                "MIT OR Apache-2.0",
                false,
            ),
            (
                "fnv v1.0.7|Apache-2.0 / MIT (*)",
                "fnv",
                "1.0.7",
                "Apache-2.0 OR MIT",
                false,
            ),
            (
                "acp-chain-rpc v0.1.0 (/a b/host/rpc)|MIT",
                "acp-chain-rpc",
                "0.1.0",
                "MIT",
                true,
            ),
            ("none v2.0.0|N/A", "none", "2.0.0", "", false),
        ] {
            let expected = (
                name.to_owned(),
                version.to_owned(),
                licence.to_owned(),
                is_ours,
            );
            assert_eq!(read(line), Some(expected), "{line}");
        }
        assert!(listed("serde").is_none());
    }
}
