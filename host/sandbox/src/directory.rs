//! Directories that the user grants to a proxy.
//!
//! Each directory is opened once, before the chain runs, and every instance of the proxy gets the opened directory,
//! even if its path leads elsewhere later. No symbolic link and no `..` leads out of it.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Semaphore;
use wasmtime_wasi::filesystem::WasiFilesystemCtx;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use super::opening::AT_A_TIME;
use acp_chain_rpc::untrusted::Untrusted;
pub use acp_chain_system::files::Identity;
use acp_chain_system::files::real;
pub use acp_chain_system::{directory, mounts};

/// A directory as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The directory itself.
    pub path: PathBuf,
    /// Its name for the proxy.
    pub name: String,
    /// Whether the proxy may also write there.
    pub write: bool,
}

/// An open directory.
#[derive(Debug)]
pub struct Opened {
    /// The directory, with the path without links.
    pub directory: Directory,
    /// The path by which the directory was opened, which may contain links.
    pub by: PathBuf,
    /// The mount points below the directory, and the type of each file system.
    pub mounts: Vec<(PathBuf, String)>,
    handle: directory::Directory,
}

/// The directories of one proxy. Cloning them shares them.
#[derive(Clone)]
pub struct Directories {
    opened: Arc<[Opened]>,
    /// The files of every instance.
    files: WasiFilesystemCtx,
    opens: Arc<Semaphore>,
}

/// Why a directory cannot be granted to a proxy.
#[derive(Debug, thiserror::Error)]
#[error("its directory {} cannot be opened: {why}", Untrusted::new(path.display()))]
pub struct DirectoryError {
    path: PathBuf,
    why: String,
}

impl fmt::Debug for Directories {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Directories {
    /// Opens directories.
    pub fn open(directories: &[Directory]) -> Result<Self, DirectoryError> {
        let mut wasi = WasiCtxBuilder::new();
        let mut opened = Vec::new();
        for directory in directories {
            let wrong = |why| DirectoryError {
                path: directory.path.clone(),
                why,
            };
            let one = Opened::new(directory).map_err(wrong)?;
            let perms = if directory.write {
                FsPerms::ReadWrite
            } else {
                FsPerms::ReadOnly
            };
            let handle = one.handle.handle();
            handle
                .map_err(wasmtime::Error::from)
                .and_then(|handle| wasi.preopened_dir(handle, &directory.name, perms).map(drop))
                .map_err(|error| wrong(error.to_string()))?;
            opened.push(one);
        }
        Ok(Self {
            opened: opened.into(),
            files: wasi.build().filesystem().clone(),
            opens: Arc::new(Semaphore::new(AT_A_TIME)),
        })
    }

    /// The opened directories.
    pub fn iter(&self) -> impl Iterator<Item = &Opened> {
        self.opened.iter()
    }

    /// The handles of the directories, with whether the proxy may write there.
    pub fn handles(&self) -> impl Iterator<Item = (&directory::Directory, bool)> {
        let opened = self.opened.iter();
        opened.map(|opened| (&opened.handle, opened.directory.write))
    }

    /// The semaphore for opening files, shared by all instances.
    pub(super) fn opens(&self) -> Arc<Semaphore> {
        self.opens.clone()
    }

    /// The files that an instance may open.
    pub(super) fn files(&self) -> WasiFilesystemCtx {
        self.files.clone()
    }
}

impl Opened {
    fn new(directory: &Directory) -> Result<Self, String> {
        let handle = directory::Directory::open(&directory.path)
            .map_err(|error| why(&directory.path, &error))?;
        let path = handle.path().map_err(|error| error.to_string())?;
        let (on, below) = mounts::within(&path);
        let is_made_up = |mount: &&mounts::Mount| mount.is_made_up();
        if let Some(mount) = on.iter().chain(&below).find(is_made_up) {
            let (place, kind) = (
                Untrusted::new(mount.path.display()),
                Untrusted::new(&mount.kind),
            );
            return Err(format!(
                "{place} ({kind}) has no files, but shows processes, devices and the kernel; give the proxy a \
                 directory without it"
            ));
        }
        let below = below.into_iter().map(|mount| (mount.path, mount.kind));
        Ok(Self {
            directory: Directory {
                path,
                ..directory.clone()
            },
            by: directory.path.clone(),
            mounts: below.collect(),
            handle,
        })
    }
}

impl Opened {
    /// The identity of the directory; `None` if it cannot be read.
    pub fn identity(&self) -> Option<Identity> {
        Identity::of(&self.handle.handle().ok()?)
    }
}

/// Why a path does not lead to a directory that can be opened.
fn why(path: &Path, error: &io::Error) -> String {
    // With a trailing slash, a path would follow a link.
    let path: PathBuf = path.components().collect();
    match fs::symlink_metadata(&path) {
        Ok(about) if about.is_symlink() => {
            let target = real(&path).or_else(|_| fs::read_link(&path));
            let target = target.unwrap_or_default();
            format!(
                "it is a link to {0}, and a link may lead elsewhere tomorrow; write {0} in its place",
                Untrusted::new(target.display())
            )
        }
        Ok(about) if !about.is_dir() => {
            "it is not a directory; grant the directory that contains it".to_owned()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            "it does not exist; create it, or write another path".to_owned()
        }
        _ => error.to_string(),
    }
}

impl Default for Directories {
    fn default() -> Self {
        Self {
            opened: Arc::default(),
            files: WasiFilesystemCtx::default(),
            opens: Arc::new(Semaphore::new(AT_A_TIME)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Result<Opened, String> {
        Opened::new(&Directory {
            path: path.to_owned(),
            name: "/it".to_owned(),
            write: false,
        })
    }

    #[test]
    fn an_open_directory_is_the_same_one_after_its_path_leads_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (given, moved) = (folder.path().join("given"), folder.path().join("moved"));
        fs::create_dir(&given).unwrap();
        fs::write(given.join("file"), "inside").unwrap();
        let opened = open(&given).unwrap();
        fs::rename(&given, &moved).unwrap();
        fs::create_dir(&given).unwrap();
        let file = opened.handle.handle().unwrap().join("file");
        assert_eq!(fs::read_to_string(file).unwrap(), "inside");
    }

    #[test]
    fn an_open_directory_has_its_path_without_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(real.join("a/given")).unwrap();
        let opened = open(&real.join("a/../a/given/.")).unwrap();
        assert_eq!(opened.directory.path, real.join("a/given"));
    }
}
