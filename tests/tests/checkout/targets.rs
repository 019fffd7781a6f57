//! A target whose manifest disables its test program has no tests that would be skipped.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The attributes and macros of tests, at the beginning of a line.
const MARKS: [&str; 3] = ["#[test]", "#[tokio::test", "proptest!"];

/// Blocks in documentation that are not Rust examples.
const TEXTS: [&str; 2] = ["text", "json"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn table(file: &Path) -> Table {
    let text = fs::read_to_string(file).unwrap();
    text.parse()
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The folders of all packages.
fn packages() -> Vec<PathBuf> {
    let workspace = table(&root().join("Cargo.toml"));
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let names = members.iter().map(|member| member.as_str().unwrap());
    names.map(|name| root().join(name)).collect()
}

/// The lines of all Rust files in a folder, or of one file, without indentation.
fn lines(path: &Path) -> Vec<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        return entries
            .flat_map(|entry| lines(&entry.unwrap().path()))
            .collect();
    }
    if path.extension().is_none_or(|extension| extension != "rs") {
        return Vec::new();
    }
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| line.trim_start().to_owned())
        .collect()
}

fn is_off(target: &Table, key: &str) -> bool {
    target.get(key).and_then(Value::as_bool) == Some(false)
}

/// The targets in this list of a package's manifest.
fn targets<'m>(manifest: &'m Table, kind: &str) -> Vec<&'m Table> {
    match manifest.get(kind) {
        None => Vec::new(),
        Some(Value::Array(targets)) => targets.iter().filter_map(Value::as_table).collect(),
        Some(target) => target.as_table().into_iter().collect(),
    }
}

/// Whether these lines have a test.
fn has_tests(lines: &[String]) -> bool {
    let mut lines = lines.iter();
    lines.any(|line| MARKS.iter().any(|mark| line.starts_with(mark)))
}

/// Whether the documentation in these lines has an example in Rust.
fn has_examples(lines: &[String]) -> bool {
    let fences = lines.iter().filter_map(|line| {
        let documentation = line
            .strip_prefix("//!")
            .or_else(|| line.strip_prefix("///"));
        documentation?.trim_start().strip_prefix("```")
    });
    // Every second fence ends a block.
    let mut begins = fences.step_by(2);
    begins.any(|language| !TEXTS.contains(&language))
}

#[test]
fn a_library_without_a_test_program_has_neither_tests_nor_examples() {
    let mut count = 0;
    for package in packages() {
        let manifest = table(&package.join("Cargo.toml"));
        for library in targets(&manifest, "lib") {
            let lines = lines(&package.join("src"));
            assert!(!lines.is_empty());
            let package = package.display();
            for (key, has) in [
                ("test", has_tests(&lines)),
                ("doctest", has_examples(&lines)),
            ] {
                let is_off = is_off(library, key);
                assert!(
                    !(is_off && has),
                    "{package} has tests that `{key} = false` skips"
                );
                count += usize::from(is_off);
            }
        }
    }
    assert!(count > 0, "no target was checked");
}

#[test]
fn a_program_without_a_test_program_has_no_tests() {
    let mut count = 0;
    for package in packages() {
        let manifest = table(&package.join("Cargo.toml"));
        for program in targets(&manifest, "bin") {
            if !is_off(program, "test") {
                continue;
            }
            let file = package.join(program["path"].as_str().expect("a path"));
            let folder = file.parent().unwrap();
            // A program in its own folder may have modules there.
            let has_folder = file.ends_with("main.rs") && !folder.ends_with("src");
            let lines = lines(if has_folder { folder } else { &file });
            let has_modules = lines.iter().any(|line| line.starts_with("mod "));
            assert!(has_folder || !has_modules, "{}", file.display());
            assert!(!has_tests(&lines), "{}", file.display());
            count += 1;
        }
    }
    assert!(count > 0, "no target was checked");
}
