//! Where this program keeps what belongs to the user. There may be no home folder at all.

use std::path::PathBuf;

use directories::ProjectDirs;

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
