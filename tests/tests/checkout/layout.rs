//! The host's crates use only what stands below them in the layout of `CONTRIBUTING.md`, and files of the router only
//! what stands below them in its first lines, as do the modules of the application.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::Table;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
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

/// The folders of the crates that the host is made of, in the order of the layout.
fn crates() -> Vec<String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let lines = text.lines().skip_while(|line| !line.starts_with("host/ "));
    let lines = lines.skip(1).map_while(|line| line.strip_prefix("  "));
    // What is further to the right goes on about the one above.
    let lines = lines.filter(|line| !line.starts_with(' '));
    lines
        .map(|line| line.split_once('/').expect(line).0.to_owned())
        .collect()
}

#[test]
fn every_crate_is_in_the_layout() {
    let entries = fs::read_dir(root().join("host")).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path());
    let crates = folders.filter(|folder| folder.join("Cargo.toml").exists());
    let found: BTreeSet<_> = crates
        .map(|folder| folder.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let known: BTreeSet<_> = self::crates().into_iter().collect();
    assert_eq!(found, known, "in `host`, and in CONTRIBUTING.md");
}

/// The names of what a package is built with, on any system; those of its tests alone are not among them.
fn dependencies(package: &Table) -> Vec<String> {
    let systems = package.get("target").and_then(|target| target.as_table());
    let of_systems = systems.into_iter().flat_map(Table::values);
    let tables = [package].into_iter();
    let tables = tables.chain(of_systems.filter_map(|system| system.as_table()));
    let kinds = ["dependencies", "build-dependencies"];
    let tables = tables.flat_map(|table| kinds.map(|kind| table.get(kind)));
    let tables = tables.flatten().filter_map(|table| table.as_table());
    tables.flat_map(Table::keys).cloned().collect()
}

#[test]
fn crates_use_only_those_that_stand_below_them() {
    let known = crates();
    let mut count = 0;
    for (at, name) in known.iter().enumerate() {
        let file = root().join("host").join(name).join("Cargo.toml");
        let text = fs::read_to_string(&file).unwrap();
        for used in dependencies(&text.parse().unwrap()) {
            let Some(other) = used.strip_prefix("acp-chain") else {
                continue;
            };
            let other = other.strip_prefix('-').unwrap_or("library");
            let stands = known.iter().position(|one| one == other);
            assert!(
                stands.is_some_and(|stands| stands > at),
                "{} uses {used}, which does not stand below {name}",
                file.display()
            );
            count += 1;
        }
    }
    assert!(count > known.len(), "they use each other");
}

#[test]
fn a_program_that_hosts_chains_builds_nothing_that_only_ours_needs() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "embedder", "--edges", "normal,build"])
        .args([
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--locked",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{tree:?}");
    let tree = String::from_utf8(tree.stdout).unwrap();
    let names: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(
        names.contains("acp-chain") && names.contains("wasmtime"),
        "{tree}"
    );
    for ours in [
        "acp-chain-app",
        "acp-chain-cli",
        "acp-chain-remote",
        "clap",
        "notify",
        "ratatui",
        "reqwest",
        "rusqlite",
    ] {
        assert!(!names.contains(ours), "{ours}");
    }
}

/// The crates with code for one kind of Unix, which `cargo xtask portable` checks for macOS.
const FOR_ONE_UNIX: [&str; 2] = ["live", "system"];

/// Files that leave something out on macOS, which compiles as well without it.
const WITHOUT_IT: [&str; 3] = [
    "extension/src/lock.rs",
    "remote/src/client/web.rs",
    "remote/src/server/mod.rs",
];

#[test]
fn code_for_one_kind_of_unix_stands_where_it_is_checked() {
    let host = root().join("host");
    let mut files = Vec::new();
    for name in crates() {
        if !FOR_ONE_UNIX.contains(&&*name) {
            sources(&host.join(name).join("src"), &mut files);
        }
    }
    let mut found = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let marks = [
            "#[cfg(target_os",
            "#[cfg(any(target_os",
            "os::linux",
            "os::macos",
            "not(target_os",
        ];
        if !marks.iter().any(|mark| text.contains(mark)) {
            continue;
        }
        let path = file.strip_prefix(&host).unwrap();
        assert!(
            WITHOUT_IT.iter().any(|known| path == Path::new(known)),
            "{} has code for one kind of Unix, and is not compiled for macOS by `cargo xtask portable`",
            file.display()
        );
        found += 1;
    }
    assert_eq!(found, WITHOUT_IT.len(), "{WITHOUT_IT:?}");
}

/// The files of the router, in the order of its first lines; a folder is one of them.
fn parts_of_router(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("mod.rs")).unwrap();
    let list = text.split("```text").nth(1).unwrap();
    let list = list.split("```").next().unwrap().lines();
    let names = list.filter_map(|line| line.strip_prefix("//! ")?.split(' ').next());
    names.map(str::to_owned).collect()
}

/// The names that stand directly behind this path in a file.
fn behind<'a>(code: &'a str, path: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for rest in code.split(path).skip(1) {
        let list = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap(),
            None => rest.split([';', ' ', '(', '{']).next().unwrap(),
        };
        let paths = list.split(',').map(str::trim);
        names.extend(paths.map(|path| path.split("::").next().unwrap()));
    }
    names
}

/// Each file belongs to one of these parts, by its name or that of its folder, and uses only parts that stand below:
/// what `used` finds in its code.
fn assert_order(
    folder: &Path,
    parts: &[String],
    used: impl for<'c> Fn(&Path, &'c str) -> Vec<&'c str>,
) {
    let mut files = Vec::new();
    sources(folder, &mut files);
    let mut count = 0;
    for file in files {
        let path = file.strip_prefix(folder).unwrap();
        let name = path.iter().next().unwrap().to_str().unwrap();
        let name = name.trim_end_matches(".rs");
        if ["lib", "mod", "tests"].contains(&name) {
            continue;
        }
        let at = parts.iter().position(|part| part == name);
        let at = at.unwrap_or_else(|| panic!("{name} is not in the first lines: {parts:?}"));
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for other in used(path, code) {
            let Some(stands) = parts.iter().position(|part| part == other) else {
                continue;
            };
            count += 1;
            assert!(
                stands >= at,
                "{} uses {other}, which stands above {name}",
                file.display()
            );
        }
    }
    assert!(count > parts.len(), "they use each other");
}

#[test]
fn files_of_the_router_use_only_what_stands_below_them() {
    let folder = root().join("host/router/src/router");
    assert_order(&folder, &parts_of_router(&folder), |path, code| {
        let mut used = behind(code, "router::");
        // In a folder's own files, that is the folder.
        if path.iter().count() == 1 || path.ends_with("mod.rs") {
            used.extend(behind(code, "super::"));
        }
        used
    });
}

#[test]
fn modules_of_the_application_use_only_what_stands_below_them() {
    let folder = root().join("host/app/src");
    let text = fs::read_to_string(folder.join("lib.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | `"));
    let parts = rows.map(|row| row.split('`').next().unwrap().to_owned());
    let parts: Vec<_> = parts.collect();
    assert_order(&folder, &parts, |_, code| behind(code, "crate::"));
}
