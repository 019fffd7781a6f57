//! The user's folders of this program, with their settings and extensions. There may be no home folder at all.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use directories::{BaseDirs, ProjectDirs};

use crate::serve_settings::ServeSettings;
use crate::{Error, compile, trail};
use acp_chain_extension::{Carried, Installed, Lock, Revoked, Store};
use acp_chain_manifest::{Manifest, ManifestError, User};
use acp_chain_project::Records;
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_sandbox::{Engine, EngineError};
use acp_chain_system::{UserFiles, files, local, writable};

/// The prefixes of variables that change what a chain does.
const VARIABLES: [&str; 2] = ["ACP_CHAIN_", "OTEL_"];

/// A command of this program without our variables, for chains in which nothing of the user's is to be used.
pub fn without_variables(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if VARIABLES.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// The folders of the system; `None` if they would depend on the working directory.
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

/// Takes the settings from this file, which must exist, instead of the usual one.
pub fn name_config(path: &Path) -> io::Result<()> {
    // Set once, before anything is read.
    let _ = NAMED.set(std::path::absolute(path)?);
    Ok(())
}

/// Whether the command line names the user's own settings.
pub fn is_config_named() -> bool {
    NAMED.get().is_some()
}

/// The folder of the user's data that the command line names.
static NAMED_DATA: OnceLock<PathBuf> = OnceLock::new();

/// Keeps the user's data in this folder, instead of the usual one.
pub fn name_data(path: &Path) -> io::Result<()> {
    // Set once, before anything is read.
    let _ = NAMED_DATA.set(std::path::absolute(path)?);
    Ok(())
}

/// The folder of the user's data, if the command line names one.
pub fn named_data() -> Option<&'static Path> {
    NAMED_DATA.get().map(PathBuf::as_path)
}

/// The options that name the user's settings and data on our command line, for other processes of ours.
pub fn named() -> Vec<OsString> {
    let option = |name: &str, path: &PathBuf| -> [OsString; 2] { [name.into(), path.into()] };
    let settings = NAMED.get().map(|path| option("--settings", path));
    let data = NAMED_DATA.get().map(|path| option("--data", path));
    settings.into_iter().chain(data).flatten().collect()
}

/// The folder of installed extensions and agents, and of the user's decisions.
fn data() -> Option<PathBuf> {
    match named_data() {
        Some(folder) => Some(folder.to_owned()),
        None => folders().map(|folders| folders.data_local_dir().to_owned()),
    }
}

/// The folder of the user's data, if only the command line or the environment says where it is.
pub fn moved_data() -> Option<PathBuf> {
    data().filter(|data| named_data().is_some() || is_moved(data, "XDG_DATA_HOME", ".local/share"))
}

/// The user's own settings, if only the environment says where they are.
pub fn moved_config() -> Option<PathBuf> {
    config_file().filter(|file| is_moved(file, "XDG_CONFIG_HOME", ".config"))
}

/// Whether a path is where it is by this variable, which does not name the usual folder.
fn is_moved(path: &Path, variable: &str, usual: &str) -> bool {
    let home = BaseDirs::new().map(|folders| folders.home_dir().join(usual));
    let moved = env::var_os(variable).map(PathBuf::from);
    let moved = moved.filter(|moved| home.is_some_and(|home| home != *moved));
    moved.is_some_and(|moved| path.starts_with(moved))
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
    within(None, "extensions")
}

/// Installed agents.
pub fn agents() -> Option<PathBuf> {
    agents_in(None)
}

/// Installed agents, in this folder of a user's data or else in the usual one.
pub fn agents_in(folder: Option<&Path>) -> Option<PathBuf> {
    within(folder, "agents")
}

/// A place in this folder of a user's data, or else in the usual one.
fn within(folder: Option<&Path>, name: &str) -> Option<PathBuf> {
    let folder = folder.map(Path::to_owned).or_else(data);
    folder.map(|folder| folder.join(name))
}

/// Toolchains installed for authors.
pub fn toolchains() -> Option<PathBuf> {
    data().map(|data| data.join("toolchains"))
}

/// The user's decisions about projects.
pub fn trust() -> Option<PathBuf> {
    data().map(|data| data.join("trust"))
}

/// Backups of editors' configurations.
pub fn setups() -> Option<PathBuf> {
    data().map(|data| data.join("setup"))
}

/// What proxies have stored.
pub fn state() -> Option<PathBuf> {
    data().map(|data| data.join("state"))
}

/// The database of what proxies have stored.
pub fn database() -> Result<PathBuf, Error> {
    let folder = state().ok_or(Error::NoState)?;
    Ok(folder.join("state.db"))
}

/// The store of what servers of this machine must know together.
pub fn store() -> Result<PathBuf, Error> {
    let folder = state().ok_or(Error::NoState)?;
    Ok(folder.join("serve.db"))
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

/// The prompts that the user has typed into `acp-chain try`, beside the log.
pub fn history() -> Option<PathBuf> {
    Some(log_file()?.with_file_name("history"))
}

/// The folders in which the socket for MCP clients may be.
pub fn sockets() -> Vec<PathBuf> {
    local::places()
}

/// The user's files of this program: what they are, where, and of which kind.
fn kept() -> impl Iterator<Item = (&'static str, PathBuf, UserFiles)> {
    // It has the powers that the user agreed to.
    let lock = config_file().map(|file| Lock::beside(&file));
    let files = [
        ("your config.toml", config_file(), UserFiles::Settings),
        ("the lock of your config.toml", lock, UserFiles::Settings),
        ("compiled code", code_cache(), UserFiles::Cache),
        ("installed extensions", extensions(), UserFiles::Data),
        ("installed agents", agents(), UserFiles::Data),
        ("your decisions about projects", trust(), UserFiles::Data),
        ("backups of configurations", setups(), UserFiles::Data),
        ("what proxies have stored", state(), UserFiles::Data),
        ("the log", log_file(), UserFiles::State),
        ("the history of prompts", history(), UserFiles::State),
    ];
    let files = files.into_iter();
    files.filter_map(|(what, path, place)| Some((what, path?, place)))
}

/// An error if our user may not write in this folder, which need not exist yet. Commands that change something there
/// ask first, before they fetch anything, or ask the user.
pub fn check_writable(folder: &Path) -> Result<(), Error> {
    let Err(refusal) = writable::check(folder) else {
        return Ok(());
    };
    let is_there =
        |place: &Path| folder.starts_with(place) || place.parent().is_some_and(|up| up == folder);
    let found = kept().find(|(_, place, _)| is_there(place));
    let (what, other) = match found {
        Some((what, _, place)) => (what, place.step(UserFiles::YOURS)),
        None => ("a file", "name another place".to_owned()),
    };
    let step = refusal.step.as_deref().unwrap_or("make it writable");
    Err(Error::Unwritable {
        what,
        path: Untrusted::new(folder.display()).to_string(),
        next: format!("{step}, or {other}"),
        why: refusal.to_string(),
    })
}

/// An error if other users could change the user's files, or this program's, or if a named folder does not exist.
pub fn check_owners() -> Result<(), Error> {
    // Otherwise decisions about projects would be missing without an error.
    named_data().map_or(Ok(()), check_data)?;
    let sockets = sockets().into_iter();
    let sockets = sockets.map(|path| ("the socket for MCP clients", path, UserFiles::Sockets));
    for (what, path, place) in kept().chain(sockets) {
        check_owner(&path).map_err(|why| Error::Exposed {
            what,
            path: Untrusted::new(path.display()).to_string(),
            why,
            step: place.step(UserFiles::YOURS),
        })?;
    }
    Ok(())
}

/// An error if a folder that is named for the user's data does not exist.
pub fn check_data(data: &Path) -> Result<(), Error> {
    if data.is_dir() {
        return Ok(());
    }
    Err(Error::NoData(Untrusted::new(data.display()).to_string()))
}

/// An error if other users can change a file or directory, or replace it. The folders up to the user's home are
/// checked; those above belong to the system.
pub fn check_owner(path: &Path) -> Result<(), String> {
    let home = BaseDirs::new().map(|folders| trail::names(folders.home_dir()));
    let home = home.and_then(|mut names| names.pop()).unwrap_or_default();
    let names = trail::names(path).into_iter();
    let mut below = names.filter(|name| *name == home || !home.starts_with(name));
    below.try_for_each(|name| files::check_owner(&name).map_err(|exposed| exposed.to_string()))
}

/// The user's settings for all chains. Those of `serve` are checked, too: a mistake should not wait until it runs.
pub fn user() -> Result<User, ManifestError> {
    match config_file() {
        Some(path) if is_config_named() => named_user(&path),
        Some(path) => checked(User::read(&path)?),
        None => Ok(User::default()),
    }
}

/// The settings in this file, which must exist.
pub fn named_user(path: &Path) -> Result<User, ManifestError> {
    checked(User::read_named(path)?)
}

fn checked(user: User) -> Result<User, ManifestError> {
    ServeSettings::of(&user)?;
    Ok(user)
}

/// The user's settings, and the extensions.
pub fn settings() -> Result<(User, Installed), Error> {
    let user = user()?;
    let installed = installed(&user)?;
    Ok((user, installed))
}

/// The ids of the proxies in the user's own chain.
pub fn own_proxies() -> Result<Vec<String>, Error> {
    let (user, installed) = settings()?;
    let own = Manifest::of_user(&user, &installed)?;
    Ok(own.proxies.into_iter().map(|entry| entry.id).collect())
}

/// Extensions that are installed or built in, and those that must not run.
pub fn installed(user: &User) -> Result<Installed, Error> {
    installed_in(None, user)
}

/// What [`installed`] has, with this folder of a user's data or else the usual one.
pub fn installed_in(data: Option<&Path>, user: &User) -> Result<Installed, Error> {
    let folder = within(data, "extensions");
    let revoked = match (&folder, &user.revocations) {
        (Some(folder), Some(revocations)) => Revoked::read(folder, &revocations.key)?,
        _ => Revoked::default(),
    };
    Ok(Installed {
        store: folder.map(|folder| Store::open(&folder)),
        carried: carried()?,
        revoked,
    })
}

/// The built-in extensions.
pub fn carried() -> Result<Carried, Error> {
    let carried = env::current_exe().and_then(|program| Carried::by(&program));
    carried.map_err(Error::Program)
}

/// The user's decisions about projects.
pub fn records() -> Result<Records, Error> {
    let folder = trust().ok_or(Error::NoTrust)?;
    Ok(Records::open(&folder))
}

/// An engine with the user's cache of compiled code, if there is a place for it that no other user can change.
pub fn engine() -> Result<Engine, EngineError> {
    let cache = code_cache();
    match &cache {
        // `Engine::new` reports a folder that cannot be created.
        Some(cache) => drop(files::make_private(cache)),
        None => tracing::warn!("there is no home folder: compiled components are not kept"),
    }
    // Not every command checks all owners, and what is kept runs with the user's rights.
    let own = cache.filter(|cache| {
        let checked = check_owner(cache);
        let warn = |why: &String| tracing::warn!("compiled components are not kept: {why}");
        checked.inspect_err(warn).is_ok()
    });
    Ok(Engine::new(own.as_deref())?.compiling_by(compile::apart))
}
