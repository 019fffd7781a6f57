//! Which transcripts there are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::untrusted::Untrusted;

/// How deep folders are looked through.
const DEPTH: usize = 32;

/// What is never looked through: what others wrote, and what tools made.
const SKIPPED: &[&str] = &["node_modules", "target"];

/// The files that are named, and all transcripts in the folders that are, each once, by their paths.
pub fn transcripts(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => look_through(path, DEPTH, &mut found)?,
            false => found.push(path.clone()),
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn look_through(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let shown = Untrusted::new(folder.display());
    let unreadable = |error| format!("{shown}: the folder cannot be read: {error}");
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if kind.is_dir() {
            if depth > 0 && !name.starts_with('.') && !SKIPPED.contains(&&*name) {
                look_through(&path, depth - 1, found)?;
            }
        } else if path
            .extension()
            .is_some_and(|extension| extension == "transcript")
        {
            found.push(path);
        }
    }
    Ok(())
}

/// The component that the project in this folder builds.
pub fn component() -> Result<PathBuf, String> {
    let is_wasm = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "wasm")
    };
    for folder in ["build", "."] {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut files: Vec<_> = files.filter(is_wasm).collect();
        files.sort();
        match &files[..] {
            [] => {}
            [component] => return Ok(component.clone()),
            _ => {
                return Err(format!(
                    "there are several components in `{folder}`; name one by `--component FILE`, or in the head of the \
                     transcript"
                ));
            }
        }
    }
    Err(
        "no component is named, and there is none in `build` or in this folder; build it, name it by `--component FILE`, \
         or write `[[proxy]]`, `path = \"FILE\"` and `---` at the head of the transcript"
            .to_owned(),
    )
}
