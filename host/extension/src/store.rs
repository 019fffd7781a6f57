//! The store: a folder of installed components, each named by its digest.
//!
//! ```text
//! extensions/
//!   sha256/HEX.wasm   a component
//!   users/HEX         the path of a lock file; HEX is the digest of that path
//!   lock              locked by a process that changes the store
//! ```
//!
//! A component is complete or missing, and never changed. Its digest is checked before it is added, and whenever it is
//! compiled; at each start only its size is checked. More checks would not help against attackers, since a program that
//! can change the store can also change acp-chain. A corrupted file is detected when it is compiled: compiled code is
//! cached by digest.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{Digest, Lock, LockError};
use acp_chain_disk::{self as disk, DiskError};
use acp_chain_rpc::untrusted::Untrusted;
use acp_chain_system::files;

/// A folder of components.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Why a store cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system reports an error.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A component does not match its digest.
    #[error(
        "{} is damaged: remove it, then `acp-chain install` fetches it again",
        Untrusted::new(.0.display())
    )]
    Damaged(PathBuf),
    /// A component matches its digest, but not the size in its lock.
    #[error(
        "{} has {} bytes, but the lock has another size; correct the lock",
        Untrusted::new(.0.display()), .1
    )]
    OtherSize(PathBuf, u64),
    /// A component is missing.
    #[error("{0} is not installed; `acp-chain install` fetches it")]
    Missing(Digest),
    /// A lock file cannot be read, so its components are unknown.
    #[error("nothing was removed, since the components in use are unknown: {0}")]
    Lock(#[from] LockError),
}

/// Access to a store for changes. Only one process has it at a time.
#[derive(Debug)]
pub struct Changing<'s> {
    store: &'s Store,
    _lock: File,
}

/// The result of [`Changing::collect`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectOutcome {
    /// The number of removed components.
    pub components: usize,
    /// The size of the removed components in bytes.
    pub bytes: u64,
}

/// A component in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The path of the file. Its content has not been checked.
    pub path: PathBuf,
    /// The digest in the file's name.
    pub digest: Digest,
}

impl Stored {
    /// Reads the component, and checks its digest.
    pub fn read(&self) -> Result<Vec<u8>, StoreError> {
        let bytes = fs::read(&self.path).map_err(at(&self.path))?;
        if Digest::of(&bytes) == self.digest {
            Ok(bytes)
        } else {
            Err(StoreError::Damaged(self.path.clone()))
        }
    }
}

impl Store {
    /// The store in a folder, which need not exist yet.
    pub fn open(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a component; `None` if it is not installed. The content is not checked.
    pub fn find(&self, digest: &Digest) -> Option<PathBuf> {
        Some(self.path(digest)).filter(|path| path.is_file())
    }

    /// Finds a component, and checks its size: the check at each start.
    pub fn sized(&self, digest: &Digest, size: u64) -> Result<Stored, StoreError> {
        let stored = self.stored(digest)?;
        let about = fs::metadata(&stored.path).map_err(at(&stored.path))?;
        let actual = about.len();
        if actual == size {
            return Ok(stored);
        }
        // If the digest matches, the lock is wrong.
        stored.read()?;
        let path = stored.path;
        Err(StoreError::OtherSize(path, actual))
    }

    /// Reads a component, and checks its digest.
    pub fn read(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        self.stored(digest)?.read()
    }

    /// All components, in no particular order. Their content is not checked.
    pub fn all(&self) -> Result<Vec<Stored>, StoreError> {
        let folder = self.components();
        let entries = match fs::read_dir(&folder) {
            Err(error) if disk::is_absent(&error) => return Ok(Vec::new()),
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

    /// Locks the store for changes, and removes temporary files of killed processes. Waits for other processes.
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

    /// The registered lock files: the path of each entry in `users`, and that of the lock file.
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

    /// Registers and writes a lock file. New components must have been added before; old ones may be missing.
    pub fn write(&self, lock: &Lock) -> Result<(), StoreError> {
        self.used_by(lock.path())?;
        // It is a file of the user, as the manifest beside it.
        self.write_manifest(lock.path(), &lock.to_string())
    }

    /// Writes a manifest. Its lock must have been written before.
    pub fn write_manifest(&self, path: &Path, text: &str) -> Result<(), StoreError> {
        if let Some(folder) = path.parent() {
            files::make_private(folder).map_err(at(folder))?;
        }
        let path = &behind_links(path);
        disk::write_shared(path, text.as_bytes()).map_err(at(path))
    }

    /// Writes a file of this name into the store's folder.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.store.folder.join(name);
        disk::write(&path, bytes).map_err(at(&path))
    }

    /// Registers a lock file: [`collect`](Self::collect) keeps its components.
    pub fn used_by(&self, lock: &Path) -> Result<(), StoreError> {
        let Some(text) = lock.to_str() else {
            let error = io::Error::other("the path of a lock file must be UTF-8");
            return Err(at(lock)(error));
        };
        let entry = self.store.users().join(Digest::of(text.as_bytes()).hex());
        if entry.exists() {
            Ok(())
        } else {
            disk::write(&entry, text.as_bytes()).map_err(at(&entry))
        }
    }

    /// Removes the components that neither a registered lock file nor one of `locks` names.
    pub fn collect(&self, locks: &[PathBuf]) -> Result<CollectOutcome, StoreError> {
        let mut used = Vec::new();
        for path in locks {
            used.extend(Lock::read(path)?.digests());
        }
        for (entry, path) in self.store.lock_files()? {
            let lock = Lock::read(&path)?;
            if lock.is_empty() {
                disk::remove(&entry).map_err(at(&entry))?;
            } else {
                used.extend(lock.digests());
            }
        }
        let used: Vec<_> = used.iter().map(|digest| self.store.path(digest)).collect();
        let components = self.store.components();
        let mut collected = CollectOutcome::default();
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

/// Resolves symbolic links, which users often have in place of settings.
fn behind_links(path: &Path) -> PathBuf {
    files::real(path).unwrap_or_else(|_| path.to_owned())
}

fn at(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| DiskError::new(path, error).into()
}

#[cfg(test)]
mod tests;
