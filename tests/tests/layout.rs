//! The host's modules use only what stands above them in the layout of `CONTRIBUTING.md`.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The modules of the host, in the order of the layout.
fn modules() -> Vec<String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("  src/"));
    lines
        .filter_map(|line| line.split(['/', '.', ' ']).next())
        .map(str::to_owned)
        .collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_module_is_in_the_layout() {
    let known = modules();
    for entry in fs::read_dir(root().join("host/src")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_root = ["lib", "main"].contains(&&*name);
        assert!(
            is_root || known.contains(&name),
            "{name} is not in CONTRIBUTING.md"
        );
    }
}

#[test]
fn modules_use_only_what_stands_above_them() {
    let known = modules();
    for (at, module) in known.iter().enumerate() {
        let mut files = vec![root().join("host/src").join(module).with_extension("rs")];
        files.retain(|file| file.exists());
        let folder = root().join("host/src").join(module);
        if folder.exists() {
            sources(&folder, &mut files);
        }
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            // What tests use beside is their own business.
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for (used, name) in known.iter().enumerate() {
                let uses = code.contains(&format!("crate::{name}::"));
                let may = used <= at || file.ends_with("tests.rs");
                assert!(
                    !uses || may,
                    "{} uses {name}, which stands below {module}",
                    file.display()
                );
            }
        }
    }
}
