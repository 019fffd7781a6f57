//! An opened project: its manifest, and the directories of its proxies.

use std::path::{Component, Path};

use crate::cli::relied_on::{self, Named};
use crate::extension::Installed;
use crate::manifest::{Manifest, User};
use crate::project::{Agreed, Content};
use crate::sandbox::{self, Directories};
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
            for opened in directories.iter() {
                let fitting = fits(opened, content.root());
                fitting.map_err(|wrong| manifest.about(entry, &wrong))?;
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

/// Checks that a directory is the one that its user agrees to by its path: a link could be changed to lead elsewhere,
/// without any change to what was agreed to. An opened directory keeps its place, whatever its path leads to later.
fn fits(opened: &sandbox::Opened, root: &Path) -> Result<(), String> {
    let (named, real) = (&opened.by, &opened.directory.path);
    let shown = |path: &Path| Untrusted::new(path.display().to_string());
    if !real.starts_with(root) {
        return Err(format!(
            "its directory {} leads out of the project, to {}",
            shown(named),
            shown(real)
        ));
    }
    if !real.components().eq(named.components()) {
        return Err(format!(
            "its directory {} is reached by a link, and is {}: name it by that path",
            shown(named),
            shown(real)
        ));
    }
    let is_git = |part: Component| part.as_os_str().eq_ignore_ascii_case(".git");
    if opened.directory.write && real.components().any(is_git) {
        return Err(format!(
            "its directory {} is Git's own, from which Git runs programs: no proxy of a project may write there",
            shown(named)
        ));
    }
    Ok(())
}
