//! The installed components, each named by its digest.
//!
//! ```text
//! extensions/
//!   sha256/HEX.wasm   a component
//!   users/HEX         the path of a lock file, and HEX the digest of that path
//!   lock              locked by whoever adds or removes something
//! ```
//!
//! A component is complete or missing, and never changed. Its digest is checked before it is added, and again whenever
//! it is compiled; at each start only its size is. More checks would keep nobody out, since whoever can change it can
//! change the program as well; and a corrupted file is not in the cache of compiled code, so it is detected when it is
//! recompiled.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{Digest, Lock, LockError, disk};
use crate::system::files;
use crate::untrusted::Untrusted;

/// Components in a folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Why something cannot be found in a store, or added to it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system reports an error.
    #[error("{}: {error}{}", Untrusted::new(path.display()), next_step(error))]
    Disk {
        /// The path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// A component does not match its name.
    #[error(
        "{} is damaged: remove it, then `acp-chain install` fetches it again",
        Untrusted::new(path.display())
    )]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// A component is whole, and its lock is wrong about its size.
    #[error(
        "{} has {actual} bytes, as it should; its lock says otherwise",
        Untrusted::new(path.display())
    )]
    OtherSize {
        /// The file.
        path: PathBuf,
        /// Its size.
        actual: u64,
    },
    /// A component is missing.
    #[error("{0} is not installed; `acp-chain install` fetches it")]
    Missing(Digest),
    /// A lock file cannot be read, so it may use anything.
    #[error("nothing was removed, since it is unknown what is in use: {0}")]
    Lock(#[from] LockError),
}

fn next_step(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; make room, then do it again. What was there still is",
        _ => "",
    }
}

/// The right to change a store, which one process has at a time.
#[derive(Debug)]
pub struct Changing<'s> {
    store: &'s Store,
    _lock: File,
}

/// The result of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The number of removed components.
    pub components: usize,
    /// Their size in bytes.
    pub bytes: u64,
}

/// A component in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its file, whose content has not been checked.
    pub path: PathBuf,
    /// Its digest.
    pub digest: Digest,
}

impl Stored {
    /// The content, with its digest checked.
    pub fn read(&self) -> Result<Vec<u8>, StoreError> {
        let bytes = fs::read(&self.path).map_err(at(&self.path))?;
        match Digest::of(&bytes) == self.digest {
            true => Ok(bytes),
            false => Err(StoreError::Damaged {
                path: self.path.clone(),
            }),
        }
    }
}

impl Store {
    /// The store in a folder, which need not exist yet.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of a component, if it is installed. Its content is not checked.
    #[must_use]
    pub fn find(&self, digest: &Digest) -> Option<PathBuf> {
        Some(self.path(digest)).filter(|path| path.is_file())
    }

    /// A component of this size: the check at each start.
    pub fn sized(&self, digest: &Digest, size: u64) -> Result<Stored, StoreError> {
        let stored = self.stored(digest)?;
        let about = fs::metadata(&stored.path).map_err(at(&stored.path))?;
        let actual = about.len();
        if actual == size {
            return Ok(stored);
        }
        // Only one of the two is wrong.
        stored.read()?;
        let path = stored.path;
        Err(StoreError::OtherSize { path, actual })
    }

    /// The content of a component, with its digest checked.
    pub fn read(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        self.stored(digest)?.read()
    }

    /// All components, by name. Their content is not checked.
    pub fn all(&self) -> Result<Vec<Stored>, StoreError> {
        let folder = self.components();
        let entries = match fs::read_dir(&folder) {
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            entries => entries.map_err(at(&folder))?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let path = entry.map_err(at(&folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let hex = name.and_then(|name| name.strip_suffix(".wasm"));
            let digest = hex.and_then(|hex| format!("sha256:{hex}").parse().ok());
            all.extend(digest.map(|digest| Stored { path, digest }));
        }
        Ok(all)
    }

    /// The lock files that name a component.
    pub fn users_of(&self, digest: &Digest) -> Result<Vec<PathBuf>, StoreError> {
        let names = |path: &PathBuf| {
            Lock::read(path).is_ok_and(|lock| lock.digests().any(|named| named == *digest))
        };
        let locks = self.lock_files()?.into_iter().map(|(_, path)| path);
        Ok(locks.filter(names).collect())
    }

    fn stored(&self, digest: &Digest) -> Result<Stored, StoreError> {
        let path = self.find(digest).ok_or(StoreError::Missing(*digest))?;
        let digest = *digest;
        Ok(Stored { path, digest })
    }

    /// Locks the store for changes.
    pub fn change(&self) -> Result<Changing<'_>, StoreError> {
        for folder in [self.components(), self.users()] {
            files::make_private(&folder).map_err(at(&folder))?;
        }
        let path = self.folder.join("lock");
        let lock = files::append_private(&path).map_err(at(&path))?;
        lock.lock().map_err(at(&path))?;
        let changing = Changing {
            store: self,
            _lock: lock,
        };
        for folder in [self.folder.clone(), self.components(), self.users()] {
            disk::sweep(&folder).map_err(at(&folder))?;
        }
        Ok(changing)
    }

    fn components(&self) -> PathBuf {
        self.folder.join("sha256")
    }

    fn users(&self) -> PathBuf {
        self.folder.join("users")
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.components().join(format!("{}.wasm", digest.hex()))
    }

    /// The lock files that may use components.
    fn lock_files(&self) -> Result<Vec<(PathBuf, PathBuf)>, StoreError> {
        let users = self.users();
        let entries = fs::read_dir(&users).map_err(at(&users))?;
        let read = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.map_err(at(&users))?.path();
            let lock = fs::read_to_string(&entry).map_err(at(&entry))?;
            Ok((entry, PathBuf::from(lock)))
        };
        entries.map(read).collect()
    }
}

impl Changing<'_> {
    /// Adds a component. Returns its digest.
    pub fn add(&self, component: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(component);
        if !matches!(self.store.read(&digest), Ok(kept) if kept == component) {
            let path = self.store.path(&digest);
            disk::write(&path, component).map_err(at(&path))?;
        }
        Ok(digest)
    }

    /// Writes a lock file. Its components need not all be there: whoever names a new one has added it first.
    pub fn write(&self, lock: &Lock) -> Result<(), StoreError> {
        self.used_by(lock.path())?;
        if let Some(folder) = lock.path().parent() {
            files::make_private(folder).map_err(at(folder))?;
        }
        let path = &behind_links(lock.path());
        disk::write_shared(path, lock.to_string().as_bytes()).map_err(at(path))
    }

    /// Writes a manifest, which uses extensions of its lock.
    pub fn write_manifest(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        if let Some(folder) = path.parent() {
            files::make_private(folder).map_err(at(folder))?;
        }
        let path = &behind_links(path);
        disk::write_shared(path, text.as_bytes()).map_err(at(path))
    }

    /// Stores a file of this name beside the components.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.store.folder.join(name);
        disk::write(&path, bytes).map_err(at(&path))
    }

    /// Registers a lock file, whose components the store is to keep.
    pub fn used_by(&self, lock: &Path) -> Result<(), StoreError> {
        let Some(text) = lock.to_str() else {
            let error = io::Error::other("the path of a lock file must be UTF-8");
            return Err(at(lock)(error));
        };
        let entry = self.store.users().join(Digest::of(text.as_bytes()).hex());
        match entry.exists() {
            true => Ok(()),
            false => disk::write(&entry, text.as_bytes()).map_err(at(&entry)),
        }
    }

    /// Removes the components that no lock file names any more, nor one of these.
    pub fn collect(&self, locks: &[PathBuf]) -> Result<Collected, StoreError> {
        let mut used = Vec::new();
        for path in locks {
            used.extend(Lock::read(path)?.digests());
        }
        for (entry, path) in self.store.lock_files()? {
            let lock = Lock::read(&path)?;
            match lock.is_empty() {
                true => disk::remove(&entry).map_err(at(&entry))?,
                false => used.extend(lock.digests()),
            }
        }
        let used: Vec<_> = used.iter().map(|digest| self.store.path(digest)).collect();
        let components = self.store.components();
        let mut collected = Collected::default();
        for entry in fs::read_dir(&components).map_err(at(&components))? {
            let entry = entry.map_err(at(&components))?;
            let path = entry.path();
            if used.contains(&path) {
                continue;
            }
            let bytes = entry.metadata().map_err(at(&path))?.len();
            disk::remove(&path).map_err(at(&path))?;
            collected.components += 1;
            collected.bytes += bytes;
        }
        Ok(collected)
    }
}

/// Where a file really is: settings are often stored elsewhere, behind links.
fn behind_links(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn at(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::Disk {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests;
