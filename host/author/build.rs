//! Writes the manifests of the Rust SDK for use outside this workspace, with inherited values resolved.

#![expect(clippy::disallowed_macros, reason = "cargo reads it")]

use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

/// The crates in a project, with their folders here.
const CRATES: [(&str, &str); 4] = [
    ("acp-chain-acp", "../acp"),
    ("acp-chain-bindings", "../../guests/bindings"),
    ("acp-chain-powers", "../powers"),
    ("acp-chain-proxy", "../../guests/acp-chain-proxy"),
];

/// Embedded folders: added files are embedded too.
const EMBEDDED: &str = "\
    templates sdk ../acp/src ../powers/src ../../guests/acp-chain-proxy/src ../../guests/bindings/src";

fn main() {
    for path in EMBEDDED.split(' ') {
        println!("cargo:rerun-if-changed={path}");
    }
    let root = read(Path::new("../../Cargo.toml"));
    let out = env::var("OUT_DIR").expect("cargo sets it");
    for (name, folder) in CRATES {
        let mut manifest = read(&Path::new(folder).join("Cargo.toml"));
        stand_alone(&mut manifest, &root["workspace"]);
        let text = format!("# Written by `acp-chain new`.\n\n{manifest}");
        let file = Path::new(&out).join(name).with_extension("toml");
        fs::write(file, text).expect("the manifest is writable");
    }
}

fn read(path: &Path) -> Table {
    println!("cargo:rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).expect("the manifest is readable");
    text.parse().expect("cargo has parsed it")
}

fn stand_alone(manifest: &mut Table, workspace: &Value) {
    // The SDK in a project has no tests.
    for left in ["lints", "dev-dependencies"] {
        manifest.remove(left);
    }
    for (section, value) in manifest {
        match (section.as_str(), value) {
            ("package", Value::Table(package)) => {
                let inherited = package.iter_mut().filter(|(_, value)| is_inherited(value));
                inherited.for_each(|(key, value)| *value = workspace["package"][key].clone());
            }
            ("dependencies", Value::Table(all)) => dependencies(all, workspace),
            ("target", Value::Table(targets)) => {
                for (_, target) in targets {
                    let all = target["dependencies"].as_table_mut();
                    dependencies(all.expect("a table"), workspace);
                }
            }
            _ => {}
        }
    }
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").is_some()
}

/// Resolves inherited dependencies. A member's own settings are added to the workspace's.
fn dependencies(all: &mut Table, workspace: &Value) {
    for (name, value) in all {
        if !is_inherited(value) {
            continue;
        }
        let mut full = match &workspace["dependencies"][name] {
            Value::Table(shared) => shared.clone(),
            version => Table::from_iter([("version".to_owned(), version.clone())]),
        };
        // Our crates are beside each other.
        if let Some(path) = full.get_mut("path") {
            *path = format!("../{name}").into();
        }
        for (key, own) in value.as_table().expect("it is inherited") {
            match (full.get_mut(key), own) {
                _ if key == "workspace" => {}
                (Some(Value::Array(shared)), Value::Array(own)) => shared.extend(own.clone()),
                _ => drop(full.insert(key.clone(), own.clone())),
            }
        }
        *value = full.into();
    }
}
