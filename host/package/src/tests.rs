use std::fs;
use std::io::Cursor;

use acp_chain_powers::FailurePolicy;
use proptest::prelude::*;
use serde_json::json;

use super::*;

mod errors;

/// A component without metadata.
fn component(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).unwrap()
}

fn read(bytes: &[u8]) -> Result<Package, PackageError> {
    Package::read(Cursor::new(bytes))
}

/// The error of a component.
fn wrong(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

/// A folder with these files.
fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn package(files: &[(&str, &str)]) -> Package {
    Project::read(project(files).path()).unwrap().package
}

const OWN: &str = r#"
name = "shout"
version = "1.2.0"
description = "Shouts"
authors = ["A", "B"]
license = "MIT"
source = "https://example.org/shout"
homepage = "https://example.org/"
revision = "abc"

[asks]
host = "0.1.0"
on-failure = "bypass"
limits = { memory = "16 MiB", held = 7 }
config = { type = "object" }
methods = { "_x/*" = { actions = ["read"], reason = "to see" } }

[asks.powers]
"tools" = "to give tools"
"prompts.change" = "to shout"
"prompts.read" = "to hear"
"#;

#[test]
fn written_metadata_can_be_read_also_by_other_tools() {
    let package = package(&[("extension.toml", OWN)]);
    let bare = component("(component)");
    assert!(wrong(&bare).contains("no section `acp-chain:extension`"));
    let written = package.write(&bare).unwrap();
    assert_eq!(read(&written).unwrap(), package);
    // In the order of the table of all powers.
    let keys: Vec<_> = package
        .asks
        .powers
        .iter()
        .map(|asked| &*asked.power)
        .collect();
    assert_eq!(keys, ["prompts.read", "prompts.change", "tools"]);

    let others = wasm_metadata::Payload::from_binary(&written).unwrap();
    let others = others.metadata();
    assert_eq!(others.name.as_deref(), Some("shout"));
    assert_eq!(others.version.as_ref().unwrap().to_string(), "1.2.0");
    assert_eq!(others.description.as_ref().unwrap().to_string(), "Shouts");
    assert_eq!(others.authors.as_ref().unwrap().to_string(), "A, B");
    assert_eq!(others.licenses.as_ref().unwrap().to_string(), "MIT");
    assert_eq!(others.revision.as_ref().unwrap().to_string(), "abc");
}

#[test]
fn writing_the_same_metadata_again_gives_the_same_bytes() {
    let package = package(&[("extension.toml", OWN)]);
    let once = package.write(&component("(component)")).unwrap();
    assert_eq!(package.write(&once).unwrap(), once);
    let mut other = package.clone();
    other.about.description = None;
    let written = other.write(&once).unwrap();
    assert_eq!(read(&written).unwrap(), other);
}

#[test]
fn a_draft_stays_a_draft_when_written_again() {
    let mut package = package(&[("extension.toml", OWN)]);
    package.draft = true;
    let draft = package.write(&component("(component)")).unwrap();
    assert!(read(&draft).unwrap().draft);
    package.draft = false;
    let again = package.write(&draft).unwrap();
    assert!(read(&again).unwrap().draft);
    package.draft = true;
    assert_eq!(package.write(&again).unwrap(), again);
}

#[test]
fn asks_conform_to_the_published_schema() {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let package = package(&[("extension.toml", OWN)]);
    let asks = serde_json::to_value(&package.asks).unwrap();
    assert!(validator.is_valid(&asks), "{asks}");
    assert!(!validator.is_valid(&json!({ "powers": { "tools": "" } })));
    assert!(!validator.is_valid(&json!({ "power": {} })));
}

#[test]
fn metadata_is_in_files_of_a_bounded_length() {
    let folder = project(&[("extension.toml", OWN)]);
    let told = || Project::read(folder.path()).unwrap_err().to_string();
    let file = folder.path().join("extension.toml");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(told().ends_with("it is not a file"), "{}", told());
    fs::remove_dir(&file).unwrap();
    fs::File::create(&file).unwrap().set_len(5 << 20).unwrap();
    assert!(told().ends_with("it is larger than 4 MiB"), "{}", told());
}

#[test]
fn each_language_has_metadata_in_its_own_file() {
    let cargo = package(&[(
        "Cargo.toml",
        r#"
        [workspace.package]
        version = "2.0.0"
        license = "MIT/Apache-2.0"

        [package]
        name = "acp-shout"
        version.workspace = true
        license.workspace = true
        authors = ["A <a@example.org>"]
        repository = "https://example.org/shout"

        [package.metadata.acp-chain]
        name = "shout"
        target = "wasm32-wasip1"
        powers = { tools = "to give tools" }
        "#,
    )]);
    assert_eq!(
        (&*cargo.name, cargo.version.to_string()),
        ("shout", "2.0.0".into())
    );
    assert_eq!(cargo.about.licenses.as_deref(), Some("MIT OR Apache-2.0"));
    assert!(cargo.asks.has("tools"));

    let npm = package(&[
        (
            "package.json",
            r#"{
                "name": "@org/shout", "version": "3.0.0-rc.1", "author": { "name": "A", "email": "a@example.org" },
                "repository": { "type": "git", "url": "git+https://example.org/shout" },
                "acpChain": { "powers": { "tools": "to give tools" }, "config": "schema.json" }
            }"#,
        ),
        ("schema.json", r#"{ "type": "object" }"#),
        // Without our table.
        ("Cargo.toml", "[package]\nname = \"other\"\n"),
    ]);
    assert_eq!(
        (&*npm.name, npm.version.to_string()),
        ("shout", "3.0.0-rc.1".into())
    );
    assert_eq!(npm.about.authors.as_deref(), Some("A <a@example.org>"));
    assert_eq!(
        npm.about.source.as_deref(),
        Some("https://example.org/shout")
    );
    assert_eq!(npm.asks.config.unwrap()["type"], "object");

    let python = package(&[(
        "pyproject.toml",
        r#"
        [project]
        name = "shout"
        version = "0.1.0"
        license = { text = "MIT" }
        authors = [{ name = "A" }]
        urls = { Homepage = "https://example.org/", Repository = "https://example.org/shout" }

        [tool.acp-chain]
        on-failure = "refuse"
        powers = { tools = "to give tools" }
        "#,
    )]);
    assert_eq!(python.about.licenses.as_deref(), Some("MIT"));
    assert_eq!(
        python.about.source.as_deref(),
        Some("https://example.org/shout")
    );
    assert_eq!(python.asks.on_failure, Some(FailurePolicy::Refuse));
}

/// A component with a custom section at its end.
fn with_section(component: &[u8], name: &str, data: &[u8]) -> Vec<u8> {
    use wasm_encoder::{ComponentSection, CustomSection};
    let mut with = component.to_owned();
    let section = CustomSection {
        name: name.into(),
        data: data.into(),
    };
    section.append_to_component(&mut with);
    with
}

#[test]
fn a_component_has_one_name() {
    let section = "component-name";
    let bare = component("(component)");
    let name = [0, 2, 1, b'a'];
    let within = with_section(&bare, section, &[name, name].concat());
    let behind = with_section(&with_section(&bare, section, &[]), section, &name);
    for twice in [within, behind] {
        let told = wrong(&twice);
        assert!(told.contains("it occurs twice"), "{told}");
    }
}

#[test]
fn a_project_file_without_our_table_may_have_any_content() {
    let odd = r#"{ "license": { "type": "MIT" }, "repository": 7, "version": 1 }"#;
    let own = package(&[("extension.toml", OWN), ("package.json", odd)]);
    assert_eq!(own.name, "shout");
}

proptest! {
    #[test]
    fn no_input_makes_the_reader_panic(
        at in any::<proptest::sample::Index>(), byte: u8, cut in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = package(&[("extension.toml", OWN)]).write(&component("(component)")).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = read(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        let _ = read(&bytes);
    }
}
