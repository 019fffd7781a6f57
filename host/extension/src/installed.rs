//! Resolves extension names of a manifest: by its lock and the store, or else by the built-in extensions.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};

use acp_chain_package::{Package, PackageError};
use bytes::Bytes;

use super::carried::{Carried, Extension};
use super::{Digest, Lock, LockError, Release, Revocation, Revoked, Store, StoreError, Stored};
use acp_chain_rpc::untrusted::{MAX_QUOTE, quote};

/// The installed extensions.
#[derive(Clone, Debug, Default)]
pub struct Installed {
    /// The fetched extensions; `None` if there is no folder for them.
    pub store: Option<Store>,
    /// The built-in extensions.
    pub carried: Carried,
    /// The extensions that must not run, fetched or built in.
    pub revoked: Revoked,
}

/// The location of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file.
    File(PathBuf),
    /// A component in the store.
    Stored(Stored),
    /// A file that was read already, with its content.
    Read(PathBuf, Bytes),
    /// A built-in extension.
    Carried(Extension),
}

impl Location {
    /// The path of the file; `None` for a built-in extension.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Stored(Stored { path, .. }) | Self::Read(path, _) => {
                Some(path)
            }
            Self::Carried(_) => None,
        }
    }

    /// The component's package.
    pub fn package(&self) -> Result<Package, PackageError> {
        match self {
            Self::File(path) | Self::Stored(Stored { path, .. }) => {
                Package::read(BufReader::new(File::open(path)?))
            }
            Self::Read(_, component) => Package::read(Cursor::new(component)),
            Self::Carried(extension) => Package::read(extension.component()?),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::File(path) | Self::Stored(Stored { path, .. }) | Self::Read(path, _) => {
                write!(f, "{}", path.display())
            }
            Self::Carried(extension) => write!(f, "{}, which comes with acp-chain", extension.name),
        }
    }
}

/// A resolved extension.
#[derive(Clone, Debug)]
pub struct Found {
    /// The location of the component.
    pub location: Location,
    /// The package of the component.
    pub package: Package,
    /// The release in the lock. A built-in extension need not be locked: naming it is consent to its powers.
    pub locked: Option<Release>,
}

/// Why a name cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub enum NotInstalled {
    /// The name is unknown.
    #[error(
        "`{name}` is not installed{available}; `acp-chain add SOURCE` installs it, from a file, a URL or a \
         registry"
    )]
    Unknown {
        /// The name.
        name: String,
        /// The end of the message: the known names.
        available: String,
    },
    /// The extension is revoked.
    #[error("`{0}`: {1}")]
    Revoked(String, Box<Revocation>),
    /// The component is missing in the store.
    #[error("`{name}`: {digest} is not installed; `acp-chain install{manifest}` fetches it")]
    Missing {
        /// The name.
        name: String,
        /// The digest in the lock.
        digest: Digest,
        /// The option that names the manifest, if it is not the user's own file.
        manifest: String,
    },
    /// The component is damaged, or cannot be read.
    #[error("`{0}`: {1}")]
    Store(String, StoreError),
    /// The lock has the wrong size of the component.
    #[error(transparent)]
    Lock(LockError),
    /// The component has no valid package.
    #[error("`{}` in {}: {}", .0, .1, quote(&.2.to_string(), MAX_QUOTE))]
    Package(String, Box<Location>, PackageError),
}

impl Installed {
    /// Resolves a name, for a manifest with this lock.
    pub fn find(&self, name: &str, lock: &Lock) -> Result<Found, NotInstalled> {
        let locked = lock.get(name).map(|locked| locked.agreed.clone());
        let (digest, location) = match &locked {
            Some(release) => (release.digest, self.locate(name, release, lock)?),
            None => {
                let carried = self.carried.named(name).cloned();
                let carried = carried.ok_or_else(|| self.unknown(name, lock))?;
                (carried.digest, Location::Carried(carried))
            }
        };
        let revoked = self.revoked.check(&digest);
        revoked.map_err(|revocation| NotInstalled::Revoked(name.to_owned(), revocation.into()))?;
        let package = location.package();
        let package = package.map_err(|error| {
            NotInstalled::Package(name.to_owned(), location.clone().into(), error)
        })?;
        Ok(Found {
            location,
            package,
            locked,
        })
    }

    /// The location of a release's component.
    fn locate(&self, name: &str, release: &Release, lock: &Lock) -> Result<Location, NotInstalled> {
        if let Some(extension) = self.carried.of_digest(&release.digest) {
            return Ok(Location::Carried(extension.clone()));
        }
        let stored = match &self.store {
            Some(store) => store.sized(&release.digest, release.size),
            None => Err(StoreError::Missing(release.digest)),
        };
        stored.map(Location::Stored).map_err(|error| match error {
            StoreError::OtherSize(_, actual) => NotInstalled::Lock(lock.wrong_size(name, actual)),
            StoreError::Missing(digest) => NotInstalled::Missing {
                name: name.to_owned(),
                digest,
                manifest: option(lock),
            },
            error => NotInstalled::Store(name.to_owned(), error),
        })
    }

    fn unknown(&self, name: &str, lock: &Lock) -> NotInstalled {
        let locked = lock.extensions().map(|locked| &*locked.name);
        let carried = self.carried.iter().map(|extension| &*extension.name);
        let known: Vec<_> = locked.chain(carried).collect();
        let near = nearest(name, &known);
        let near = near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
        NotInstalled::Unknown {
            name: quote(name, MAX_QUOTE),
            available: if known.is_empty() {
                ", nor does any extension come with this program, as they do with that of `cargo xtask install`".to_owned()
            } else {
                format!("{near}; there are `{}`", known.join("`, `"))
            },
        }
    }
}

/// The option that names the manifest of a lock, unless that is the user's own file.
fn option(lock: &Lock) -> String {
    let manifest = lock.path().with_extension("toml");
    if manifest.ends_with("config.toml") {
        return String::new();
    }
    let path = manifest.display().to_string();
    format!(" --manifest {}", quote(&path, MAX_QUOTE))
}

/// The most similar of these names, if any is similar.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let like = |other: &str| strsim::jaro_winkler(other, name);
    let near = known
        .iter()
        .copied()
        .max_by(|one, other| like(one).total_cmp(&like(other)));
    near.filter(|near| like(near) > 0.7)
}
