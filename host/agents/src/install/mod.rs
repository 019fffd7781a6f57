//! Fetches an agent from a registry into a folder of its own, where it is complete before the user confirms.

mod binary;
pub(crate) mod launch;
mod npm;
mod python;
mod spec;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::error::Error;
use crate::record::Record;
use crate::registry::{Entry, Offer, Registry};
use crate::store::Changing;
use crate::web::Web;

/// An agent to be installed.
pub struct Install<'i> {
    /// The store.
    pub changing: &'i Changing<'i>,
    /// The registry that names it.
    pub registry: &'i Registry,
    /// Its entry there.
    pub entry: &'i Entry,
    /// The kind of installation.
    pub offer: Offer<'i>,
    /// The installed version.
    pub before: Option<&'i Record>,
    /// Fetches archives.
    pub web: &'i dyn Web,
}

/// An agent that was fetched, but not installed yet. Unless it is installed, it is removed.
#[derive(Debug)]
pub struct Staged {
    /// Its future record.
    pub record: Record,
    /// Its size, in bytes.
    pub size: u64,
    /// Notes for the user, such as parts that were left out.
    pub notes: Vec<String>,
    room: TempDir,
}

/// A version of an agent, before it is unpacked.
struct Release {
    version: String,
    source: String,
    digest: String,
}

/// A version of an agent, unpacked.
struct UnpackedAgent {
    release: Release,
    command: Vec<String>,
    notes: Vec<String>,
}

impl Install<'_> {
    /// Fetches the version in the registry, unless it is installed.
    ///
    /// # Errors
    /// If it cannot be fetched, or is invalid.
    pub fn stage(&self) -> Result<Option<Staged>, Error> {
        let room = self.changing.room(&self.entry.id, &self.entry.version)?;
        let found = match self.offer {
            Offer::Binary(archive) => binary::get(self, archive, room.path())?,
            Offer::Npx(package) => npm::get(self, package, room.path())?,
            Offer::Uvx(package) => python::get(self, package, room.path())?,
        };
        let Some(unpacked) = found else {
            return Ok(None);
        };
        let release = unpacked.release;
        let (args, env) = self.offer.launch();
        let record = Record {
            name: self.entry.id.clone(),
            kind: self.offer.kind(),
            version: Some(release.version),
            registry: Some(self.registry.location.to_string()),
            source: Some(release.source),
            digest: Some(release.digest),
            folder: Some(room.path().to_owned()),
            command: unpacked.command,
            args: args.to_vec(),
            env: env.clone(),
        };
        let size = size(room.path()).map_err(Error::disk(room.path()))?;
        Ok(Some(Staged {
            record,
            size,
            notes: unpacked.notes,
            room,
        }))
    }

    /// Whether a release is installed, complete, and launched as the registry requires: `command` returns the
    /// registry's command for a folder. An error if a release of the same version, but with another digest, is
    /// installed.
    fn is_installed(
        &self,
        release: &Release,
        command: impl FnOnce(&Path) -> Result<Vec<String>, Error>,
    ) -> Result<bool, Error> {
        let version = Some(&release.version);
        let is_of_it = |record: &&Record| {
            record.kind == self.offer.kind() && record.version.as_ref() == version
        };
        let Some(before) = self.before.filter(is_of_it) else {
            return Ok(false);
        };
        if let Some(digest) = &before.digest
            && *digest != release.digest
        {
            return Err(Error::Moved {
                name: before.name.clone(),
                what: release.source.clone(),
                version: release.version.clone(),
                before: digest.clone(),
                actual: release.digest.clone(),
            });
        }
        // The words before the program are its interpreter, which may have moved.
        let is_same = |folder: &Path| {
            let command = command(folder);
            command.is_ok_and(|command| command.last() == before.command.last())
        };
        let (args, env) = self.offer.launch();
        Ok(before.check().is_ok()
            && before.args == args
            && before.env == *env
            && before.folder.as_deref().is_some_and(is_same))
    }

    fn wrong(&self, wrong: String) -> Error {
        self.registry.wrong(&self.entry.id, wrong)
    }
}

impl Staged {
    /// Installs it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(self, changing: &Changing) -> Result<Record, Error> {
        changing.put(&self.record, Some(self.room))?;
        Ok(self.record)
    }
}

/// A path for a record.
fn written(path: &Path) -> Result<String, Error> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::disk(path)(std::io::Error::other("this path is not UTF-8")))
}

/// The number of bytes in a folder.
fn size(folder: &Path) -> std::io::Result<u64> {
    let mut all = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        all += if about.is_dir() {
            size(&entry.path())?
        } else {
            about.len()
        };
    }
    Ok(all)
}
