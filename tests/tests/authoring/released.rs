//! Components made for a released version of the interface run in this host.

use std::fs;
use std::path::{Path, PathBuf};

use acp_chain_tests::host::acp_chain;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of a folder's entries, without their extensions.
fn versions(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let entries = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut versions: Vec<String> = entries
        .filter(|name| name.starts_with(|first: char| first.is_ascii_digit()))
        .map(|name| name.trim_end_matches(".wit").to_owned())
        .collect();
    versions.sort();
    versions
}

#[test]
fn the_interface_of_a_version_stays_as_it_was_released() {
    let now = fs::read_to_string(root().join("wit/proxy.wit")).unwrap();
    let (package, _) = now.split_once(';').unwrap();
    let version = package.strip_prefix("package acp-chain:proxy@").unwrap();
    let released = root().join(format!("wit/released/{version}.wit"));
    let released = fs::read_to_string(&released).unwrap();
    assert!(
        now == released,
        "{version} is released: additions need a new version (docs/wit.md)"
    );
}

#[tokio::test]
async fn a_component_of_each_released_version_does_what_it_did() {
    let versions_with_components = versions("tests/released");
    assert_eq!(versions_with_components, versions("wit/released"));
    for version in versions_with_components {
        let played = acp_chain("test")
            .current_dir(root().join("tests/released").join(&version))
            .arg("every.transcript")
            .output()
            .await
            .unwrap();
        assert!(played.status.success(), "{version}: {played:?}");
    }
}
