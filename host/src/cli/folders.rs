//! The user's folders of this program. There may be no home folder at all.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use directories::{BaseDirs, ProjectDirs};

use super::trail;
use crate::system::{files, local};
use crate::untrusted::Untrusted;

/// `None` if they would depend on the working directory.
fn folders() -> Option<ProjectDirs> {
    let folders = ProjectDirs::from("", "", "acp-chain")?;
    let all = [
        folders.config_dir(),
        folders.cache_dir(),
        folders.data_local_dir(),
    ];
    all.iter()
        .all(|folder| folder.is_absolute())
        .then_some(folders)
}

/// The settings that the command line names.
static NAMED: OnceLock<PathBuf> = OnceLock::new();

/// Takes settings from this file, which must be there, and not from the usual place.
pub fn name_config(path: &Path) -> io::Result<()> {
    // It is set once, before anything is read.
    let _ = NAMED.set(std::path::absolute(path)?);
    Ok(())
}

/// Whether the command line names the user's own settings.
pub fn is_config_named() -> bool {
    NAMED.get().is_some()
}

/// The user's own settings.
pub fn config_file() -> Option<PathBuf> {
    if let Some(path) = NAMED.get() {
        return Some(path.clone());
    }
    folders().map(|folders| folders.config_dir().join("config.toml"))
}

/// Compiled components.
pub fn code_cache() -> Option<PathBuf> {
    folders().map(|folders| folders.cache_dir().join("compiled"))
}

/// Installed extensions.
pub fn extensions() -> Option<PathBuf> {
    folders().map(|folders| folders.data_local_dir().join("extensions"))
}

/// Installed agents.
pub fn agents() -> Option<PathBuf> {
    folders().map(|folders| folders.data_local_dir().join("agents"))
}

/// Toolchains installed for authors.
pub fn toolchains() -> Option<PathBuf> {
    folders().map(|folders| folders.data_local_dir().join("toolchains"))
}

/// The user's decisions about projects.
pub fn trust() -> Option<PathBuf> {
    folders().map(|folders| folders.data_local_dir().join("trust"))
}

/// Backups of editors' configurations.
pub fn setups() -> Option<PathBuf> {
    folders().map(|folders| folders.data_local_dir().join("setup"))
}

/// The default log file.
pub fn log_file() -> Option<PathBuf> {
    let folders = folders()?;
    // Only Linux has a place for such state.
    let folder = folders
        .state_dir()
        .unwrap_or_else(|| folders.data_local_dir());
    Some(folder.join("acp-chain.log"))
}

/// The folders in which the socket for MCP clients may be.
pub fn sockets() -> Vec<PathBuf> {
    local::places()
}

/// An error if somebody else could change the user's files, or this program's.
pub fn check_owners() -> Result<(), String> {
    let files = [
        ("your config.toml", config_file(), "XDG_CONFIG_HOME"),
        ("compiled code", code_cache(), "XDG_CACHE_HOME"),
        ("installed extensions", extensions(), "XDG_DATA_HOME"),
        ("installed agents", agents(), "XDG_DATA_HOME"),
        ("what you said about projects", trust(), "XDG_DATA_HOME"),
        ("backups of configurations", setups(), "XDG_DATA_HOME"),
        ("the log", log_file(), "XDG_STATE_HOME"),
    ];
    let files = files
        .into_iter()
        .filter_map(|(what, path, variable)| Some((what, path?, variable)));
    let sockets = sockets().into_iter();
    let sockets = sockets.map(|place| ("the socket for MCP clients", place, "XDG_RUNTIME_DIR"));
    for (what, path, variable) in files.chain(sockets) {
        check_owner(&path).map_err(|exposed| {
            let path = Untrusted::new(path.display());
            format!(
                "{what} is not safe at {path}: {exposed}, or let {variable} name a folder of yours"
            )
        })?;
    }
    Ok(())
}

/// Whether nobody else can change a file or directory, or replace it. That is checked up to the user's home; folders
/// above belong to the system.
pub fn check_owner(path: &Path) -> Result<(), String> {
    let home = BaseDirs::new().map(|folders| trail::names(folders.home_dir()));
    let home = home.and_then(|mut names| names.pop()).unwrap_or_default();
    let names = trail::names(path).into_iter();
    let mut below = names.filter(|name| *name == home || !home.starts_with(name));
    below.try_for_each(|name| files::check_owner(&name).map_err(|exposed| exposed.to_string()))
}
