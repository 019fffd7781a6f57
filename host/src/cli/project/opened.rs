//! An opened project: its manifest, and the directories of its proxies.

use crate::cli::relied_on::{self, Named};
use crate::extension::Installed;
use crate::manifest::{Manifest, User};
use crate::project::{Agreed, Content};
use crate::sandbox::Directories;
use crate::untrusted::Untrusted;

/// A project that has been read, and checked as far as possible without running it.
pub struct Opened {
    pub content: Content,
    pub manifest: Manifest,
    /// The directories granted to its proxies, in order.
    pub directories: Vec<Directories>,
}

impl Opened {
    /// Reads the rest of a project whose components were kept. The files in `named` are beside it.
    pub fn new(
        content: Content,
        user: &User,
        installed: &Installed,
        named: &Named,
    ) -> Result<Self, String> {
        let manifest = content.manifest(user, installed);
        let manifest = manifest.map_err(|error| error.to_string())?;
        for entry in &manifest.proxies {
            if let Some(stored) = content.stored(&entry.id) {
                let revoked = installed.revoked.check(&stored.digest);
                revoked.map_err(|revocation| manifest.about(entry, &revocation))?;
            }
        }
        let directories = crate::cli::open(&manifest)?;
        for (entry, directories) in manifest.proxies.iter().zip(&directories) {
            let mut opened = directories.iter();
            // An opened directory keeps its place, whatever its path leads to later.
            let outside = opened.find(|opened| !opened.directory.path.starts_with(content.root()));
            if let Some(outside) = outside {
                let wrong = format!(
                    "its directory {} leads out of the project, to {}",
                    Untrusted::new(outside.by.display()),
                    Untrusted::new(outside.directory.path.display())
                );
                return Err(manifest.about(entry, &wrong));
            }
        }
        relied_on::check(&manifest, &directories, named)?;
        Ok(Self {
            content,
            manifest,
            directories,
        })
    }

    /// Its proxies and their permissions.
    pub fn agreed(&self) -> Vec<Agreed> {
        Agreed::of(&self.manifest, &self.content)
    }
}
