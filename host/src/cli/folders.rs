//! Where this program keeps what belongs to the user. There may be no home folder at all.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use crate::manifest::{Make, Manifest};

fn folders() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "acp-chain")
}

/// The user's own decisions.
pub fn config_file() -> Option<PathBuf> {
    folders().map(|folders| folders.config_dir().join("config.toml"))
}

/// Compiled components.
pub fn code_cache() -> Option<PathBuf> {
    folders().map(|folders| folders.cache_dir().join("compiled"))
}

/// The log, where the command line names no other.
pub fn log_file() -> Option<PathBuf> {
    let folders = folders()?;
    // Only Linux has a place for what programs write down by the way.
    let folder = folders
        .state_dir()
        .unwrap_or_else(|| folders.data_local_dir());
    Some(folder.join("acp-chain.log"))
}

/// An error if a proxy may write where it is decided what proxies are and may do: to the manifest, a
/// component, or what belongs to this program.
pub fn check(manifest: &Manifest) -> Result<(), String> {
    let own = [config_file(), code_cache(), log_file()];
    let own = own.into_iter().flatten();
    // Of a program the arguments matter as well: one may be what it interprets.
    let components = manifest.proxies.iter().flat_map(|entry| match &entry.make {
        Make::Component(component) => vec![component.path.clone()],
        Make::Native(native) => {
            let words = std::iter::once(&native.command.program).chain(&native.command.args);
            let files = words.filter_map(|word| PathBuf::from(word).canonicalize().ok());
            files.collect()
        }
    });
    let sensitive: Vec<_> = own
        .chain(components)
        .chain([manifest.path.clone()])
        .map(|path| resolve(&path))
        .collect();
    for entry in &manifest.proxies {
        let Make::Component(component) = &entry.make else {
            continue;
        };
        for directory in component.directories.iter().filter(|given| given.write) {
            // One that is not there keeps the proxy from starting.
            let Ok(given) = directory.path.canonicalize() else {
                continue;
            };
            let found = sensitive
                .iter()
                .find(|path| path.starts_with(&given) || given.starts_with(path));
            if let Some(path) = found {
                let (given, path) = (given.display(), path.display());
                let wrong = format!(
                    "it may write to {given}, and so to {path}, by which it could give itself more; \
                     leave out `write`, or give it another directory"
                );
                return Err(manifest.about(entry, &wrong));
            }
        }
    }
    Ok(())
}

/// A path without links and other spellings, of which the end may not be there yet.
fn resolve(path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|there| {
        let end = path.strip_prefix(there).ok()?;
        // Not `join` alone, which leaves a slash behind a path that is there.
        Some(there.canonicalize().ok()?.join(end).components().collect())
    });
    resolved.unwrap_or_else(|| path.to_owned())
}
