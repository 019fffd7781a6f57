//! `acp-chain sdk`: the SDK of this version replaces another version.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use acp_chain_author::LANGUAGES;

use super::project::Project;

#[tokio::test]
async fn a_newer_sdk_replaces_an_older_one_and_leaves_all_else_as_it_is() {
    for language in LANGUAGES {
        let project = Project::new(language.name, "tools").await;
        let save = |path: &Path, text: &str| {
            let path = project.path("").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (path, text) in [
            ("README.md", "My own words."),
            ("src/mine", "My own source."),
            ("sdk.md", "What I think of it."),
            ("wit/deps/other/other.wit", "package an:other;"),
        ] {
            save(Path::new(path), text);
        }
        let expected = files(&project.path(""));

        let is_ours = |path: &Path| path.starts_with("sdk") || path.ends_with("proxy.wit");
        for path in expected.keys().filter(|path| is_ours(path)) {
            // These files mark our folders in every version.
            let mark = match path.file_name().and_then(|name| name.to_str()) {
                Some("LICENSE-MIT") => "Copyright (c) 2025 The acp-chain developers",
                Some("proxy.wit") => "package acp-chain:proxy@0.0.1;",
                _ => "",
            };
            save(path, &format!("An older one. {mark}"));
            // A folder and a file that this version does not have.
            save(&path.with_file_name("gone/old"), "It is gone.");
            save(&path.with_added_extension("old"), "It is gone.");
        }
        assert_ne!(files(&project.path("")), expected);

        let said = project.acp_chain(&["sdk"], ".").await;
        assert!(said.is_success, "{said:?}");
        assert_eq!(files(&project.path("")), expected, "{}", language.name);
    }
}

#[tokio::test]
async fn what_is_not_of_an_sdk_is_never_removed() {
    let project = Project::new("c", "prompt").await;
    let (sdk, elsewhere) = (project.path("sdk"), project.home());
    fs::rename(&sdk, &elsewhere).unwrap();
    symlink(&elsewhere, &sdk).unwrap();
    let before = files(&elsewhere);
    let said = project.acp_chain(&["sdk"], ".").await;
    let expected = "acp-chain: WORLD/tried/sdk is a link, or behind one, and the SDK of acp-chain goes there; rename it\n";
    assert_eq!(said.err, expected);
    assert_eq!(files(&elsewhere), before);

    fs::remove_file(&sdk).unwrap();
    fs::create_dir(&sdk).unwrap();
    fs::write(sdk.join("mine.c"), "").unwrap();
    fs::write(sdk.join("LICENSE-MIT"), "Copyright (c) Somebody").unwrap();
    let said = project.acp_chain(&["sdk"], ".").await;
    let expected = "acp-chain: WORLD/tried/sdk has files, and none of acp-chain, and the SDK of acp-chain goes there; rename it\n";
    assert_eq!(said.err, expected);
    assert!(sdk.join("mine.c").exists());
}

/// All files of a folder: their relative paths and contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read(&path).unwrap();
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), text);
            }
        }
    }
    found
}
