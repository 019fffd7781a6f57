//! The files that commands about extensions change: a manifest, or the user's own file, with its lock, and the store.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use acp_chain_extension::{Digest, Lock, LockError, Locked, Release, Store};
use acp_chain_manifest::{Edit, ManifestError};
use acp_chain_package::Package;
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};
use acp_chain_system::files::real;

use crate::{Error, home, shell};

/// What a command changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Nothing.
    Nothing,
    /// The installed extensions, and perhaps the lock.
    Store,
    /// The manifest, too.
    Manifest,
}

/// The files of a command.
pub struct Place {
    /// The manifest, by its absolute path.
    pub manifest: PathBuf,
    /// The installed extensions.
    pub store: Store,
}

impl Place {
    /// The files of a command about this manifest, or about the user's own file. Fails if there is no place for them, if
    /// other users could change them, or if what the command changes cannot be written.
    pub fn open(named: Option<PathBuf>, changes: Changes) -> Result<Self, Error> {
        home::check_owners()?;
        let is_named = named.is_some();
        let manifest = match named {
            Some(path) => std::path::absolute(path).map_err(Error::Io)?,
            None => home::config_file().ok_or(Error::NoExtensions)?,
        };
        let place = Self {
            manifest,
            store: Store::open(&home::extensions().ok_or(Error::NoExtensions)?),
        };
        if changes == Changes::Nothing && is_named && !place.manifest.exists() {
            return Err(Error::NoManifest(place.shown()));
        }
        if changes != Changes::Nothing {
            home::check_writable(place.store.folder())?;
            place.check_lock()?;
        }
        if changes == Changes::Manifest {
            place.check_manifest()?;
        }
        Ok(place)
    }

    /// An error if the manifest cannot be written. A link stays, and the file behind it is replaced.
    fn check_manifest(&self) -> Result<(), Error> {
        let manifest = real(&self.manifest).unwrap_or_else(|_| self.manifest.clone());
        let folder = manifest.parent().unwrap_or(&manifest);
        home::check_writable(folder)
    }

    /// An error if the lock is a link, and the manifest, which the user has named, is none: in a repository of others, the
    /// lock could lead to the user's own one.
    fn check_lock(&self) -> Result<(), Error> {
        let lock = Lock::beside(&self.manifest);
        let is_link = |path: &Path| {
            let about = path.symlink_metadata();
            about.is_ok_and(|about| about.is_symlink())
        };
        let is_own = home::config_file().as_ref() == Some(&self.manifest);
        if is_own || !is_link(&lock) || is_link(&self.manifest) {
            return Ok(());
        }
        let lock = quote(&lock.display().to_string(), MAX_QUOTE);
        Err(Error::LinkedLock(lock))
    }

    /// The manifest, for people.
    pub fn shown(&self) -> String {
        quote(&self.manifest.display().to_string(), MAX_QUOTE)
    }

    /// The option that names the manifest in a command, with a space before it; empty for the user's own.
    pub fn option(&self) -> String {
        if home::config_file().as_ref() == Some(&self.manifest) {
            String::new()
        } else {
            format!(" --manifest {}", shell::word(&self.manifest))
        }
    }

    /// What is said if nothing is locked.
    pub fn without_extensions(&self) -> String {
        format!(
            "{} uses no extension that was added; those that come with acp-chain change with it.",
            self.shown()
        )
    }

    /// The folder to which paths in the lock are relative.
    pub fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new("/"))
    }

    /// The current lock.
    pub fn lock(&self) -> Result<Lock, LockError> {
        Lock::read(&Lock::beside(&self.manifest))
    }

    /// The package of a component, if that is stored.
    pub fn package(&self, digest: &Digest) -> Option<Package> {
        let component = self.store.read(digest).ok()?;
        Package::read(Cursor::new(&component)).ok()
    }

    /// The current manifest.
    pub fn edit(&self) -> Result<Edit, ManifestError> {
        Edit::read(&self.manifest)
    }
}

/// The release that the user agreed to, with the package of its component, if that is at hand. Locks of older programs do
/// not say that an extension is a guard; its component does.
pub fn agreed(locked: &Locked, package: Option<&Package>) -> Release {
    let mut agreed = locked.agreed.clone();
    agreed.guard |= package.is_some_and(|package| package.asks.guard);
    agreed
}
