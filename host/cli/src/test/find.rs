//! Finds transcripts, and the component that they test.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use acp_chain_package::{MetadataError, Project};

use acp_chain_extension::Location;
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// The maximum depth of the search.
const DEPTH: usize = 32;

/// Folders that are never searched: third-party code, and generated files.
const SKIPPED: &[&str] = &["node_modules", "target"];

/// The named files, and all transcripts in the named folders, each once, by path.
pub fn transcripts(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            look_through(path, DEPTH, &mut found)?;
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn look_through(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
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

/// Warns if a component is a draft: results may differ from those of the published component.
pub fn warn_of_draft(component: &Location) {
    if let (Some(path), Ok(package)) = (component.path(), component.package())
        && package.draft
    {
        let shown = Untrusted::new(path.display());
        tell!(
            "acp-chain: {shown} is a draft of `acp-chain dev`; `acp-chain build` makes the one that users get"
        );
    }
}

/// The component built by the project in this folder.
pub fn component() -> Result<PathBuf> {
    match Project::read(Path::new(".")) {
        Ok(project) => {
            let component = acp_chain_author::output(&project);
            return if component.exists() {
                Ok(component)
            } else {
                Err(wrong!(
                    "{} is not there yet: `acp-chain build` makes it",
                    Untrusted::new(component.display())
                ))
            };
        }
        Err(MetadataError::None(_)) => {}
        Err(error) => return Err(quote(&error.to_string(), MAX_QUOTE).into()),
    }
    let is_wasm = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "wasm")
    };
    let entries = fs::read_dir(".").into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let files: Vec<_> = files.filter(is_wasm).collect();
    let way = "name one with `--component FILE`, or write `[[proxy]]`, `path = \"FILE\"` and `---` at the head of the \
               transcript";
    match &files[..] {
        [component] => Ok(component.clone()),
        [] => Err(wrong!("here is neither a project nor a component; {way}")),
        _ => Err(wrong!("here are several components; {way}")),
    }
}
